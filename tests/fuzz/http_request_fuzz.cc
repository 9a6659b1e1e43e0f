// Any bytes as a request of HTTP: refused in a sentence, or read into parts
// that hold no control character, which a second reader reads alike.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/gate.h"
#include "web/request_head.h"
#include "web/uri.h"

namespace {

bool IsPlain(std::string_view text) {
  for (const char c : text) {
    if (c == '\r' || c == '\n' || c == '\0') return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nanwatch::EndOfHead;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = EndOfHead(text);
  if (end == std::string_view::npos) return 0;
  CHECK(end <= size);
  const auto head = nanwatch::ParseRequestHead(text.substr(0, end));
  if (!head.ok()) {
    CHECK(!head.error().empty());
    return 0;
  }
  CHECK(IsPlain(head->method) && IsPlain(head->path) && IsPlain(head->query));
  std::string again = head->method + " " + head->path;
  if (!head->query.empty()) again += "?" + head->query;
  again += " HTTP/1.1\r\n";
  for (const auto& [name, value] : head->headers) {
    CHECK(IsPlain(name) && IsPlain(value));
    again += name + ": " + value + "\r\n";
  }
  again += "\r\n";
  const auto other = nanwatch::ParseRequestHead(again);
  CHECK(other.ok() && other->headers == head->headers &&
        other->path == head->path && other->length == head->length);
  const auto login = nanwatch::ParseBasic(head->Header("authorization"));
  CHECK(!login || login->user.find(':') == std::string::npos);
  (void)nanwatch::DecodePath(head->path);
  (void)nanwatch::Query::Parse(head->query);
  return 0;
}
