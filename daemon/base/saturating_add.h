// Sums of counts that come from outside: they stop at the largest number
// instead of beginning anew.

#ifndef NANWATCH_BASE_SATURATING_ADD_H_
#define NANWATCH_BASE_SATURATING_ADD_H_

#include <cstdint>

namespace nanwatch {

constexpr uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

}  // namespace nanwatch

#endif  // NANWATCH_BASE_SATURATING_ADD_H_
