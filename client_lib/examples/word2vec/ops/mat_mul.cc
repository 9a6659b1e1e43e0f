#include <vector>

#include "ops/ops.h"

namespace word2vec {
namespace {

// Eight running sums, so that the compiler may keep them in one register.
float Dot(const float* a, const float* b, size_t n) {
  float sum[8] = {};
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (size_t j = 0; j < 8; ++j) sum[j] += a[i + j] * b[i + j];
  }
  for (; i < n; ++i) sum[0] += a[i] * b[i];
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) +
         ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

}  // namespace

void MatMul(const Extent& extent, const Half* centre, const Half* target,
            Half* out) {
  std::vector<float> a(extent.dim), b(extent.dim);
  for (size_t p = 0; p < extent.pairs; ++p) {
    ToFloat(centre + p * extent.dim, extent.dim, a.data());
    for (size_t t = 0; t < extent.targets; ++t) {
      const size_t row = p * extent.targets + t;
      ToFloat(target + row * extent.dim, extent.dim, b.data());
      out[row] = static_cast<Half>(Dot(a.data(), b.data(), extent.dim));
    }
  }
}

}  // namespace word2vec
