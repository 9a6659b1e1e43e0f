// NextSign: where the next name of a line ends, eight bytes at a time.

#ifndef NANWATCH_LOGS_NEXT_SIGN_H_
#define NANWATCH_LOGS_NEXT_SIGN_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace nanwatch {

// The high bit of each byte of `word` that is `c`, and perhaps of bytes above
// the lowest of them.
constexpr uint64_t BytesThatAre(char c, uint64_t word) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  const uint64_t other = word ^ kOnes * static_cast<uint8_t>(c);
  return (other - kOnes) & ~other & kOnes << 7;
}

// The next = or :; the line's size: there is none.
inline size_t NextSign(std::string_view line, size_t at) {
  if constexpr (std::endian::native == std::endian::little) {
    for (; at + sizeof(uint64_t) <= line.size(); at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, line.data() + at, sizeof word);
      const uint64_t found = BytesThatAre('=', word) | BytesThatAre(':', word);
      if (found != 0)
        return at + static_cast<size_t>(std::countr_zero(found)) / 8;
    }
  }
  while (at < line.size() && line[at] != '=' && line[at] != ':') ++at;
  return at;
}

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_NEXT_SIGN_H_
