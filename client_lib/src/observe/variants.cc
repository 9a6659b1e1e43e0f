#include <functional>

#include "format.h"
#include "tally.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace nanwatch {
namespace {

template <typename F>
constexpr int kLow = F::kLowestExponent;
template <typename F>
constexpr int kHigh = F::kHighestExponent;

#if defined(__x86_64__)
// clang 14's __builtin_cpu_supports does not know it.
bool HasF16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

}  // namespace

int LowestExponent(nanwatch_dtype dtype) {
  switch (dtype) {
    case NANWATCH_FP64:
      return kLow<Fp64Format>;
    case NANWATCH_FP32:
      return kLow<Fp32Format>;
    case NANWATCH_FP16:
      return kLow<Fp16Format>;
    case NANWATCH_BF16:
      return kLow<Bf16Format>;
    case NANWATCH_FP8_E4M3:
      return kLow<Fp8E4M3Format>;
    case NANWATCH_FP8_E5M2:
      return kLow<Fp8E5M2Format>;
    case NANWATCH_DTYPE_UNKNOWN:
      break;
  }
  return 0;
}

int HighestExponent(nanwatch_dtype dtype) {
  switch (dtype) {
    case NANWATCH_FP64:
      return kHigh<Fp64Format>;
    case NANWATCH_FP32:
      return kHigh<Fp32Format>;
    case NANWATCH_FP16:
      return kHigh<Fp16Format>;
    case NANWATCH_BF16:
      return kHigh<Bf16Format>;
    case NANWATCH_FP8_E4M3:
      return kHigh<Fp8E4M3Format>;
    case NANWATCH_FP8_E5M2:
      return kHigh<Fp8E5M2Format>;
    case NANWATCH_DTYPE_UNKNOWN:
      break;
  }
  return 0;
}

size_t ElementBytes(nanwatch_dtype dtype) {
  switch (dtype) {
    case NANWATCH_FP64:
      return 8;
    case NANWATCH_FP32:
      return 4;
    case NANWATCH_FP16:
    case NANWATCH_BF16:
      return 2;
    case NANWATCH_FP8_E4M3:
    case NANWATCH_FP8_E5M2:
      return 1;
    case NANWATCH_DTYPE_UNKNOWN:
      break;
  }
  return 0;
}

const ObserveVariant* ObserveVariants(size_t* count) {
#if defined(__x86_64__)
  static const ObserveVariant kVariants[] = {
      {"baseline", ObserveBaseline, SketchBaseline, true},
      {"avx2", ObserveAvx2, SketchAvx2,
       __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           HasF16c() && __builtin_cpu_supports("bmi2")},
      {"avx512", ObserveAvx512, SketchAvx512,
       __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512vnni") &&
           __builtin_cpu_supports("avx512bitalg") &&
           __builtin_cpu_supports("gfni") && __builtin_cpu_supports("bmi2") &&
           HasF16c()}};
#else
  static const ObserveVariant kVariants[] = {
      {"baseline", ObserveBaseline, SketchBaseline, true}};
#endif
  *count = sizeof(kVariants) / sizeof(kVariants[0]);
  return kVariants;
}

const ObserveVariant& BestVariant() {
  static const ObserveVariant& best =
      [] {
        size_t count = 0;
        const ObserveVariant* variants = ObserveVariants(&count);
        size_t found = 0;
        for (size_t i = 1; i < count; ++i) {
          if (variants[i].runs_here) found = i;
        }
        return std::ref(variants[found]);
      }()
          .get();
  return best;
}

}  // namespace nanwatch
