#include "compare/loss_diff.h"

#include <cmath>
#include <deque>

#include "compare/steps_of_both.h"

namespace nanwatch {
namespace {

// Losses of which the mean is compared: one alone is of its batch. Ours.
constexpr size_t kMeanOf = 20;

class Mean {
 public:
  void Add(double value) {
    values_.push_back(value);
    sum_ += value;
    if (values_.size() > kMeanOf) {
      sum_ -= values_.front();
      values_.pop_front();
    }
  }
  bool full() const { return values_.size() == kMeanOf; }
  double value() const { return sum_ / static_cast<double>(values_.size()); }

 private:
  std::deque<double> values_;
  double sum_ = 0;
};

void TakeBad(const ComparedStep& a, const ComparedStep& b, LossDiff* diff) {
  const bool a_bad = !std::isfinite(*a.loss), b_bad = !std::isfinite(*b.loss);
  if (a_bad == b_bad) return;
  std::optional<BadLoss>& bad = a_bad ? diff->bad_in_a : diff->bad_in_b;
  if (!bad) bad = BadLoss{a.step, *a.loss, *b.loss};
}

}  // namespace

LossDiff DiffLosses(const ComparedRun& a, const ComparedRun& b) {
  LossDiff diff;
  Mean of_a, of_b;
  ForEachStepOfBoth(a, b, [&](const ComparedStep& x, const ComparedStep& y) {
    if (!x.loss || !y.loss) return;
    ++diff.steps;
    TakeBad(x, y, &diff);
    if (!std::isfinite(*x.loss) || !std::isfinite(*y.loss)) return;
    if (!diff.first_step && *x.loss != *y.loss) {
      diff.first_step = x.step;
      diff.first_a = *x.loss;
      diff.first_b = *y.loss;
    }
    of_a.Add(*x.loss);
    of_b.Add(*y.loss);
    if (!of_a.full() || of_a.value() <= 0 || of_b.value() <= 0) return;
    const double share = of_b.value() / of_a.value() - 1;
    if (share == 0) return;
    if (!diff.farthest || std::fabs(share) > std::fabs(*diff.farthest)) {
      diff.farthest = share;
      diff.farthest_step = x.step;
    }
  });
  return diff;
}

}  // namespace nanwatch
