#include <cmath>

#include "ops/ops.h"

namespace word2vec {

void Log(const Half* in, size_t n, Half* out) {
  for (size_t i = 0; i < n; ++i) {
    out[i] = static_cast<Half>(std::log(static_cast<float>(in[i])));
  }
}

}  // namespace word2vec
