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

namespace nanwatch {

class ScoreLost {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kLostShare, kBlown, kHold };

  Severity OnTime(const TimeContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  // Of a score or of an evaluation's loss, as the run's settings tell it:
  // values in a row that are far from the best.
  struct Course {
    int64_t since = 0;   // step of the first of them
    int64_t low = 0;     // of them
    int64_t values = 0;  // in all
    int64_t above = 0;   // nearer to the best, before
    double first = 0;
    double best = 0;
    double stands = 0;
    double noise = 0;    // from value to value
    double wander = 0;   // there and back, before and since
    bool ended = false;  // none follows
  };
  // Returns a course without low values where the setting tells none.
  static Course Read(const RunDescription& run, const char* name);
  static bool IsLost(const Course& score, Thresholds t);
  static Severity OfEvaluation(const Course& evaluation, Thresholds t);
  static bool AreUnused(const Course& latents);

  // What told_ is of.
  enum class About : uint8_t { kScore, kEvaluation, kLatents };

  Course told_;
  About about_ = About::kScore;
  int64_t step_ = 0;  // the newest of the run
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCORE_LOST_H_
