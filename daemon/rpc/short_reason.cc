#include "rpc/short_reason.h"

namespace nanwatch {
namespace {

constexpr std::string_view kEllipsis = "…";

bool InsideCharacter(std::string_view text, size_t at) {
  return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

}  // namespace

std::string ShortReason(std::string_view reason, size_t bytes) {
  if (reason.size() <= bytes) return std::string(reason);
  size_t end = bytes - kEllipsis.size();
  const std::string_view head = reason.substr(0, end);
  // A short first sentence would say less than a long one that is cut.
  const size_t sentence = head.rfind(". ");
  if (sentence != std::string_view::npos && sentence >= bytes / 2) {
    return std::string(head.substr(0, sentence + 1)) + std::string(kEllipsis);
  }
  const size_t word = reason.rfind(' ', end);
  if (word != std::string_view::npos && word >= bytes / 2) {
    end = word;
  } else {
    while (end > 0 && InsideCharacter(reason, end)) --end;
  }
  return std::string(reason.substr(0, end)) + std::string(kEllipsis);
}

}  // namespace nanwatch
