// OpEpisode: as Episode, for rules on ops. Statuses of clean ops need not
// travel at every step, so it clears by the updates since the last bad status,
// not by the number of clean ones.

#ifndef NANWATCH_DETECT_OP_EPISODE_H_
#define NANWATCH_DETECT_OP_EPISODE_H_

#include <algorithm>
#include <cstdint>

#include "model/finding.h"
#include "model/severity.h"

namespace nanwatch {

// Trivially copyable: a member of a rule.
class OpEpisode {
 public:
  // A status of `step`, the rank's update number `update`. A trigger
  // opens the episode or makes it worse. It ends at the first status that is
  // not bad, at least `clear_after` updates after the last one that was.
  Severity On(Severity trigger, bool bad, int64_t update, int64_t step,
              double clear_after) {
    if (trigger != Severity::kNone) {
      if (severity_ == Severity::kNone) opened_ = step;
      severity_ = std::max(severity_, trigger);
    }
    if (severity_ == Severity::kNone) return severity_;
    if (bad || trigger != Severity::kNone) {
      last_ = step;
      last_bad_ = update;
    } else if (static_cast<double>(update - last_bad_) >= clear_after) {
      severity_ = Severity::kNone;
    }
    return severity_;
  }

  Severity severity() const { return severity_; }
  bool open() const { return severity_ != Severity::kNone; }
  void Describe(Finding* finding) const {
    finding->opened_step = opened_;
    finding->last_step = last_;
  }

 private:
  int64_t opened_ = 0;
  int64_t last_ = 0;  // step of the last bad one
  int64_t last_bad_ = 0;
  Severity severity_ = Severity::kNone;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_OP_EPISODE_H_
