// Log2: a logarithm that is cheap enough for every record.

#ifndef NANWATCH_DETECT_FLOAT_LOG2_H_
#define NANWATCH_DETECT_FLOAT_LOG2_H_

#include <bit>
#include <cmath>
#include <cstdint>

namespace nanwatch {

// log2 of a positive, normal float, to 1e-6. Not the C library's: two machines
// must decide alike.
inline float Log2(float x) {
  // x = m * 2^exponent, m from sqrt(1/2) to sqrt(2), without a branch.
  constexpr uint32_t kSqrtHalf = 0x3f3504f3u;  // sqrt(1/2) in IEEE 754
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const int32_t exponent = static_cast<int32_t>(bits - kSqrtHalf) >> 23;
  const float m =
      std::bit_cast<float>(bits - (static_cast<uint32_t>(exponent) << 23));
  const float t = (m - 1) / (m + 1);
  const float t2 = t * t;
  const float series = 1 + t2 * (1.0f / 3 + t2 * (1.0f / 5 + t2 * (1.0f / 7)));
  return static_cast<float>(exponent) + 2.88539008f * t * series;
}

inline constexpr float kLog2OfE = 1.442695f;  // 1 / ln 2

// The natural one of a ratio, to the last digit: of thresholds, not of every
// record.
inline float LnOf(double ratio) { return static_cast<float>(std::log(ratio)); }

// The natural one, of the same values as Log2.
inline float Ln(float x) {
  constexpr float kLn2 = 0.6931472f;  // ln 2
  return kLn2 * Log2(x);
}

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_FLOAT_LOG2_H_
