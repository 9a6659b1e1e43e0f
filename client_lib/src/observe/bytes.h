// fp8: 256 values, so everything follows from how often each occurs. See
// extremes.h for what these headers must not do.

#ifndef NANWATCH_OBSERVE_BYTES_H_
#define NANWATCH_OBSERVE_BYTES_H_

#include "extremes.h"

namespace nanwatch {
namespace {

// Eight tables by turns, as neighbours are often alike.
class ByteCounts {
 public:
  void Add(const unsigned char* x, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
      uint64_t eight;
      __builtin_memcpy(&eight, x + i, sizeof(eight));
      for (int j = 0; j < 8; ++j) ++counts_[j][eight >> (8 * j) & 255];
    }
    for (; i < n; ++i) ++counts_[0][x[i]];
  }
  uint64_t Of(int byte) const {
    uint64_t count = 0;
    for (int j = 0; j < 8; ++j) count += counts_[j][byte];
    return count;
  }

 private:
  uint64_t counts_[8][256] = {};
};

template <typename F>
double ByteValue(int byte) {
  const int m = byte & F::kMagnitude;
  const int field = m >> F::kMantissa;
  const int mantissa = m & (F::kMinNormal - 1);
  const double value = field == 0
                           ? __builtin_ldexp(mantissa, F::kLowestExponent)
                           : __builtin_ldexp(mantissa + F::kMinNormal,
                                             field - 1 + F::kLowestExponent);
  return (byte & F::kSign) != 0 ? -value : value;
}

template <typename F>
void CountByte(int byte, uint64_t count, Tally* tally) {
  const int m = byte & F::kMagnitude;
  if (m > F::kFirstSpecial || (m == F::kFirstSpecial && !F::kInfinities)) {
    tally->nan += count;
  } else if (m == F::kFirstSpecial) {
    (byte == m ? tally->pos_inf : tally->neg_inf) += count;
  }
  if (m == F::kFirstSpecial - 1) tally->saturated += count;
  if (m == 0) tally->zero += count;
  if (m > 0 && m < F::kMinNormal) tally->subnormal += count;
}

template <typename F>
void ObserveBytes(const unsigned char* x, size_t n, Tally* tally) {
  ByteCounts bytes;
  bytes.Add(x, n);
  double finite = 0, sum = 0, squares = 0, non_zero = 0, logs = 0,
         log_squares = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const uint64_t count = bytes.Of(byte);
    if (count == 0) continue;
    CountByte<F>(byte, count, tally);
    if ((byte & F::kMagnitude) >= F::kFirstSpecial) continue;
    const double times = static_cast<double>(count);
    const double value = ByteValue<F>(byte);
    const double magnitude = value < 0 ? -value : value;
    if (finite == 0) tally->min = tally->max = value;
    tally->min = value < tally->min ? value : tally->min;
    tally->max = value > tally->max ? value : tally->max;
    tally->abs_max = magnitude > tally->abs_max ? magnitude : tally->abs_max;
    finite += times;
    sum += times * value;
    squares += times * value * value;
    if (magnitude == 0) continue;
    const double log2 = __builtin_log2(magnitude);
    non_zero += times;
    logs += times * log2;
    log_squares += times * log2 * log2;
    if (tally->exponents != nullptr) {
      tally->exponents[__builtin_ilogb(magnitude) - F::kLowestExponent] +=
          count;
    }
  }
  if (finite > 0) {
    tally->mean = sum / finite;
    tally->mean_square = squares / finite;
  }
  if (non_zero > 0) {
    const double mean = logs / non_zero;
    const double variance = log_squares / non_zero - mean * mean;
    tally->log2_mean = mean;
    tally->log2_std = variance > 0 ? __builtin_sqrt(variance) : 0;
  }
}

}  // namespace
}  // namespace nanwatch

#endif  // NANWATCH_OBSERVE_BYTES_H_
