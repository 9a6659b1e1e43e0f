#include "ops/ops.h"

namespace word2vec {

void LogSigmoidGrad(const Extent& extent, const Half* sigmoid,
                    const Half* weight, float scale, Half* out) {
  const float seed = scale / static_cast<float>(extent.pairs);
  for (size_t p = 0; p < extent.pairs; ++p) {
    const float pair_seed = seed * static_cast<float>(weight[p]);
    for (size_t t = 0; t < extent.targets; ++t) {
      const size_t i = p * extent.targets + t;
      const float slope = static_cast<float>(sigmoid[i]) - 1;
      out[i] = static_cast<Half>((t == 0 ? slope : -slope) * pair_seed);
    }
  }
}

}  // namespace word2vec
