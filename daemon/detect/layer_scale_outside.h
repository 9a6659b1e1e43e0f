// Rule 66, layer_scale_outside: the loss scale of a layer stays outside the
// range that suits its gradients, or at a bound that keeps it there.

#ifndef NANWATCH_DETECT_LAYER_SCALE_OUTSIDE_H_
#define NANWATCH_DETECT_LAYER_SCALE_OUTSIDE_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/layer_context.h"
#include "detect/worst_layer.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LayerScaleOutside {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kHold, kShare, kHarm, kClear };

  Severity OnLayers(const LayerContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  WorstLayer worst_;
  double bound_ = 0;  // the scaler's, that it is at; 0: it is at none
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LAYER_SCALE_OUTSIDE_H_
