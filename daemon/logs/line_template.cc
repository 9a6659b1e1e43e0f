#include "logs/line_template.h"

#include <cstring>

#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kTextMax = 1024;

constexpr auto kOfNumber = [] {
  std::array<bool, 256> of_number{};
  for (char c = '0'; c <= '9'; ++c) of_number[static_cast<uint8_t>(c)] = true;
  of_number[static_cast<uint8_t>('.')] = true;
  return of_number;
}();
bool IsOfNumber(char c) { return kOfNumber[static_cast<uint8_t>(c)]; }

// What is behind it is a part of the same word.
bool IsOfWord(char c) {
  return IsOfNumber(c) || IsLetter(c) || c == '_' || c == '/' || c == '-' ||
         c == '@';
}

// Behind the number at `at`, blanks included; `at`: there is none.
size_t BehindNumber(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && text[end] == ' ') ++end;
  if (end + 1 < text.size() && text[end] == '-') ++end;
  if (end == text.size() || !IsDigit(text[end])) return at;
  while (end < text.size() && IsOfNumber(text[end])) ++end;
  return BehindExponent(text, end);
}

}  // namespace

bool LineTemplate::Learn(std::string_view text) {
  learned_ = false;
  words_.clear();
  numbers_ = 0;
  if (text.size() > kTextMax) return false;
  for (size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || !IsOfWord(text[at - 1]);
    const size_t end = begins ? BehindNumber(text, at) : at;
    if (end == at) {
      words_ += text[at++];
      continue;
    }
    if (numbers_ == kNumbersMax) return false;
    ends_[numbers_++] = static_cast<uint16_t>(words_.size());
    at = end;
  }
  ends_[numbers_] = static_cast<uint16_t>(words_.size());
  learned_ = true;
  return true;
}

bool LineTemplate::Match(std::string_view text, Places* places) const {
  if (!learned_) return false;
  size_t at = 0;
  size_t begin = 0;
  for (size_t i = 0;; ++i) {
    const size_t size = ends_[i] - begin;
    if (text.size() - at < size ||
        std::memcmp(text.data() + at, words_.data() + begin, size) != 0) {
      return false;
    }
    at += size;
    begin = ends_[i];
    if (i == numbers_) return at == text.size();
    const size_t end = BehindNumber(text, at);
    if (end == at) return false;
    (*places)[i] = static_cast<uint32_t>(at);
    at = end;
  }
}

}  // namespace nanwatch
