// Passes over a block that sum values, their squares and log2|x|. See
// extremes.h for what these headers must not do.

#ifndef NANWATCH_OBSERVE_MOMENTS_H_
#define NANWATCH_OBSERVE_MOMENTS_H_

#include "lanes.h"

namespace nanwatch {
namespace {

// Doubles are summed 2^-64 times as large, so that no sum of finite ones
// overflows.
template <typename F>
constexpr int kSumExponent = sizeof(typename F::Bits) == 8 ? 64 : 0;

struct Sums {
  double values = 0;  // in units of 2^kSumExponent
  double squares = 0;
};

// Sums of log2|x| - pivot and of its square, of the elements that are not zero.
struct LogSums {
  double sum = 0;
  double squares = 0;
  double left = 0;  // what `sum` lacks, where it is of rounded logarithms

  // Adds those of `count` elements about a pivot that lies `higher`.
  void Add(const LogSums& other, double count, double higher) {
    squares += other.squares + higher * (2 * other.sum + higher * count);
    sum += other.sum + higher * count;
    left += other.left;
  }
};

// log2(m) for m in [1, 2), within 1.5e-5; without its constant, that of 1.
constexpr float kLog2Constant = -2.81187892f;
template <typename Number>
Number Log2Part(Number m) {
  Number p = m * 0.0463853106f - 0.428196073f;
  p = p * m + 1.66652691f;
  p = p * m - 3.60392022f;
  p = p * m + 5.13108301f;
  return p * m;
}

template <size_t kSets>
double TotalOf(const Floats (&sets)[kSets]) {
  Floats sum = sets[0];
  for (size_t j = 1; j < kSets; ++j) sum += sets[j];
  return static_cast<double>(Total<float>(sum));
}

// Adds floats whose squares float holds, without special ones. With `kLogs`
// there are no subnormal ones; and, unless `kMayBeZero`, no zeros. Near the
// block's own exponent the pivot keeps squares of logarithms from cancelling.
// REQUIRES: `n` a multiple of kStride.
constexpr size_t kStride = 64;
template <typename F, bool kLogs, bool kMayBeZero>
void AddFloats(Elements<F> x, size_t n, int pivot, Sums* sums, LogSums* logs) {
  // Several of each: an addition does not wait for the one before it.
  constexpr size_t kSets = kLogs ? 2 : 4;
  Floats values[kSets] = {}, squares[kSets] = {};
  Floats log_values[kSets] = {}, log_squares[kSets] = {};
  const float origin = static_cast<float>(pivot) - kLog2Constant;
  for (size_t i = 0; i < n; i += kSets * kLanes) {
    Floats v[kSets];
#pragma GCC unroll 2
    for (size_t j = 0; j < kSets; j += 2)
      LoadFloats<F>(x + i + j * kLanes, v + j);
#pragma GCC unroll 4
    for (size_t j = 0; j < kSets; ++j) {
      values[j] += v[j];
      squares[j] += v[j] * v[j];
      if constexpr (kLogs) {
        Floats l = Log2Part(MantissasOf(v[j])) + (ExponentsOf(v[j]) - origin);
        if constexpr (kMayBeZero) {
          const Words some = BitCast<Words>(v[j] != 0);
          l = BitCast<Floats>(BitCast<Words>(l) & some);
        }
        log_values[j] += l;
        log_squares[j] += l * l;
      }
    }
  }
  sums->values += TotalOf(values);
  sums->squares += TotalOf(squares);
  logs->sum += TotalOf(log_values);
  logs->squares += TotalOf(log_squares);
}

// The same of any finite elements, in double, where float does not do: few
// tensors are so large or so small.
template <typename F>
double WidenToDouble(typename F::Bits bits) {
  if constexpr (sizeof(bits) == 8) {
    return BitCast<double>(uint64_t{bits});
  } else if constexpr (F::kMantissa == 10) {
    return static_cast<double>(WidenHalf(bits));
  } else {
    const uint32_t single = uint32_t{bits} << (23 - F::kMantissa);
    const uint32_t m = single & 0x7fffffffu;
    // As WidenHalf.
    const double low = static_cast<double>(static_cast<int32_t>(m)) * 0x1p-149;
    const uint64_t normal = m < 0x00800000u
                                ? BitCast<uint64_t>(low)
                                : (uint64_t{m} << 29) + (uint64_t{896} << 52);
    return BitCast<double>(normal | uint64_t{single & 0x80000000u} << 32);
  }
}

// In four parts: an addition does not wait for the one before it. REQUIRES: `n`
// a multiple of kStride; the same below.
template <typename F>
void AddDoubles(Elements<F> x, size_t n, Sums* sums) {
  constexpr double kUnit = kSumExponent<F> == 64 ? 0x1p-64 : 1;
  const size_t part = n / 4;
  double sum[4] = {}, squares[4] = {};
  for (size_t i = 0; i < part; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      const double value = WidenToDouble<F>(x[i + j * part]);
      sum[j] += value * kUnit;
      squares[j] += value * value;
    }
  }
  sums->values += (sum[0] + sum[1]) + (sum[2] + sum[3]);
  sums->squares += (squares[0] + squares[1]) + (squares[2] + squares[3]);
}

// The mantissa's first 23 bits are enough.
template <typename F>
void AddLogsOfDoubles(Elements<F> x, size_t n, int pivot, LogSums* logs) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; ++i) {
    const double value = WidenToDouble<F>(x[i]);
    uint64_t m = BitCast<uint64_t>(value) & Fp64Format::kMagnitude;
    int offset = 0;
    if (m < Fp64Format::kMinNormal) {
      m = BitCast<uint64_t>(static_cast<double>(static_cast<int64_t>(m)));
      offset = Fp64Format::kLowestExponent;
    }
    const int exponent = static_cast<int>(m >> 52) - 1023 + offset - pivot;
    const uint32_t mantissa = static_cast<uint32_t>(m >> 29) & 0x7fffffu;
    const float part = Log2Part(BitCast<float>(mantissa | 0x3f800000u));
    const double l =
        m == 0 ? 0 : exponent + static_cast<double>(part + kLog2Constant);
    sum += l;
    squares += l * l;
  }
  logs->sum += sum;
  logs->squares += squares;
}

}  // namespace
}  // namespace nanwatch

#endif  // NANWATCH_OBSERVE_MOMENTS_H_
