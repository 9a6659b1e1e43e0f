// What stands for a line's loss where the log shows none.

#include <cmath>
#include <utility>

#include "logs/column_fact.h"

namespace nanwatch {

bool ColumnFact::AddReward(bool is_record) {
  const bool placed = is_record || has_step() || has_epoch();
  if (!reward_ || !placed || SaysHealth()) return false;
  if (std::isfinite(*reward_)) {
    missed_ = 0;
    rewards_apart_ |= best_worth_ > 0;
  } else if (missed_ < 0 || ++missed_ < kMissed) {
    return false;
  }
  if (best_worth_ > 0) return false;
  fact_.Set(StepField::kLoss, -*reward_);
  fact_.of_objective = true;
  fact_.guessed = true;
  return true;
}

bool ColumnFact::AddEvaluation(double loss) {
  if (best_worth_ > 0 || adversaries_seen_ || rewards_apart_ || SaysHealth()) {
    return false;
  }
  fact_.Set(StepField::kLoss, loss);
  fact_.guessed = true;
  fact_.of_evaluation = true;
  return true;
}

bool ColumnFact::IsReal(double value) {
  real_ |= value != std::floor(value);
  return real_;
}

// "policy=5.9 mse=0.25 total=11.9": what a loss measures is one of its terms. A
// total of samples is a whole number.
void ColumnFact::TakeTotal() {
  const bool term = worth_ > 0 && worth_ <= kWorthOfSquares;
  if (total_ && real_total_ && term && !fact_.of_objective) {
    AddNumber(ColumnMeaning::kMeanLoss, *total_);
  }
}

// The loss beside it may be finite: then that is its own word.
void ColumnFact::AddTerm() {
  if (!fact_.has(StepField::kLoss)) {
    fact_.Set(StepField::kLoss, *term_);
  } else if (std::isfinite(fact_[StepField::kLoss])) {
    fact_.text = "kl";  // of all names of terms (usual_names.cc)
  }
}

// Before the first step (of an epoch) there is no loss: programs print 0 for
// one, or NaN, where they divide by the number of steps. NaN of a batch is no
// mean, and step 0 is a whole epoch where none shows another.
bool ColumnFact::IsMeanOfNothing() {
  const bool alone = std::exchange(begun_, true) && !went_on_;
  went_on_ |= fact_.step > 0;
  if (fact_.step != 0 || alone || !fact_.has(StepField::kLoss)) return false;
  const double loss = fact_[StepField::kLoss];
  return (loss == 0 && epoch_) || (std::isnan(loss) && worth_ == kWorthOfMean);
}

// A perplexity in a line of its own, of a log that shows the loss.
void ColumnFact::DropStandIn() {
  best_worth_ = std::max(best_worth_, worth_);
  if (worth_ > 0 && worth_ <= kWorthOfStandIn && best_worth_ > worth_) {
    fact_.Unset(StepField::kLoss);
    fact_.guessed = false;
  }
}

}  // namespace nanwatch
