#include "web/http.h"

#include "json/value.h"

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

bool NamesTag(std::string_view if_none_match, std::string_view etag) {
  const std::string quoted = '"' + std::string(etag) + '"';
  return if_none_match.find(quoted) != std::string_view::npos;
}

std::string_view StatusText(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 304:
      return "Not Modified";
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
    case 415:
      return "Unsupported Media Type";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

namespace {

std::string_view CacheControl(HttpReply::Keep keep) {
  switch (keep) {
    case HttpReply::Keep::kAskAgain:
      return "no-cache";
    case HttpReply::Keep::kForEver:
      return "public, max-age=31536000, immutable";
    default:
      return "no-store";
  }
}

}  // namespace

std::string HeaderBlock(const HttpReply& reply) {
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " ";
  head.append(StatusText(reply.status));
  if (reply.status != 304) {
    head += "\r\nContent-Type: " + reply.content_type;
    if (!reply.events) {
      head += "\r\nContent-Length: " + std::to_string(reply.body.size());
    }
  }
  // Weak: the same for packed and plain bytes.
  if (!reply.etag.empty()) head += "\r\nETag: W/\"" + reply.etag + '"';
  if (reply.gzipped) head += "\r\nContent-Encoding: gzip";
  if (reply.status == 405) head += "\r\nAllow: GET, HEAD";
  if (reply.status == 503) head += "\r\nRetry-After: 2";
  head += "\r\nCache-Control: ";
  head += CacheControl(reply.keep);
  head +=
      "\r\nVary: Accept, Accept-Encoding"
      "\r\nX-Content-Type-Options: nosniff"
      "\r\nReferrer-Policy: no-referrer"
      "\r\nCross-Origin-Resource-Policy: same-origin"
      "\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; "
      "style-src 'self'; img-src 'self'; connect-src 'self'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      "\r\nConnection: close\r\n\r\n";
  return head;
}

}  // namespace nanwatch
