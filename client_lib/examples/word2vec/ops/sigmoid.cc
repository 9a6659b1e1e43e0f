#include <cmath>

#include "ops/ops.h"

namespace word2vec {

void Sigmoid(const Half* in, size_t n, Half* out) {
  for (size_t i = 0; i < n; ++i) {
    out[i] = static_cast<Half>(1 / (1 + std::exp(-static_cast<float>(in[i]))));
  }
}

}  // namespace word2vec
