#include "config/url_check.h"

#include <algorithm>
#include <charconv>

#include "net/url.h"

namespace nanwatch {
namespace {

constexpr size_t kUrlShown = 60;  // of a wrong URL

std::string ShownUrl(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  const bool named = url.find("://") != std::string_view::npos;
  std::string shown = named ? PublicUrl(url)
                            : PublicUrl(std::string(kScheme) + std::string(url))
                                  .substr(kScheme.size());
  if (shown.size() > kUrlShown) shown = shown.substr(0, kUrlShown) + "...";
  for (char& c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return shown;
}

// Without its scheme; empty: it has another.
std::string_view BehindScheme(std::string_view url) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (url.starts_with(scheme)) return url.substr(scheme.size());
  }
  return {};
}

bool IsPort(std::string_view text) {
  unsigned number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end && number >= 1 && number <= 65535;
}

// Of the part between scheme and path.
std::string_view WhatIsWrongWithAuthority(std::string_view authority) {
  const size_t at = authority.rfind('@');
  if (at != std::string_view::npos) authority.remove_prefix(at + 1);
  std::string_view port;
  size_t host = std::min(authority.find(':'), authority.size());
  if (authority.starts_with('[')) {
    const size_t close = authority.find(']');
    if (close == std::string_view::npos) return "its '[' is never closed";
    host = close + 1;
  }
  if (host == 0 || authority.substr(0, host) == "[]") return "it has no host";
  port = authority.substr(host);
  if (port.empty()) return {};
  if (port.front() != ':' || !IsPort(port.substr(1))) {
    return "its port must be a whole number from 1 to 65535";
  }
  return {};
}

}  // namespace

std::string WhatIsWrongWithUrl(std::string_view url) {
  const std::string is = " is '" + ShownUrl(url) + "'; ";
  const std::string_view rest = BehindScheme(url);
  if (rest.empty()) {
    return is + "it must begin with http:// or https://, and name a host.";
  }
  const bool spaced = std::any_of(url.begin(), url.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
  });
  if (spaced) return is + "a URL has no spaces; write one as %20.";
  const std::string_view authority =
      rest.substr(0, std::min(rest.find_first_of("/?#"), rest.size()));
  const std::string_view wrong = WhatIsWrongWithAuthority(authority);
  return wrong.empty() ? "" : is + std::string(wrong) + ".";
}

}  // namespace nanwatch
