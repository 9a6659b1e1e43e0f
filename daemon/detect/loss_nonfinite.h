// Rule 15, loss_nonfinite: the loss is NaN or infinite. Critical when its
// record says that the update was applied, or when it happens twice in a row; a
// single one is a warning, and during calibration a note.
// In saturation mode a finite loss proves nothing, so this rule says nothing
// there.

// A loss that grows a millionfold, record by record, is on its way there, and
// critical as soon as that is seen.

#ifndef NANWATCH_DETECT_LOSS_NONFINITE_H_
#define NANWATCH_DETECT_LOSS_NONFINITE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/survival.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LossNonfinite {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kLoss);
  enum Threshold { kCriticalStreak, kClear, kZeros };

  Severity OnStep(const StepContext& c, Thresholds t);
  Severity OnEnd(Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Severity LookAtLoss(const StepContext& c, Thresholds t);
  Severity LookAtZeros(const StepContext& c, Thresholds t);
  void FollowGrowth(double loss);
  bool HasGrown() const;

  // Losses that became exactly 0.
  struct Zeros {
    Episode episode;
    double last_loss = 0;  // the newest finite one that was not 0
    int32_t held = 0;      // records in a row since
    int64_t from = 0;      // step of the first of them
  };

  float base_ = 0;      // the largest of the first losses
  float grown_to_ = 0;  // the newest finite one
  int8_t firsts_ = 0;   // losses that base_ stands on
  int8_t above_ = 0;    // finite losses in a row far above it; held by NaN
  Zeros zeros_;
  Episode episode_;
  double loss_ = 0;
  int64_t streak_ = 0;
  int64_t newest_row_ = 0;           // as streak_, but finite losses keep it
  int64_t newest_step_ = 0;          // of that row
  Survival survival_;                // of that row
  int32_t often_ = 0;                // losses of the episode; saturates
  bool survived_ = false;            // one before
  Fate fate_ = Fate::kUnknown;       // of the newest, as is to be feared
  Fate told_fate_ = Fate::kUnknown;  // as its record says
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_NONFINITE_H_
