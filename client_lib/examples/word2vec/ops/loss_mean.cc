#include "ops/ops.h"

namespace word2vec {

void LossMean(const Extent& extent, const Half* log, const Half* weight,
              Half* out) {
  float sum = 0;
  for (size_t p = 0; p < extent.pairs; ++p) {
    float pair = 0;
    for (size_t t = 0; t < extent.targets; ++t) {
      pair += static_cast<float>(log[p * extent.targets + t]);
    }
    sum += static_cast<float>(weight[p]) * pair;
  }
  out[0] = static_cast<Half>(-sum / static_cast<float>(extent.pairs));
}

}  // namespace word2vec
