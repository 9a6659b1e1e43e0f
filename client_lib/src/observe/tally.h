// Tally: what a pass over a buffer found, before it is put into a status.

#ifndef NANWATCH_OBSERVE_TALLY_H_
#define NANWATCH_OBSERVE_TALLY_H_

#include <nanwatch.h>

#include <cstddef>
#include <cstdint>

namespace nanwatch {

struct Tally {
  uint64_t nan = 0;
  uint64_t pos_inf = 0;
  uint64_t neg_inf = 0;
  uint64_t saturated = 0;
  uint64_t zero = 0;
  uint64_t subnormal = 0;
  // Of finite elements; anything when there are none.
  double abs_max = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double mean_square = 0;
  // Of log2|x| of finite non-zero elements; the deviation is of the population.
  double log2_mean = 0;
  double log2_std = 0;
  // Finite non-zero elements by floor(log2|x|) - LowestExponent(dtype); null:
  // not wanted. The caller's, zeroed.
  uint64_t* exponents = nullptr;
};

// Of a tensor, or of the part of it that was seen: see proto/SKETCH.md.
struct SketchTally {
  uint64_t digest = 0;
  double sums[NANWATCH_SKETCH_SUMS] = {};
  // Elements that are not in the sums.
  uint64_t nan = 0;
  uint64_t inf = 0;
};

// floor(log2) of the smallest subnormal and of the largest value.
int LowestExponent(nanwatch_dtype dtype);
int HighestExponent(nanwatch_dtype dtype);
// Bytes of an element; 0: unknown dtype.
size_t ElementBytes(nanwatch_dtype dtype);

// Computes what the NANWATCH_OBSERVE_* bits of `what` ask for. REQUIRES: a
// known dtype; `tally` fresh.
using ObserveFunction = void (*)(const void* data, size_t n,
                                 nanwatch_dtype dtype, unsigned what,
                                 Tally* tally);

// The obviously right one, a hundred times slower.
void ObserveReference(const void* data, size_t n, nanwatch_dtype dtype,
                      unsigned what, Tally* tally);

// The same source (kernel.h), compiled for one instruction set each. On other
// CPUs than x86-64 only the first is there.
void ObserveBaseline(const void* data, size_t n, nanwatch_dtype dtype,
                     unsigned what, Tally* tally);
#if defined(__x86_64__)
void ObserveAvx2(const void* data, size_t n, nanwatch_dtype dtype,
                 unsigned what, Tally* tally);
void ObserveAvx512(const void* data, size_t n, nanwatch_dtype dtype,
                   unsigned what, Tally* tally);
#endif

// Adds `n` elements, the first of which is number `first` of its tensor, for
// what of NANWATCH_OBSERVE_DIGEST and _SKETCH is in `what`.
using SketchFunction = void (*)(const void* data, size_t n,
                                nanwatch_dtype dtype, uint64_t first,
                                unsigned what, SketchTally* tally);
void SketchBaseline(const void* data, size_t n, nanwatch_dtype dtype,
                    uint64_t first, unsigned what, SketchTally* tally);
#if defined(__x86_64__)
void SketchAvx2(const void* data, size_t n, nanwatch_dtype dtype,
                uint64_t first, unsigned what, SketchTally* tally);
void SketchAvx512(const void* data, size_t n, nanwatch_dtype dtype,
                  uint64_t first, unsigned what, SketchTally* tally);
#endif

struct ObserveVariant {
  const char* name;
  ObserveFunction function;
  SketchFunction sketch;
  bool runs_here;  // this CPU has what it needs
};
// Best last. `count`: how many.
const ObserveVariant* ObserveVariants(size_t* count);
// The best that runs here.
const ObserveVariant& BestVariant();

}  // namespace nanwatch

#endif  // NANWATCH_OBSERVE_TALLY_H_
