// Rule 75, data_from_start: a restart trains on the run's first batches once
// more, so that it sees some of the data twice and others never.

#ifndef NANWATCH_DETECT_DATA_FROM_START_H_
#define NANWATCH_DETECT_DATA_FROM_START_H_

#include "detect/context.h"
#include "model/finding.h"
#include "model/first_batches.h"
#include "model/rule.h"

namespace nanwatch {

class DataFromStart {
 public:
  static const RuleSpec kSpec;

  Severity OnTime(const TimeContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  DataAgain again_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_DATA_FROM_START_H_
