// OptimizerLanes: the loss scalers of one rank, each with an optimizer of its
// own, told apart by what their lines show: a number, the scale that it came
// from, two lines of one step.

#ifndef NANWATCH_LOGS_OPTIMIZER_LANES_H_
#define NANWATCH_LOGS_OPTIMIZER_LANES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "logs/copy_filter.h"
#include "logs/fact.h"

namespace nanwatch {

// One scaler and optimizer of one rank.
struct OptimizerLane {
  std::string name;  // as its losses are called; empty: it has a number
  double scale = 0;  // newest; 0: unknown
  int64_t skipped_total = -1;
  int64_t first_step = -1;  // of a step line; -1: none yet
  int64_t last_step = -1;   // the same
  bool told = false;        // a record
  bool named = false;       // as it was when it was first told
  bool has_lines = false;   // of its own; else those of others are of it, too
  int64_t lines_of_others = 0;
  int64_t told_step = -1;  // of the newest record
  // Told since its newest step line without waiting for the next one, which
  // counts them, too.
  int64_t early = 0;
  int64_t early_overflows = 0;
  int64_t usual_gap = 0;      // steps from line to line; 0: unknown
  bool counter_lies = false;  // it stood still while the scale fell
  // Of such falls the newest in a row whose line has a norm that is not finite.
  int64_t blown_falls = 0;
  // Everything was skipped from the first line to the second, and it is where
  // it was: no search went before.
  bool scale_stands = false;
  // The scale that the newest overflow or raise left; 0: unknown.
  double left = 0;
  double began = 0;  // scale of the log's first update, about; 0: unknown
  int64_t clean_lines = 0;  // newest step lines without an overflow before them
  bool tells_each = false;  // overflows, though the program may not
  // Of overflows that a rank said twice: another optimizer's, or doubles.
  bool may_be_double = false;
  // Overflows that were told, or shown by the scale or the norm, and are not in
  // the newest `skipped_total` yet.
  int64_t ahead = 0;
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
  // Of the newest step line of `lane`; -1: none yet.
  int64_t last_step(int32_t lane) const {
    const size_t index = static_cast<size_t>(lane);
    return index < lanes_.size() ? lanes_[index].last_step : -1;
  }
  // More than one, doubles apart.
  bool several() const;
  // A rank that prints all twice prints no overflow once.
  void NoDoubles();
  // There is one lane, and another that may be a double.
  bool has_double() const {
    return lanes_.size() == 2 && lanes_[1].may_be_double;
  }
  // It is none: a rank said of the first lane twice what happened twice.
  void DropDouble();
  auto begin() { return lanes_.begin(); }
  auto end() { return lanes_.end(); }

 private:
  size_t Numbered(const LogFact& fact);
  size_t ThatHad(double scale, size_t not_this) const;
  size_t Next(const LogFact& fact);

  std::vector<OptimizerLane> lanes_ = std::vector<OptimizerLane>(1);
  size_t newest_ = 0;  // of the newest step line
  size_t told_ = 0;    // of the newest overflow or raise without a number
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_OPTIMIZER_LANES_H_
