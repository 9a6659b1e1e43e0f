// ScalerTracker: follows the loss scale of one rank and optimizer beside the
// model of its scaler. Declared scalers are taken at their word until a
// transition shows otherwise; undeclared ones are recognised from transitions.

#ifndef NANWATCH_SCALER_TRACKER_H_
#define NANWATCH_SCALER_TRACKER_H_

#include <cstdint>
#include <optional>

#include "model/run.h"
#include "model/step.h"
#include "scaler/catalog.h"
#include "scaler/model.h"

namespace nanwatch {

// What the newest record's scale says of the scaler.
enum class Transition : uint8_t {
  kNone,  // no scale in the record, or the first one
  kHeld,
  kGrew,
  kBackedOff,
  kImpossible,  // a change that the scaler could never make
};

// Trivially copyable: a part of the engine's state of a rank.
class ScalerTracker {
 public:
  // Begins with what the run declares.
  void Declare(const ScalerDeclaration& declaration);
  // Each record of this rank and optimizer, in order.
  void OnStep(const StepRecord& record);

  // The declared or recognised scaler; null: not known (yet).
  const ScalerSpec* spec() const;
  bool recognised() const;  // spec() comes from transitions alone
  // True when the scale moves by itself (declared so, or seen to move).
  bool dynamic() const;
  double floor() const;  // 0: none
  // Declared or default growth interval in attempts; 0: unknown.
  int64_t growth_interval() const;
  // Attempts from the first record in which start-up calibration may still go
  // on: ceil(log(init/floor)/log(1/backoff)) * hysteresis + 2, at most 200.
  int64_t grace_attempts() const;
  // Calibration: within grace_attempts() and no good step was seen yet.
  bool in_grace() const;
  // Attempts until the floor at the rate of the last overflows; absent when the
  // scale does not fall, there is no floor and 0 is far, or it is there
  // already.
  std::optional<int64_t> attempts_to_floor() const;
  Transition last_transition() const;
  uint64_t impossible_transitions() const;

  // Facts of the scale so far; absent before the first record with a scale.
  std::optional<double> scale() const;
  std::optional<double> first_scale() const;
  int64_t attempts() const;         // records seen
  int64_t overflow_streak() const;  // consecutive overflows, newest included
  int64_t good_steps() const;       // attempts without overflow, ever

 private:
  // Filled in by the implementation; no pointers, no heap.
};

}  // namespace nanwatch

#endif  // NANWATCH_SCALER_TRACKER_H_
