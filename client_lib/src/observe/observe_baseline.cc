#include "kernel.h"
#include "sketch_kernel.h"

namespace nanwatch {

void ObserveBaseline(const void* data, size_t n, nanwatch_dtype dtype,
                     unsigned what, Tally* tally) {
  ObserveAny(data, n, dtype, what, tally);
}

void SketchBaseline(const void* data, size_t n, nanwatch_dtype dtype,
                    uint64_t first, unsigned what, SketchTally* tally) {
  SketchAny(data, n, dtype, first, what, tally);
}

}  // namespace nanwatch
