#include "web/request_head.h"

#include <algorithm>
#include <charconv>

namespace nanwatch {
namespace {

// "token" of RFC 9110.
bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || kMarks.find(c) != std::string_view::npos;
  });
}

bool IsVisible(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < '\x7f'; });
}

// Bytes beyond ASCII are somebody's text; what controls a terminal is not.
bool IsValue(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

std::string Lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// The next line without its end; what follows stays in `*text`.
std::string_view TakeLine(std::string_view* text) {
  const size_t end = std::min(text->find('\n'), text->size());
  std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool ReadRequestLine(std::string_view line, RequestHead* head) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return false;
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return false;
  const bool place = target.starts_with('/') || target == "*";
  if (!IsToken(method) || !place || !IsVisible(target)) return false;
  const size_t question = std::min(target.find('?'), target.size());
  head->method = method;
  head->path = target.substr(0, question);
  head->query = target.substr(std::min(question + 1, target.size()));
  return true;
}

// Of several equal ones the first.
bool ReadLength(const RequestHead& head, std::optional<uint64_t>* length) {
  for (const auto& [name, value] : head.headers) {
    if (name != "content-length") continue;
    uint64_t number = 0;
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || stop != end) return false;
    if (*length && **length != number) return false;
    *length = number;
  }
  return true;
}

int CountOf(const RequestHead& head, std::string_view name) {
  return static_cast<int>(
      std::count_if(head.headers.begin(), head.headers.end(),
                    [&](const auto& header) { return header.first == name; }));
}

}  // namespace

std::string RequestHead::Header(std::string_view name) const {
  for (const auto& [known, value] : headers) {
    if (known == name) return value;
  }
  return "";
}

size_t EndOfHead(std::string_view bytes) {
  for (size_t at = bytes.find('\n'); at != std::string_view::npos;
       at = bytes.find('\n', at + 1)) {
    const std::string_view rest = bytes.substr(at + 1);
    if (rest.starts_with('\n')) return at + 2;
    if (rest.starts_with("\r\n")) return at + 3;
  }
  return std::string_view::npos;
}

Result<RequestHead> ParseRequestHead(std::string_view head) {
  RequestHead parsed;
  if (!ReadRequestLine(TakeLine(&head), &parsed)) {
    return Error{
        "The first line is not METHOD /PATH HTTP/1.1, of visible characters."};
  }
  for (std::string_view line = TakeLine(&head); !line.empty();
       line = TakeLine(&head)) {
    const size_t colon = std::min(line.find(':'), line.size());
    const std::string_view name = line.substr(0, colon);
    if (colon == line.size() || !IsToken(name)) {
      return Error{"A line of the head is not NAME: VALUE."};
    }
    const std::string_view value = Trimmed(line.substr(colon + 1));
    if (!IsValue(value)) {
      return Error{"The header " + std::string(name) +
                   " holds a control character."};
    }
    if (parsed.headers.size() >= kHeaders) {
      return Error{"The head has more than " + std::to_string(kHeaders) +
                   " headers."};
    }
    parsed.headers.emplace_back(Lower(name), value);
  }
  if (!ReadLength(parsed, &parsed.length)) {
    return Error{"Content-Length is not one whole number."};
  }
  if (CountOf(parsed, "host") > 1 || CountOf(parsed, "authorization") > 1) {
    return Error{"Host and Authorization are given once."};
  }
  if (CountOf(parsed, "transfer-encoding") > 0) {
    if (parsed.length) {
      return Error{"Content-Length and Transfer-Encoding exclude each other."};
    }
  }
  return parsed;
}

void TakeOver(const RequestHead& head, HttpRequest* request) {
  request->method = head.method;
  request->path = head.path;
  request->query = head.query;
  request->host = head.Header("host");
  request->accept = head.Header("accept");
  request->accept_encoding = head.Header("accept-encoding");
  request->if_none_match = head.Header("if-none-match");
  request->cache_control = head.Header("cache-control");
  request->authorization = head.Header("authorization");
  request->origin = head.Header("origin");
  request->content_type = head.Header("content-type");
  request->fetch_site = head.Header("sec-fetch-site");
  request->purpose = head.Header("x-nanwatch");
}

}  // namespace nanwatch
