// Rule 64, loss_impossible: a cross-entropy is below 0, where none can be; a
// loss falls below 0 ever faster; or it is huge from the first record on.

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
    return !began_ || episode_.held() > 0 || episode_.open();
  }
  void Describe(Finding* finding) const;

 private:
  // What the finding is about.
  enum class About : uint8_t { kBelow, kRunsAway, kHuge };

  bool RunsAway(double loss, Thresholds t);

  HeldEpisode episode_;
  Course course_;     // of losses below 0, and those between
  double loss_ = 0;   // the newest such
  float first_ = 0;   // the size of the first loss
  int32_t runs_ = 0;  // records in a row that run away, the newest among them
  float guess_ = 0;   // what guessing costs (LossOfClasses)
  About about_ = About::kBelow;
  bool began_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_IMPOSSIBLE_H_
