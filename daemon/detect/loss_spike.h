// Rule 34, loss_spike: the loss left its level, and that is no noise. The rule
// holds thresholds; level, evidence and course are the Series'. What is asked
// of a jump, and why, is in the RuleSpec (trigger, differs).

#ifndef NANWATCH_DETECT_LOSS_SPIKE_H_
#define NANWATCH_DETECT_LOSS_SPIKE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/scale_fall.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LossSpike {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kLoss);
  static constexpr bool kOfOneLoss = true;
  enum Threshold {
    kNats,
    kCriticalNats,
    kEndNats,
    kRatio,
    kHold,
    kCriticalHold,
    kCriticalSteps,
    kLostHold,
    kExplosionRatio,
    kClearRatio,
    kClear,
    kFalls,
    kFallsRatio
  };

  Severity OnStep(const StepContext& c, Thresholds t);
  // Waiting for a way back has an end: where none shows, it is critical.
  Severity OnEnd(Thresholds t);
  void Describe(Finding* finding) const;

  // It jumped and is on its way back, or there.
  bool Returns() const { return returns_; }
  // Of the newest finite loss: it is above its level.
  bool IsUp() const { return held_ > 0; }
  // It is the first to be so, `ratio` times the level, of a single batch, and
  // losses that stand out are seldom here (`again`: as were others before it;
  // so they may be a bit less so): the level; else 0.
  float JumpsFrom(float ratio, bool again) const;
  float newest() const { return jump_.loss; }  // REQUIRES: IsUp()
  // Above all healthy ones there were. REQUIRES: IsUp()
  bool IsHighest() const { return jump_.loss > jump_.highest; }
  // Records in a row that are above the level, the newest among them.
  int32_t held() const { return held_; }
  // Some were far above all others, for a record each.
  bool IsOftenWild() const { return kind_.wild == kWildRecords; }
  // It left even what a loss may do that keeps no level.
  bool IsAbsurd() const { return episode_.open() && told_.absurd; }
  // Such a loss is next to nothing beside the first ones: a net that has
  // learned all there is wanders there by many times its level.
  bool IsNothing(float loss) const;

 private:
  // No tail of healthy losses reaches so far again and again.
  static constexpr float kWild = 1000;        // times all healthy ones; ours
  static constexpr float kLeastWild = 0.1f;   // as kTiny, of such a loss; ours
  static constexpr uint8_t kWildRecords = 3;  // ours

  // What the newest excursion amounts to.
  struct Jump {
    int64_t step = 0;      // of its first record
    float usual = 0;       // loss that it left
    float loss = 0;        // the newest
    float peak = 0;        // loss
    float highest = 0;     // of healthy losses
    float first = 0;       // loss, as Series::first()
    float nats = 0;        // evidence
    int32_t records = 0;   // that it lasts
    bool anew = false;     // at once to where the first losses stood
    bool resumed = false;  // the same, right after it went on from somewhere
    bool absurd = false;   // no healthy loss of any kind does that
    bool settles = false;  // far below the first losses: it learns no more
    int64_t broken = -1;  // first step since whose loss is not finite; -1: none

    // It was far above all losses there were, for one record.
    bool IsWild() const {
      return records == 1 && peak > kWild * std::max(highest, kLeastWild);
    }
  };
  // What the loss is like, as of this record.
  struct Kind {
    bool overflowed = false;  // since the loss before
    uint8_t wild = 0;         // records IsWild(); saturates
    int16_t every = 0;        // as Series::every(), of what is told
    float outliers = 0;       // share of losses that stand out alone
    // Where it stands since it rose early, if it has learned little; else 0.
    float stuck = 0;
    int16_t returns = 0;       // rises like the newest that came back before it
    bool first_alone = false;  // what is told left the first record alone
  };

  // True: the loss before was above its level.
  bool Note(const StepContext& c);
  // Notes level and highest, as losses. They cost exponentials, so only records
  // that a finding may speak of pay for them.
  void NoteLevel(const Series& s, bool was_up);
  // Notes a record that was far above all others, alone. True: some were
  // before.
  bool IsWildAgain(const StepContext& c);
  static bool Matters(const StepContext& c, float rise, Thresholds t);
  bool HasOtherObjective(const StepContext& c) const;
  bool Explodes(const StepContext& c, Thresholds t);
  double HoldOf(const StepContext& c, Thresholds t) const;
  static bool IsUsual(const StepContext& c, float rise);
  static bool LeftOneValue(const StepContext& c);
  bool IsLost(const Series& s, int64_t step, Thresholds t) const;
  bool LeavesAll(const StepContext& c, Thresholds t) const;
  // Notes kind_.stuck. Returns what that is.
  Severity NoteStuck(const Series& s, Thresholds t);
  // Of what stands above the level; notes at_end_.
  Severity OfExcursion(const StepContext& c, Thresholds t);
  Severity OfOut(const StepContext& c, Thresholds t);
  bool StandsOutWithNorm(const StepContext& c);
  Severity Judge(const StepContext& c, bool was_up, Thresholds t);
  std::string SayStuck(Tense tense) const;

  Episode episode_;
  ScaleFall fall_;
  Jump jump_;  // of the newest excursion
  Jump told_;  // of the episode's worst
  Kind kind_;
  Severity at_end_ = Severity::kNone;  // if no record follows
  bool falls_ = false;                 // the finding is about fall_
  bool to_end_ = false;                // it was high when all was over
  bool returns_ = false;
  bool back_ = true;  // the newest loss is at its level
  int16_t gap_ = 1;   // steps from the loss before; saturates
  // Records since one that stood out, or of a NaN that explains others.
  int16_t beside_norm_ = 0;
  int16_t exploded_ = 0;  // records in a row
  int32_t held_ = 0;
  int64_t overflows_ = 0;   // before the newest loss
  int64_t last_step_ = -1;  // with a loss; -1: none yet
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_SPIKE_H_
