#include "metrics/negotiate.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace nanwatch {
namespace {

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Cuts the part before `separator` off the front of `*rest`.
std::string_view Cut(std::string_view* rest, char separator) {
  const size_t end = std::min(rest->find(separator), rest->size());
  const std::string_view part = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return Trim(part);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
  });
  return lower;
}

// One alternative of an Accept or Accept-Encoding header.
struct Choice {
  std::string name;     // lower case
  std::string version;  // of the parameters
  double quality = 1;
};

Choice ParseChoice(std::string_view text) {
  Choice choice;
  choice.name = Lower(Cut(&text, ';'));
  while (!text.empty()) {
    std::string_view value = Cut(&text, ';');
    const std::string key = Lower(Cut(&value, '='));
    if (key == "version") {
      choice.version = value;
    } else if (key == "q") {
      double q = 0;
      const auto [end, error] =
          std::from_chars(value.data(), value.data() + value.size(), q);
      const bool sane = error == std::errc() && q >= 0 && q <= 1;
      choice.quality = sane ? q : 0;
    }
  }
  return choice;
}

}  // namespace

MetricsFormat NegotiateFormat(std::string_view accept) {
  double open = 0;
  double text = 0;
  while (!accept.empty()) {
    const Choice choice = ParseChoice(Cut(&accept, ','));
    if (choice.name == "application/openmetrics-text" &&
        (choice.version.empty() || choice.version == "1.0.0")) {
      open = std::max(open, choice.quality);
    } else if (choice.name == "text/plain" &&
               (choice.version.empty() || choice.version == "0.0.4")) {
      text = std::max(text, choice.quality);
    }
  }
  return open > 0 && open >= text ? MetricsFormat::kOpenMetrics100
                                  : MetricsFormat::kText004;
}

bool AcceptsGzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    const Choice choice = ParseChoice(Cut(&accept_encoding, ','));
    if (choice.name == "gzip") return choice.quality > 0;
  }
  return false;
}

}  // namespace nanwatch
