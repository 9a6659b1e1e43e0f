// Sampler: batches of (centre word, context word, negatives) from a text.

#ifndef NANWATCH_WORD2VEC_SAMPLER_H_
#define NANWATCH_WORD2VEC_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "ops/ops.h"
#include "random.h"
#include "tensor.h"
#include "vocabulary.h"

namespace word2vec {

struct Batch {
  std::vector<int32_t> centre;   // a row of the first table a pair
  std::vector<int32_t> targets;  // a row of the second table a target
  Tensor distance;               // words between centre and context, >= 1
};

class Sampler {
 public:
  static constexpr int kWindow = 5;

  // Frequent words are thinned out as Mikolov et al. do (t = 1e-3); negatives
  // are drawn by frequency to the 3/4. `vocabulary` must outlive this.
  Sampler(const Vocabulary& vocabulary, const Extent& extent, uint64_t seed);

  // Pairs from all over the text; valid until the next call.
  Batch& Next();
  // Pairs in about one pass through the thinned text.
  int64_t pairs_per_epoch() const;

 private:
  const Extent extent_;
  Random random_;
  std::vector<int32_t> text_;       // thinned
  std::vector<int32_t> negatives_;  // to draw from evenly
  Batch batch_;
};

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_SAMPLER_H_
