// Situation: where the run stands with a cause, by which the advice goes.

#ifndef NANWATCH_DIAGNOSE_SITUATION_H_
#define NANWATCH_DIAGNOSE_SITUATION_H_

#include <cstdint>
#include <optional>

#include "diagnose/facts.h"
#include "diagnose/op_facts.h"
#include "model/diagnosis.h"

namespace nanwatch {

// The default: op statuses are collected, it goes on and is severe, and no cure
// is taken yet.
struct Situation {
  // Of a loss or a norm that left its level; the later one outweighs.
  enum class Course : uint8_t {
    kPasses,
    kNormStays,
    kGrows,
    kStays,
    kFromStart
  };

  bool ops_collected = true;
  bool over = false;        // found no more
  bool cured = false;       // the run declares the cure
  bool often = false;       // more overflows than the scaler's probing makes
  bool fixed = false;       // nothing lowers the loss scale
  bool stuck = false;       // no update goes through at the lowest scale
  bool established = true;  // its cause
  bool severe = true;       // what it explains is critical
  Course course = Course::kPasses;
  bool spoilt = false;        // an update wrote what is not finite into weights
  bool outlived = false;      // finite losses show that none did
  bool never_finite = false;  // no loss was
  bool scaled = true;         // a loss scale is used, or may be needed
  bool applied = false;       // updates that overflowed were, as it diverged
  bool dropped = false;  // only records of ranks that are heard are missing
  RuleId part = RuleId::kNone;  // the rule, if it has advice of its own
  bool unused = false;          // latents say nothing
  bool blown = false;           // an evaluation's loss is far above its lowest
  Maker maker = Maker::kOtherOp;  // of what is not finite
  bool of_part = false;  // the rest of the model is updated as it should be
  bool of_loss = false;  // no cause is known, and the trouble is the loss
  std::optional<int64_t> step;  // at which it began; absent: any
  bool from_start = false;      // it was so at the first record
};
Situation SituationOf(const Facts& f, const CauseVerdict& verdict);

// True for what needs no cause to be understood: losses, and what has advice of
// its own.
bool HasOwnAdvice(const Finding& finding);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_SITUATION_H_
