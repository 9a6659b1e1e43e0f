#include "web/http.h"

#include <algorithm>
#include <array>

#include "json/value.h"
#include "web/loopback.h"

namespace nanwatch {

bool HttpRequest::from_loopback() const { return IsLoopback(remote); }

HttpReply ErrorReply(int status, std::string_view what, std::string_view where,
                     std::string_view what_to_do) {
  HttpReply reply;
  reply.status = status;
  reply.content_type = kJsonType;
  reply.reason = what;
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
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

namespace {

// Of every reply.
constexpr std::array<std::pair<const char*, const char*>, 5> kSecurity = {{
    {"Vary", "Accept, Accept-Encoding, Authorization"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
     "'none'"},
}};

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

std::string HeaderBlock(const HttpReply& reply, const HttpHeaders& added) {
  HttpHeaders headers;
  if (reply.status != 304) {
    headers.emplace_back("Content-Type", reply.content_type);
    if (!reply.events) {
      headers.emplace_back("Content-Length", std::to_string(reply.body.size()));
    }
  }
  // Weak: the same for packed and plain bytes.
  if (!reply.etag.empty()) {
    headers.emplace_back("ETag", "W/\"" + reply.etag + '"');
  }
  if (reply.gzipped) headers.emplace_back("Content-Encoding", "gzip");
  if (reply.status == 401) {
    headers.emplace_back("WWW-Authenticate",
                         "Basic realm=\"nanwatch\", charset=\"UTF-8\"");
  }
  if (reply.status == 405) headers.emplace_back("Allow", "GET, HEAD");
  if (reply.status == 503 || reply.status == 429)
    headers.emplace_back("Retry-After", "2");
  headers.emplace_back("Cache-Control", CacheControl(reply.keep));
  headers.insert(headers.end(), kSecurity.begin(), kSecurity.end());
  std::erase_if(headers, [&](const auto& ours) {
    return std::any_of(added.begin(), added.end(), [&](const auto& other) {
      return other.first == ours.first;
    });
  });
  headers.insert(headers.end(), added.begin(), added.end());
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " ";
  head.append(StatusText(reply.status));
  for (const auto& [name, value] : headers) {
    head.append("\r\n").append(name).append(": ").append(value);
  }
  head += "\r\nConnection: close\r\n\r\n";
  return head;
}

}  // namespace nanwatch
