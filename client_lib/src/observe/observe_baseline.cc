#include "kernel.h"

namespace nanwatch {

void ObserveBaseline(const void* data, size_t n, nanwatch_dtype dtype,
                     unsigned what, Tally* tally) {
  ObserveAny(data, n, dtype, what, tally);
}

}  // namespace nanwatch
