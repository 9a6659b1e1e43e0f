#include <algorithm>
#include <vector>

#include "ops/ops.h"

namespace word2vec {

void GradCentre(const Extent& extent, const Half* grad, const Half* target,
                Half* out) {
  std::vector<float> sum(extent.dim), vector(extent.dim);
  for (size_t p = 0; p < extent.pairs; ++p) {
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (size_t t = 0; t < extent.targets; ++t) {
      const size_t row = p * extent.targets + t;
      const float slope = static_cast<float>(grad[row]);
      ToFloat(target + row * extent.dim, extent.dim, vector.data());
      for (size_t d = 0; d < extent.dim; ++d) sum[d] += slope * vector[d];
    }
    FromFloat(sum.data(), extent.dim, out + p * extent.dim);
  }
}

}  // namespace word2vec
