// Case: what a diagnosis is made of, beside the findings.

#ifndef NANWATCH_DIAGNOSE_CASE_H_
#define NANWATCH_DIAGNOSE_CASE_H_

#include <cstdint>

#include "diagnose/evidence.h"
#include "model/rule_thresholds.h"
#include "model/run.h"

namespace nanwatch {

// Thresholds of rules that causes ask for, as they are in force.
struct CauseThresholds {
  explicit CauseThresholds(const RuleThresholds& rules);

  uint64_t floor_streak;  // updates; overflows in a row at the floor
  double tiny_scale;      // no gradient overflows below it: it would be 10^7
  double collapse_ratio;  // of the scale that worked to the scale now
  int64_t streak;         // updates; overflows in a row that are no probing
  double scales_apart;    // ratio; that far lowered, a scale does not help
  double underflows;      // share of elements that tells of an underflow
  double vanishes;        // share of elements that makes it the trouble
  double headroom;        // bits above the largest gradient
};

struct Case {
  const RunDescription& run;
  const RunEvidence& evidence;
  const CauseThresholds at;
};

// True when something tells of a loss scaler, or the format may need one.
bool IsScaled(const Case& c);

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_CASE_H_
