#include "base/plain_text.h"

#include <algorithm>

namespace nanwatch {
namespace {

struct Character {
  uint32_t code = 0;
  size_t bytes = 1;
  bool utf8 = true;
};

Character First(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const uint32_t lead = at(0);
  if (lead < 0x80) return {lead, 1, true};
  const size_t bytes = lead >= 0xc2 && lead < 0xe0   ? 2
                       : lead >= 0xe0 && lead < 0xf0 ? 3
                       : lead >= 0xf0 && lead < 0xf5 ? 4
                                                     : 1;
  if (bytes == 1 || bytes > text.size()) return {lead, 1, false};
  uint32_t code = lead & (0xff >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0) != 0x80) return {lead, 1, false};
    code = code << 6 | (at(i) & 0x3f);
  }
  // Longer than it need be: another way to write a control.
  const uint32_t least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
  if (code < least || code > 0x10ffff) return {lead, 1, false};
  return {code, bytes, true};
}

struct Range {
  uint32_t first;
  uint32_t last;
};
// Cc; the explicit directional formats and marks of Unicode's UAX #9; LS, PS;
// the byte order mark, which is no character of a name.
constexpr Range kNotPlain[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c}, {0x200e, 0x200f},
    {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff}};

bool IsPlain(const Character& c) {
  return c.utf8 && std::none_of(std::begin(kNotPlain), std::end(kNotPlain),
                                [&](const Range& range) {
                                  return c.code >= range.first &&
                                         c.code <= range.last;
                                });
}

}  // namespace

std::string PlainText(std::string_view text,
                      const std::function<std::string(uint32_t)>& instead) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = First(text);
    if (IsPlain(c)) {
      out += text.substr(0, c.bytes);
    } else {
      out += instead(c.code);
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace nanwatch
