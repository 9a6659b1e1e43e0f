#include "logs/thousand_signs.h"

#include "logs/scan.h"

namespace nanwatch {
namespace {

constexpr size_t kGroup = 3;  // digits behind a sign

size_t DigitsBefore(std::string_view line, size_t at) {
  size_t begin = at;
  while (begin > 0 && IsDigit(line[begin - 1])) --begin;
  return at - begin;
}

// Whether the `sign` at `at` parts thousands: three digits are behind it, and
// one to three before, which begin a number or are behind a sign themselves.
bool PartsThousands(std::string_view line, size_t at, std::string_view sign) {
  const size_t before = DigitsBefore(line, at);
  if (before == 0 || before > kGroup) return false;
  const size_t behind = at + sign.size();
  if (BehindDigits(line, behind) != behind + kGroup) return false;
  const std::string_view text = line.substr(0, at - before);
  if (before == kGroup && text.ends_with(sign)) return true;
  const char first = line[at - before];
  const char last = text.empty() ? ' ' : text.back();
  return first != '0' && last != '.' && last != ',' && last != '\'' &&
         last != '"' && !IsLetterOrMark(last) &&
         static_cast<unsigned char>(last) < 0x80;
}

}  // namespace

std::string_view WithoutThousandSigns(std::string_view line, std::string* out) {
  for (const std::string_view sign : {"'", "\xe2\x80\xaf", "\xe2\x80\x99"}) {
    size_t told = 0;  // bytes of `line` that are in `*out`
    std::string plain;
    for (size_t at = line.find(sign); at != line.npos;
         at = line.find(sign, at + sign.size())) {
      if (!PartsThousands(line, at, sign)) continue;
      plain += line.substr(told, at - told);
      told = at + sign.size();
    }
    if (told == 0) continue;
    plain += line.substr(told);
    *out = std::move(plain);
    return *out;
  }
  return line;
}

}  // namespace nanwatch
