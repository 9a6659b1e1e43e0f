// Rule 55, metric_absent_as_zero: a gradient norm that is exactly 0 from the
// beginning while the loss moves was not collected, or is printed with too few
// digits; rules on gradients then see nothing. A norm that was once another
// number and is 0 now is a gradient that vanished, which others speak of.

#ifndef NANWATCH_DETECT_METRIC_ABSENT_AS_ZERO_H_
#define NANWATCH_DETECT_METRIC_ABSENT_AS_ZERO_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class MetricAbsentAsZero {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = Bit(StepField::kGradNorm);
  enum Threshold { kHold };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  double loss_ = 0;
  int32_t zeros_ = 0;       // updates with such a norm and another loss
  bool collected_ = false;  // a norm other than 0, or who saw that it is
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_METRIC_ABSENT_AS_ZERO_H_
