#include "dumps/number_text.h"

#include <charconv>
#include <system_error>

namespace nanwatch {

std::optional<double> NumberIn(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || last != end) return std::nullopt;
  return number;
}

}  // namespace nanwatch
