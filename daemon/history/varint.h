// Numbers of a few bytes, as protobuf writes them.

#ifndef NANWATCH_HISTORY_VARINT_H_
#define NANWATCH_HISTORY_VARINT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace nanwatch {

inline void PutVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

// False: `*rest` ends too soon, or it is no varint.
inline bool TakeVarint(std::string_view* rest, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !rest->empty(); shift += 7) {
    const uint8_t byte = static_cast<uint8_t>(rest->front());
    rest->remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Small numbers of either sign stay small.
inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^
         static_cast<uint64_t>(value >> 63);
}
inline int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_VARINT_H_
