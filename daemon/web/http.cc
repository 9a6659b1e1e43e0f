#include "web/http.h"

#include "web/json_value.h"

namespace nanwatch {

HttpReply ErrorReply(int status, std::string_view what, std::string_view where,
                     std::string_view what_to_do) {
  HttpReply reply;
  reply.status = status;
  reply.content_type = kJsonType;
  reply.body = Dump({{"error",
                      {{"what", std::string(what)},
                       {"where", std::string(where)},
                       {"do", std::string(what_to_do)}}}});
  return reply;
}

std::string_view StatusText(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

std::string HeaderBlock(const HttpReply& reply) {
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " ";
  head.append(StatusText(reply.status));
  head += "\r\nContent-Type: " + reply.content_type;
  head += "\r\nContent-Length: " + std::to_string(reply.body.size());
  if (reply.gzipped) head += "\r\nContent-Encoding: gzip";
  if (reply.status == 405) head += "\r\nAllow: GET, HEAD";
  if (reply.status == 503) head += "\r\nRetry-After: 2";
  head +=
      "\r\nVary: Accept, Accept-Encoding"
      "\r\nCache-Control: no-store"
      "\r\nX-Content-Type-Options: nosniff"
      "\r\nReferrer-Policy: no-referrer"
      "\r\nCross-Origin-Resource-Policy: same-origin"
      "\r\nContent-Security-Policy: default-src 'none'; style-src 'self'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      "\r\nConnection: close\r\n\r\n";
  return head;
}

}  // namespace nanwatch
