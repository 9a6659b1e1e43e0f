#include <vector>

#include "ops/ops.h"

namespace word2vec {

void GradTarget(const Extent& extent, const Half* grad, const Half* centre,
                Half* out) {
  std::vector<float> vector(extent.dim), product(extent.dim);
  for (size_t p = 0; p < extent.pairs; ++p) {
    ToFloat(centre + p * extent.dim, extent.dim, vector.data());
    for (size_t t = 0; t < extent.targets; ++t) {
      const size_t row = p * extent.targets + t;
      const float slope = static_cast<float>(grad[row]);
      for (size_t d = 0; d < extent.dim; ++d) product[d] = slope * vector[d];
      FromFloat(product.data(), extent.dim, out + row * extent.dim);
    }
  }
}

}  // namespace word2vec
