// Rule 28, gnorm_explosion: the gradient norm is an order of magnitude above
// everything healthy, or non-finite although the update was applied, or so
// large that fp32 does not hold its square: updates stand still, then. Norms
// that stay far above are never healthy.

#ifndef NANWATCH_DETECT_GNORM_EXPLOSION_H_
#define NANWATCH_DETECT_GNORM_EXPLOSION_H_

#include <cstdint>

#include "detect/block_maximum.h"
#include "detect/context.h"
#include "detect/episode.h"
#include "detect/streak.h"
#include "detect/survival.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class GnormExplosion {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kGradNorm);
  enum Threshold {
    kMaxRatio,
    kMinSamples,
    kAverageRatio,
    kCriticalHold,
    kNonfiniteHold,
    kClear,
    kCriticalSteps,
    kLostRatio,
    kHold
  };

  Severity OnStep(const StepContext& c, Thresholds t);
  Severity OnEnd(Thresholds t);
  void Describe(Finding* finding) const;
  bool Warns() const { return episode_.severity() >= Severity::kWarning; }
  // Of the newest norm: it is finite, and far above all healthy ones.
  bool IsUp() const { return far_.records() > 0; }

 private:
  // A norm that is no number, or whose square is none. `hold`: records in a row
  // that are enough where nobody says that the update was `applied`.
  Severity OnNoNumber(const StepContext& c, double norm, bool applied,
                      double hold);
  bool Explodes(const Series& s, Thresholds t) const;

  Episode episode_;
  BlockMaximum<16, 8> healthy_;
  double norm_ = 0;
  Streak far_;        // norms far above all
  Streak no_number_;  // records with norms that are none
  float limit_ = 0;
  int32_t samples_ = 0;
  int32_t beside_loss_ = 0;  // records left for the loss to move after one
  bool wide_ = false;  // norm_ is finite, and its square no number of fp32
  Fate told_fate_ = Fate::kUnknown;  // of the newest that is no number
  Survival survival_;                // of that row
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_GNORM_EXPLOSION_H_
