// MeanNorms: whether a mean of gradient norms that is not finite says more than
// that one update of many overflowed: so many follow each other that hardly an
// update is made, more than chance explains by how often one came before, and
// the loss does not fall meanwhile.

#ifndef NANWATCH_LOGS_MEAN_NORMS_H_
#define NANWATCH_LOGS_MEAN_NORMS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "logs/fact.h"

namespace nanwatch {

class MeanNorms {
 public:
  // Takes in a step line of means with a finite loss and a norm. Returns
  // whether the norm counts.
  bool Counts(const LogFact& fact) {
    if (!fact.is_not_finite(StepField::kGradNorm)) {
      bad_ = std::min(bad_ + row_, kMost);
      finite_ = std::min(finite_ + 1, kMost);
      row_ = 0;
      return true;
    }
    const double loss = fact[StepField::kLoss];
    row_ = std::min(row_ + 1, kRow + 1);
    const double share = 1.0 / std::min(row_, kMean);
    if (row_ == 1) first_ = recent_ = loss;
    if (row_ <= kMean) first_ += (loss - first_) * share;
    recent_ += (loss - recent_) * share;
    const bool falls = recent_ < first_ - kFalls * std::fabs(first_);
    // From the first line on loss_not_decreasing asks.
    return finite_ > 0 && (row_ >= kRow || IsNoChance()) && !falls;
  }

 private:
  static constexpr int32_t kRow = 16;     // lines; ours
  static constexpr int32_t kLeast = 8;    // lines; ours
  static constexpr double kChance = -14;  // ln of one in a million; ours
  static constexpr int32_t kMean = 4;     // lines; ours
  static constexpr double kFalls = 0.05;  // of the loss; ours
  static constexpr int32_t kMost = 1 << 20;

  bool IsNoChance() const {
    const double share = (bad_ + 1.0) / (bad_ + finite_ + 2.0);
    return row_ >= kLeast && row_ * std::log(share) < kChance;
  }

  int32_t finite_ = 0;  // lines before whose norm is; saturates
  int32_t bad_ = 0;     // others, before the row; saturates
  int32_t row_ = 0;     // lines in a row whose norm is not finite; saturates
  double first_ = 0;    // mean of the first losses of the row
  double recent_ = 0;   // of its newest
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_MEAN_NORMS_H_
