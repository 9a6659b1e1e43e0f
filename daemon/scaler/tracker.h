// ScalerTracker: follows the loss scale of one rank and optimizer beside the
// model of its scaler. Declared scalers are taken at their word until a
// transition shows otherwise; undeclared ones are recognised from transitions.
//
// Clients differ in whether a record's scale is the one that the update used
// or the one after it: both are understood. Scales that are 0, negative, NaN or
// infinite never enter (scale_unrepresentable speaks of them); that the scale
// fell to 0 is told apart.

#ifndef NANWATCH_SCALER_TRACKER_H_
#define NANWATCH_SCALER_TRACKER_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/run.h"
#include "model/step.h"
#include "scaler/catalog.h"
#include "scaler/model.h"
#include "scaler/move.h"

namespace nanwatch {

// What the newest record's scale says of the scaler.
enum class Transition : uint8_t {
  kNone,  // no scale in the record, or the first one
  kHeld,
  kGrew,
  kBackedOff,
  kImpossible,  // what the scaler could never do, see Impossible
};

// What became of the newest update.
enum class Fate : uint8_t {
  kUnknown,  // nothing says
  kApplied,
  kLost,  // skipped; or an overflow under a scaler that skips those
};

// Trivially copyable: a part of the engine's state of a rank.
class ScalerTracker {
 public:
  // Begins with what the run declares.
  void Declare(const ScalerDeclaration& declaration);
  // The program that trains, as RunDescription::framework ("hf_trainer+
  // deepspeed"): where transitions leave several scalers, its own is it. May be
  // said again, when more is known of it.
  void Expect(std::string_view framework);
  // The run goes on after a restart; `good_scale` is the highest at which a
  // step before it was good, 0: not known.
  void Continue(double good_scale) { good_scale_before_ = good_scale; }
  // The rank has other optimizers: they may share the scaler, so it may move
  // several times between two records of this one.
  void Share() { shared_ = true; }
  // Each record of this rank and optimizer, in order.
  void OnStep(const StepRecord& record);

  // The declared or recognised scaler; null: not known (yet).
  const ScalerSpec* spec() const;
  bool recognised() const;  // spec() comes from transitions alone
  // True when the scale moves by itself (declared so, or seen to move).
  bool dynamic() const { return dynamic_; }
  double floor() const { return p_.floor; }  // 0: none
  // Declared or default growth interval in updates; 0: unknown.
  int64_t growth_interval() const;
  // Overflows that only take one growth back, see ScalerParameters. 2 while
  // the scaler is not declared: most forgive one.
  int64_t overflows_per_growth() const;
  // Updates from the first record in which start-up calibration may still go
  // on: the overflows from the first scale to the floor (1 where there is none)
  // and the forgiven ones, + 2, at most 200. 36 before a scale is known.
  int64_t grace_updates() const { return grace_; }
  // Calibration: within grace_updates() and no good step was seen yet. Never
  // for a fixed scale, or none. As a search begins, a record that does not tell
  // whether its update overflowed is no good step: it is only known when the
  // scale stands for some steps, or grows.
  bool in_grace() const {
    return !calibrated_ && since_start() <= grace_ && may_calibrate_;
  }
  // Updates since the scaler began: with the first record, or with a fresh one
  // after a restart that the records do not tell of otherwise.
  int64_t since_start() const { return updates_ - started_; }
  // The model's forecast: updates until the floor (without one: until 2^-126,
  // once below 1) at the rate of the present fall; absent when the scale does
  // not fall, or is there already, or follows statistics. A fall is over after
  // 100 updates without a backoff, and after 4 times as many clean ones as lay
  // between two of its backoffs.
  std::optional<int64_t> updates_to_floor() const;
  // Whether a record's scale is the one before or after its update, as far as
  // falls have shown.
  ScaleOrder order() const { return order_; }
  Transition last_transition() const { return transition_; }
  uint64_t impossible_transitions() const { return impossible_; }
  // Why the newest record's transition is impossible; kNone where it is not.
  // Beside the ratio it needs a declared scaler, and flags.
  Impossible why_impossible() const { return why_; }
  // Overflow upon overflow, above the floor, and the scale stands: nobody calls
  // the scaler's update().
  bool never_falls() const { return never_falls_; }

  // The newest record: an overflow, by its flag; where that was not collected
  // by the skipped flag, the float status or the scale's fall.
  bool overflowed() const { return overflowed_; }
  Fate fate() const { return fate_; }
  // An update was applied though it overflowed, ever.
  bool applied_overflow() const { return applied_overflow_; }
  // As fate(); where nothing says it, and no scaler is known that could have
  // skipped the update, kApplied: what to fear, not what to count.
  Fate presumed_fate() const {
    return fate_ == Fate::kUnknown && !dynamic_ ? Fate::kApplied : fate_;
  }

