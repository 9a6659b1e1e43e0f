#include "ops/ops.h"

namespace word2vec {

void SignedClip(const Extent& extent, const Half* logits, Half* out) {
  constexpr float kLimit = 10;
  for (size_t i = 0; i < extent.pairs * extent.targets; ++i) {
    const float logit = static_cast<float>(logits[i]);
    float right = i % extent.targets == 0 ? logit : -logit;
    if (right > kLimit) right = kLimit;
    if (right < -kLimit) right = -kLimit;
    out[i] = static_cast<Half>(right);
  }
}

}  // namespace word2vec
