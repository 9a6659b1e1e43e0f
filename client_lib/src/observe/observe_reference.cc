// One element after the other, decoded by the definition of its format, in long
// double.

#include <cmath>
#include <cstring>
#include <vector>

#include "format.h"
#include "tally.h"

namespace nanwatch {
namespace {

enum class Kind { kFinite, kPosInf, kNegInf, kNan };

struct Element {
  Kind kind = Kind::kFinite;
  double value = 0;
};

template <typename F>
Element Decode(typename F::Bits bits) {
  const bool negative = (bits & F::kSign) != 0;
  const uint64_t magnitude = bits & F::kMagnitude;
  const uint64_t mantissa = magnitude % F::kMinNormal;
  const int exponent = static_cast<int>(magnitude / F::kMinNormal);
  if (magnitude >= F::kFirstSpecial) {
    if (!F::kInfinities || mantissa != 0) return {Kind::kNan, 0};
    return {negative ? Kind::kNegInf : Kind::kPosInf, 0};
  }
  const double value =
      exponent == 0
          ? std::ldexp(static_cast<double>(mantissa), F::kLowestExponent)
          : std::ldexp(static_cast<double>(mantissa + F::kMinNormal),
                       exponent - 1 + F::kLowestExponent);
  return {Kind::kFinite, negative ? -value : value};
}

template <typename F>
void Observe(const void* data, size_t n, Tally* tally) {
  const double largest =
      Decode<F>(static_cast<typename F::Bits>(F::kFirstSpecial - 1)).value;
  const double min_normal = Decode<F>(F::kMinNormal).value;
  long double sum = 0, squares = 0, logs = 0;
  std::vector<double> log2;
  uint64_t finite = 0;
  for (size_t i = 0; i < n; ++i) {
    typename F::Bits bits;
    std::memcpy(&bits, static_cast<const char*>(data) + i * sizeof(bits),
                sizeof(bits));
    const Element e = Decode<F>(bits);
    tally->nan += e.kind == Kind::kNan;
    tally->pos_inf += e.kind == Kind::kPosInf;
    tally->neg_inf += e.kind == Kind::kNegInf;
    if (e.kind != Kind::kFinite) continue;
    const double magnitude = std::fabs(e.value);
    tally->saturated += magnitude == largest;
    tally->zero += magnitude == 0;
    tally->subnormal += magnitude != 0 && magnitude < min_normal;
    if (finite == 0) tally->min = tally->max = e.value;
    tally->min = std::fmin(tally->min, e.value);
    tally->max = std::fmax(tally->max, e.value);
    tally->abs_max = std::fmax(tally->abs_max, magnitude);
    ++finite;
    sum += e.value;
    squares += static_cast<long double>(e.value) * e.value;
    if (magnitude == 0) continue;
    log2.push_back(std::log2(magnitude));
    logs += log2.back();
    if (tally->exponents != nullptr) {
      ++tally->exponents[std::ilogb(magnitude) - F::kLowestExponent];
    }
  }
  if (finite > 0) {
    tally->mean = static_cast<double>(sum / finite);
    tally->mean_square = static_cast<double>(squares / finite);
  }
  if (log2.empty()) return;
  const long double mean = logs / log2.size();
  long double deviations = 0;
  for (double l : log2) deviations += (l - mean) * (l - mean);
  tally->log2_mean = static_cast<double>(mean);
  tally->log2_std = static_cast<double>(std::sqrt(deviations / log2.size()));
}

}  // namespace

void ObserveReference(const void* data, size_t n, nanwatch_dtype dtype,
                      unsigned /*what*/, Tally* tally) {
  switch (dtype) {
    case NANWATCH_FP64:
      return Observe<Fp64Format>(data, n, tally);
    case NANWATCH_FP32:
      return Observe<Fp32Format>(data, n, tally);
    case NANWATCH_FP16:
      return Observe<Fp16Format>(data, n, tally);
    case NANWATCH_BF16:
      return Observe<Bf16Format>(data, n, tally);
    case NANWATCH_FP8_E4M3:
      return Observe<Fp8E4M3Format>(data, n, tally);
    case NANWATCH_FP8_E5M2:
      return Observe<Fp8E5M2Format>(data, n, tally);
    case NANWATCH_DTYPE_UNKNOWN:
      break;
  }
}

}  // namespace nanwatch
