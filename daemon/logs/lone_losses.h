// LoneLosses: lines that say "Loss: 2.3" and nothing else of ours. A few of
// them may be anything; of more each is a step.

#ifndef NANWATCH_LOGS_LONE_LOSSES_H_
#define NANWATCH_LOGS_LONE_LOSSES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "logs/fact.h"

namespace nanwatch {

class LoneLosses {
 public:
  // Takes in a line's fact; `number`: one of the line that may be its step.
  // Appends those that wait once they are enough, without it.
  void Hold(const LogFact& fact, std::optional<int64_t> number,
            FactList* facts) {
    waiting_.push_back(fact);
    waiting_.back().step = number;
    // Facts point into it until the next line.
    before_[before_at_] = fact.before_loss;
    waiting_.back().before_loss = before_[before_at_];
    before_at_ = (before_at_ + 1) % before_.size();
    named_ |= !fact.guessed;
    waiting_.back().guessed &= !named_;
    if (waiting_.size() < kEnough && !told_) return;
    for (LogFact& one : waiting_) one.step.reset();
    Append(facts);
    told_ = true;
  }
  // Takes in a line's fact that only its `number` makes a step's: it waits
  // until the next line's shows whether it is one.
  void HoldGuess(const LogFact& fact, int64_t number) {
    guess_ = fact;
    guess_->step = number;
    guess_->before_loss = {};  // points into the line
  }
  // Appends those that wait: their numbers are steps, or the newest's is
  // `step`.
  void Tell(std::optional<int64_t> step, FactList* facts) {
    if (step && !waiting_.empty()) waiting_.back().step = step;
    if (guess_) facts->push_back(*guess_);
    guess_.reset();
    Append(facts);
  }

 private:
  static constexpr size_t kEnough = 3;

  void Append(FactList* facts) {
    facts->insert(facts->end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
  }

  FactList waiting_;
  std::optional<LogFact> guess_;             // the newest
  std::array<std::string, kEnough> before_;  // theirs, in turn
  size_t before_at_ = 0;
  bool told_ = false;
  bool named_ = false;  // a line that was no guess came
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_LONE_LOSSES_H_
