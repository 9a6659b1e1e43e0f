// Rule 54, telemetry_gap: records are missing: a client dropped some, a rank is
// lost while others go on, or fewer ranks ever opened than the run has. A run
// that reports from some of its ranks only declares so many as its world size.

#ifndef NANWATCH_DETECT_TELEMETRY_GAP_H_
#define NANWATCH_DETECT_TELEMETRY_GAP_H_

#include "detect/context.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class TelemetryGap {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kLostFor, kClear };

  Severity OnTime(const TimeContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Severity severity_ = Severity::kNone;
  Time last_trouble_{};
  uint64_t known_dropped_ = 0;
  uint64_t dropped_steps_ = 0;  // in this episode
  uint64_t dropped_ops_ = 0;
  uint64_t base_steps_ = 0;
  uint64_t base_ops_ = 0;
  int32_t lost_ = 0;
  int32_t lost_rank_ = -1;
  int32_t never_opened_ = 0;  // ranks
  int32_t world_size_ = 0;
  bool guessed_ = false;  // the run id
  int64_t opened_step_ = 0;
  int64_t last_step_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_TELEMETRY_GAP_H_
