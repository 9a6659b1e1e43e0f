// OptimizerLanes: the loss scalers of one rank, each with an optimizer of its
// own, told apart by what their lines show: a number, the scale that it came
// from, two lines of one step.

#ifndef NANWATCH_LOGS_OPTIMIZER_LANES_H_
#define NANWATCH_LOGS_OPTIMIZER_LANES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "logs/copy_filter.h"
#include "logs/fact.h"

namespace nanwatch {

// One scaler and optimizer of one rank.
struct OptimizerLane {
  double scale = 0;  // newest; 0: unknown
  int64_t skipped_total = -1;
  int64_t overflows = 0;    // told so far
  int64_t first_step = -1;  // of a step line of its own; -1: none yet
  int64_t last_step = -1;   // the same
  int64_t told_step = -1;   // of the newest record
  // Told since its newest step line without waiting for the next one, which
  // counts them, too.
  int64_t early = 0;
  int64_t early_overflows = 0;
  int64_t usual_gap = 0;      // steps from line to line; 0: unknown
  bool counter_lies = false;  // it stood still while the scale fell
  // Overflows since the newest `skipped_total` that no line told: the scale or
  // the norm showed them.
  int64_t inferred = 0;
};

class OptimizerLanes {
 public:
  // Told apart at most.
  static constexpr size_t kMax = 8;

  // Whose overflow or raise this is; a new lane's, where it can only be
  // another's.
  size_t OfHappening(const LogFact& fact, CopyFilter::Verdict verdict);
  // Whose step line this is. Two optimizers print one step one after the other.
  size_t OfStepLine(const LogFact& fact);
  // The fact names its scaler by a number that can be one.
  static bool IsNumbered(const LogFact& fact);

  OptimizerLane& operator[](size_t lane) { return lanes_[lane]; }
  size_t size() const { return lanes_.size(); }
  auto begin() { return lanes_.begin(); }
  auto end() { return lanes_.end(); }

 private:
  size_t Numbered(const LogFact& fact);
  size_t ThatHad(double scale) const;
  size_t Next(const LogFact& fact);

  std::vector<OptimizerLane> lanes_ = std::vector<OptimizerLane>(1);
  size_t newest_ = 0;  // of the newest step line
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_OPTIMIZER_LANES_H_
