// Rule 64, loss_impossible: a cross-entropy is below 0, where none can be; a
// loss falls below 0 ever faster, or stands at -1, as a cosine does where all
// outputs are the same; or it is huge in the first record, or from it on.

#ifndef NANWATCH_DETECT_LOSS_IMPOSSIBLE_H_
#define NANWATCH_DETECT_LOSS_IMPOSSIBLE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/course.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LossImpossible {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kNegativeLossBit;
  static constexpr bool kOfOneLoss = true;
  enum Threshold { kBelow, kHold, kClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  bool Waits() const {
    return records_ < 2 || episode_.held() > 0 || episode_.open();
  }
  void Describe(Finding* finding) const;

 private:
  // What the finding is about.
  enum class About : uint8_t { kBelow, kRunsAway, kAtBound, kHuge, kFirst };

  // A first mean of an epoch, far above the second.
  bool FirstStandsOut(const StepContext& c, double loss) const;
  bool RunsAway(double loss, Thresholds t);
  bool StandsAtBound(double loss);

  HeldEpisode episode_;
  Course course_;     // of losses below 0 in a row
  double loss_ = 0;   // the newest such
  float first_ = 0;   // the size of the first loss
  int32_t runs_ = 0;  // records in a row that run away, the newest among them
  int64_t first_step_ = 0;
  About about_ = About::kBelow;
  int8_t records_ = 0;  // with a loss, up to 3
  int16_t bound_ = 0;   // as runs_, at the bound; saturates
  float guess_ = 0;     // what guessing costs (LossOfClasses)
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_IMPOSSIBLE_H_
