#include "base/whole_words.h"

namespace nanwatch {

std::string WholeWords(std::string_view text, size_t most) {
  constexpr std::string_view kMore = "\u2026";
  if (text.size() <= most) return std::string(text);
  size_t end = most - kMore.size();
  const size_t space = text.rfind(' ', end);
  if (space != text.npos && space > 0) {
    end = space;
  } else {
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
      --end;
    }
  }
  return std::string(text.substr(0, end)).append(kMore);
}

}  // namespace nanwatch