  // Facts of the scale so far; absent before the first record with a scale.
  // The last that a gradient can be scaled with: always > 0.
  std::optional<double> scale() const {
    return scale_ > 0 ? std::optional<double>(scale_) : std::nullopt;
  }
  // As scale(); or 0, once a dynamic scale fell to 0 and while it stays there.
  std::optional<double> present_scale() const {
    return zero_ ? std::optional<double>(0.0) : scale();
  }
  std::optional<double> first_scale() const {
    return first_scale_ > 0 ? std::optional<double>(first_scale_)
                            : std::nullopt;
  }
  // That of the first update with one; 0: none. Its record may have the scale
  // that its overflow left.
  double first_tried() const;
  // Overflows since the scale last grew, those of calibration left out.
  int32_t falls() const { return falls_; }
  int64_t updates() const { return updates_; }  // records seen
  // From the step of the record before to the newest's; 0 is before the first.
  int64_t step_gap() const { return step_gap_; }
  // The newest record brings nothing new of the scale: it follows the one
  // before, neither overflowed, both are good() or neither, and they tell the
  // same fate and the same scale (or none).
  bool steady() const { return steady_; }
  // The newest update is taken for a good one: no overflow is known of it, and
  // no search is on that might hide one, see in_grace().
  bool good() const { return good_; }
  // Consecutive overflows, newest included.
  int64_t overflow_streak() const { return streak_; }
  // The highest scale of a good step; 0: none yet.
  double highest_good_scale() const { return highest_good_; }
  double good_scale_before() const { return good_scale_before_; }
  // Updates without a known overflow, ever.
  int64_t good_steps() const { return good_steps_; }

 private:
  void Follow(double scale, const StepRecord& record, Told told);
  void JudgeFirst(int64_t step);
  bool BeginsAnew(const struct Move& move, int64_t gap) const;
  void BeginAnew(const struct Move& move);
  void OnChange(const struct Move& move, int64_t gap);
  void LearnOrder(const struct Move& move);
  void JudgeAnswer(Told told);
  bool FallIsOver(double backoffs) const;
  void Recognise(double from, double to, int64_t gap);
  // Overflow upon overflow, and the scale stands.
  void CrossOutThoseThatFall();
  // The best of those that are left.
  void Choose();
  void JudgeOverflow(const StepRecord& record);
  void JudgeGood(const StepRecord& record);
  bool MayHideOverflow(const StepRecord& record) const;
  void SetGrace();

  ScalerParameters p_;
  double scale_ = 0;  // newest; 0: none yet
  double first_scale_ = 0;
  double lowest_ = 0;
  double highest_good_ = 0;
  double good_scale_before_ = 0;  // of the attempt before; 0: not known
  double fall_from_ = 0;          // scale before the present fall; 0: none
  int64_t fall_update_ = 0;       // update of the fall's first backoff
  int64_t last_backoff_ = -1;
  int64_t quiet_since_ = 0;  // update of the last overflow or change
  int64_t updates_ = 0;
  int64_t good_steps_ = 0;
  int64_t started_ = 0;  // updates_ when the scaler began
  int64_t streak_ = 0;
  int64_t last_step_ = 0;
  int64_t step_gap_ = 0;
  int64_t scale_update_ = 0;     // the newest record with a scale
  int64_t scale_step_ = 0;       // its step
  int64_t changed_update_ = -1;  // the newest change; -1: unknown
  int64_t changed_step_ = 0;
  int64_t held_overflows_ = 0;  // in a row, while the scale stood
  uint64_t impossible_ = 0;
  int32_t grace_ = 36;
  int32_t falls_ = 0;
  int32_t least_quiet_ = 0;    // updates that a growth takes at least
  int32_t seen_interval_ = 0;  // quiet updates before the last growth
  uint32_t candidates_ = ~0u;  // bit i: AllScalers()[i] could do all this
  uint16_t changes_ = 0;       // of the scale, saturating
  int8_t declared_ = -1;       // index in AllScalers()
  int8_t recognised_ = -1;
  int8_t expected_ = -1;
  bool told_ = false;  // the run gave a name or numbers
  bool dynamic_ = false;
  bool calibrated_ = false;  // a good update since started_
  bool may_calibrate_ = true;
  bool check_off_ = false;  // overflowing updates are applied
  bool overflowed_ = false;
  bool applied_overflow_ = false;
  bool steady_ = false;
  bool had_scale_ = false;  // the newest record
  bool good_ = false;
  bool late_ = false;  // the first scale is of a training that went on long
  bool zero_ = false;  // the newest record's scale is 0, fallen there
  Fate fate_ = Fate::kUnknown;
  bool shared_ = false;
  bool never_falls_ = false;
  bool began_lost_ = false;  // the first record with a scale overflowed
  bool order_mixed_ = false;
  ScaleOrder order_ = ScaleOrder::kUnknown;
  Told told_before_ = Told::kUnknown;
  Impossible why_ = Impossible::kNone;
  Transition transition_ = Transition::kNone;
};

}  // namespace nanwatch

#endif  // NANWATCH_SCALER_TRACKER_H_
