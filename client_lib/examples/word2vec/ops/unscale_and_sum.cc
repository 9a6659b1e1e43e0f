#include <vector>

#include "ops/ops.h"

namespace word2vec {

void UnscaleAndSum(const Half* grad, const int32_t* rows, size_t n, size_t dim,
                   float factor, float* sum) {
  std::vector<float> vector(dim);
  for (size_t i = 0; i < n; ++i) {
    ToFloat(grad + i * dim, dim, vector.data());
    float* row = sum + static_cast<size_t>(rows[i]) * dim;
    for (size_t d = 0; d < dim; ++d) row[d] += vector[d] * factor;
  }
}

}  // namespace word2vec
