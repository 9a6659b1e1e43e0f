// Rule 74, score_lost: what the training is measured by, beside its loss, is
// lost: a return or an accuracy that rose and fell back to where it began, the
// loss of an evaluation that blew up; or an autoencoder's latents came to say
// nothing.

#ifndef NANWATCH_DETECT_SCORE_LOST_H_
#define NANWATCH_DETECT_SCORE_LOST_H_

#include <cstdint>

#include "detect/context.h"
#include "model/finding.h"
#include "model/rule.h"
#include "model/score_row.h"

namespace nanwatch {

class ScoreLost {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kLostShare, kBlown, kHold };

  Severity OnTime(const TimeContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  static bool IsLost(const ScoreRow& score, Thresholds t);
  static Severity OfEvaluation(const ScoreRow& evaluation, Thresholds t);
  static bool AreUnused(const ScoreRow& latents);

  // What told_ is of.
  enum class About : uint8_t { kScore, kEvaluation, kLatents };

  ScoreRow told_;
  About about_ = About::kScore;
  int64_t step_ = 0;  // the newest of the run
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCORE_LOST_H_
