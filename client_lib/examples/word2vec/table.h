// Table: the vectors of all words, in float for the optimizer and in half for
// the device, trained by Adagrad on the rows that a batch touches.

#ifndef NANWATCH_WORD2VEC_TABLE_H_
#define NANWATCH_WORD2VEC_TABLE_H_

#include <cstdint>
#include <vector>

#include "random.h"
#include "tensor.h"

namespace word2vec {

class Table {
 public:
  // Evenly within +-0.5 / dim, as the original does.
  Table(size_t rows, size_t dim, Random* random);

  const Half* half() const { return half_.data(); }
  const float* row(int32_t id) const { return &master_[id * dim_]; }
  size_t dim() const { return dim_; }

  // Adds unscaled gradients of `rows`, a row of `gradient` each, in float.
  void AddGradient(const std::vector<int32_t>& rows, const Tensor& gradient,
                   float inverse_scale);
  // Sum of squares of the gradient added since the last Apply or Discard.
  double GradientSquares() const;
  void Apply(float learning_rate);
  void Discard();

 private:
  void Forget();

  const size_t dim_;
  std::vector<float> master_;
  std::vector<float> squares_;  // Adagrad's
  std::vector<float> gradient_;
  std::vector<int32_t> touched_;
  std::vector<bool> is_touched_;
  std::vector<Half> half_;
};

}  // namespace word2vec

#endif  // NANWATCH_WORD2VEC_TABLE_H_
