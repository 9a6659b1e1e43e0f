#include "net/url.h"

#include <algorithm>

namespace nanwatch {
namespace {

constexpr std::string_view kUnixScheme = "http+unix://";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (text[i] == '%' && high >= 0 && low >= 0) {
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

}  // namespace

std::string PublicUrl(std::string_view url) {
  const size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return "...";
  const size_t begin = scheme_end + 3;
  const size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  std::string_view authority = url.substr(begin, end - begin);
  const size_t at = authority.rfind('@');
  const bool user = at != std::string_view::npos;
  if (user) authority.remove_prefix(at + 1);
  std::string shown(url.substr(0, begin));
  shown += authority;
  const std::string_view rest = url.substr(end);
  if (!rest.empty() && rest != "/") shown += "/...";
  return shown;
}

Endpoint EndpointOf(std::string_view url) {
  if (url.rfind(kUnixScheme, 0) != 0) return {std::string(url), {}};
  url.remove_prefix(kUnixScheme.size());
  const size_t slash = std::min(url.find('/'), url.size());
  const std::string_view path = url.substr(slash);
  return {"http://localhost" + std::string(path.empty() ? "/" : path),
          PercentDecoded(url.substr(0, slash))};
}

std::string JoinUrl(std::string_view base, std::string_view path) {
  while (!base.empty() && base.back() == '/') base.remove_suffix(1);
  while (!path.empty() && path.front() == '/') path.remove_prefix(1);
  return std::string(base) + "/" + std::string(path);
}

std::string PercentEncoded(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                       c == '.' || c == '~';
    if (plain) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 15];
    }
  }
  return encoded;
}

}  // namespace nanwatch
