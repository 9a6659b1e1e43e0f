// Rule 65, layer_underflow: a layer loses gradients at the loss scale that it
// has, and could bear a higher one.

#ifndef NANWATCH_DETECT_LAYER_UNDERFLOW_H_
#define NANWATCH_DETECT_LAYER_UNDERFLOW_H_

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/layer_context.h"
#include "detect/worst_layer.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LayerUnderflow {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kShare, kHarm, kRoom, kHold, kClear };

  Severity OnLayers(const LayerContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  WorstLayer worst_;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LAYER_UNDERFLOW_H_
