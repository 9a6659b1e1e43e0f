// Rule 72, layer_without_gradient: a log shows the gradient norms of layers,
// and that of one is exactly 0 where the others' are not.

#ifndef NANWATCH_DETECT_LAYER_WITHOUT_GRADIENT_H_
#define NANWATCH_DETECT_LAYER_WITHOUT_GRADIENT_H_

#include "detect/context.h"
#include "detect/told_since.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LayerWithoutGradient {
 public:
  static const RuleSpec kSpec;

  Severity OnTime(const TimeContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  ToldSince told_;
  OpNameText name_;
  bool had_ = false;  // a gradient, before
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LAYER_WITHOUT_GRADIENT_H_
