#include "kernel.h"
#include "sketch_kernel.h"

namespace nanwatch {

void ObserveAvx2(const void* data, size_t n, nanwatch_dtype dtype,
                 unsigned what, Tally* tally) {
  ObserveAny(data, n, dtype, what, tally);
}

void SketchAvx2(const void* data, size_t n, nanwatch_dtype dtype,
                uint64_t first, unsigned what, SketchTally* tally) {
  SketchAny(data, n, dtype, first, what, tally);
}

}  // namespace nanwatch
