#include "web/uri.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace nanwatch {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return decoded;
}

std::string PercentEncode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri;
  for (const unsigned char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                       c == '.';
    if (plain) {
      uri += static_cast<char>(c);
    } else {
      uri += '%';
      uri += kHex[c / 16];
      uri += kHex[c % 16];
    }
  }
  return uri;
}

std::optional<std::vector<std::string>> DecodePath(std::string_view path) {
  std::vector<std::string> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    auto segment = PercentDecode(path.substr(0, end));
    if (!segment) return std::nullopt;
    segments.push_back(std::move(*segment));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return segments;
}

std::optional<Query> Query::Parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    auto name = PercentDecode(pair.substr(0, equals));
    auto value = PercentDecode(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) return std::nullopt;
    if (!query.values_.emplace(*name, *value).second) return std::nullopt;
  }
  return query;
}

Result<int64_t> Query::Take(const std::string& name, int64_t fallback,
                            int64_t min, int64_t max) {
  const auto it = values_.find(name);
  if (it == values_.end()) return fallback;
  const std::string text = it->second;
  values_.erase(it);
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && !text.empty() && value >= min &&
      value <= max) {
    return value;
  }
  return Error{"The parameter " + name + " is '" + text.substr(0, 64) +
               "', not a whole number from " + std::to_string(min) + " to " +
               std::to_string(max) + "."};
}

std::optional<std::string> Query::TakeText(const std::string& name) {
  const auto it = values_.find(name);
  if (it == values_.end()) return std::nullopt;
  std::string text = std::move(it->second);
  values_.erase(it);
  return text;
}

std::string Query::Untaken() const {
  return values_.empty() ? "" : values_.begin()->first;
}

}  // namespace nanwatch
