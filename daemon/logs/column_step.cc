// Which of a line's numbers is its step.

#include <utility>

#include "logs/column_fact.h"

namespace nanwatch {

// A number that is the same in all lines of a log is no step: the ranks of a
// job that print alike go on to the next one. "batch 64", "steps: 1000".
bool ColumnFact::StandsStill(int64_t step) {
  // Of a line an epoch, "[2502/2502]", it is the last one of each.
  const bool of_next = std::exchange(epoch_of_step_, epoch_) != epoch_;
  if (moved_ || fact_.rank || (epoch_ && step == whole_) || of_next) {
    return false;
  }
  moved_ = same_ > 0 && step != step_;
  step_ = step;
  return !moved_ && ++same_ > kSame;
}

// Steps that begin anew in each episode are no run's, nor are those that stand
// while another counts: "iteration:1 step:100/1044".
void ColumnFact::ChooseStep() {
  if (!counter_) return;
  if (fact_.step && *fact_.step <= step_beside_ &&
      *counter_ > counter_before_) {
    step_of_counter_ = true;
  }
  if (fact_.step) step_beside_ = *fact_.step;
  counter_before_ = *counter_;
  if (fact_.step && !step_of_counter_) return;
  if (two_steps_ && !epoch_) SetEpoch(static_cast<double>(*fact_.step));
  fact_.step = counter_;
}

void ColumnFact::TakeMeanApart() {
  if (!fact_.has(StepField::kLoss)) return;
  const double mean = fact_[StepField::kLoss];
  const int64_t of = std::exchange(mean_of_, step());
  const double sum = std::exchange(sum_, mean * static_cast<double>(step()));
  if (of <= 0 || step() <= of) return;
  const double own = (sum_ - sum) / static_cast<double>(step() - of);
  // One that is not finite stays in the mean; a printed one is rounded.
  if (own > 0 && std::isfinite(own)) fact_.Set(StepField::kLoss, own);
}

}  // namespace nanwatch
