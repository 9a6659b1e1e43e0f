#include "table.h"

#include <algorithm>
#include <cmath>

#include "ops/ops.h"

namespace word2vec {
namespace {

constexpr float kInitialSquare = 1e-6f;

}  // namespace

Table::Table(size_t rows, size_t dim, Random* random)
    : dim_(dim),
      master_(rows * dim),
      squares_(rows * dim, kInitialSquare),
      gradient_(rows * dim),
      is_touched_(rows),
      half_(rows * dim) {
  for (float& x : master_) {
    x = static_cast<float>((random->Fraction() - 0.5) /
                           static_cast<double>(dim));
  }
  FromFloat(master_.data(), master_.size(), half_.data());
}

void Table::AddGradient(const std::vector<int32_t>& rows,
                        const Tensor& gradient, float inverse_scale) {
  for (int32_t row : rows) {
    if (is_touched_[row]) continue;
    is_touched_[row] = true;
    touched_.push_back(row);
  }
  UnscaleAndSum(gradient.data.data(), rows.data(), rows.size(), dim_,
                inverse_scale, gradient_.data());
}

double Table::GradientSquares() const {
  double sum = 0;
  for (int32_t row : touched_) {
    const float* g = &gradient_[row * dim_];
    float squares = 0;
    for (size_t d = 0; d < dim_; ++d) squares += g[d] * g[d];
    sum += static_cast<double>(squares);
  }
  return sum;
}

void Table::Apply(float learning_rate) {
  for (int32_t row : touched_) {
    const size_t begin = row * dim_;
    for (size_t i = begin; i < begin + dim_; ++i) {
      squares_[i] += gradient_[i] * gradient_[i];
      master_[i] -= learning_rate * gradient_[i] / std::sqrt(squares_[i]);
    }
    FromFloat(&master_[begin], dim_, &half_[begin]);
  }
  Forget();
}

void Table::Discard() { Forget(); }

void Table::Forget() {
  for (int32_t row : touched_) {
    std::fill_n(&gradient_[row * dim_], dim_, 0.0f);
    is_touched_[row] = false;
  }
  touched_.clear();
}

}  // namespace word2vec
