// Rule 68, layer_not_unscaled: the gradient of a weight still has its layer's
// loss scale on it when it goes to the optimizer.

#ifndef NANWATCH_DETECT_LAYER_NOT_UNSCALED_H_
#define NANWATCH_DETECT_LAYER_NOT_UNSCALED_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/layer_context.h"
#include "detect/op_name_text.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LayerNotUnscaled {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kMoved, kChanges, kJump, kCorrelation, kSlope, kClear };

  Severity OnLayers(const LayerContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  Episode episode_;
  OpNameText name_{};
  double correlation_ = 0;
  double slope_ = 0;
  uint32_t changes_ = 0;
  uint32_t count_ = 0;  // weights
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LAYER_NOT_UNSCALED_H_
