// Sums of a block of half precision without a detour through memory: what
// moments.h and logarithms.h do in several passes. See extremes.h for what
// these headers must not do.

#ifndef NANWATCH_OBSERVE_HALF_AVX512_H_
#define NANWATCH_OBSERVE_HALF_AVX512_H_

#if defined(__AVX512F__)

#include <immintrin.h>

#include "logarithms.h"

namespace nanwatch {
namespace {

// REQUIRES: a whole block without special values; and, unless `kMayBeZero`,
// without zeros.
template <bool kLogs, bool kMayBeZero>
void AddHalves(Elements<Fp16Format> x, int pivot, Sums* sums, LogSums* logs) {
  const __m512 e0 = LogOrigin(pivot);
  __m512 values[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  __m512 squares[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  __m512 log_values[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  __m512 log_squares[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  for (size_t i = 0; i < kBlock; i += 32) {
    for (size_t j = 0; j < 2; ++j) {
      const __m512 v = _mm512_cvtph_ps(
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i + 16 * j)));
      values[j] = _mm512_add_ps(values[j], v);
      squares[j] = _mm512_fmadd_ps(v, v, squares[j]);
      if constexpr (kLogs) {
        const __m512 l = Log2Vector<kMayBeZero>(v, e0);
        log_values[j] = _mm512_add_ps(log_values[j], l);
        log_squares[j] = _mm512_fmadd_ps(l, l, log_squares[j]);
      }
    }
  }
  const auto total = [](const __m512(&parts)[2]) {
    return static_cast<double>(
        _mm512_reduce_add_ps(_mm512_add_ps(parts[0], parts[1])));
  };
  sums->values += total(values);
  sums->squares += total(squares);
  if constexpr (kLogs) {
    logs->sum += total(log_values);
    logs->squares += total(log_squares);
  }
}

}  // namespace
}  // namespace nanwatch

#endif  // __AVX512F__

#endif  // NANWATCH_OBSERVE_HALF_AVX512_H_
