// Rule 3, scale_unrepresentable: the loss scale is 0, negative, NaN, infinite,
// or so small that its fp32 reciprocal is infinite. Some logs print -1 or 0 for
// "not known" from the first record on; that is no finding. A scaler of layer-
// wise scales chooses them anew, and may recover.

#ifndef NANWATCH_DETECT_SCALE_UNREPRESENTABLE_H_
#define NANWATCH_DETECT_SCALE_UNREPRESENTABLE_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/layer_episode.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class ScaleUnrepresentable {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kUnsteadyBit | kLayersBit;
  enum Threshold { kSmallest, kRounded, kLayersClear };

  Severity OnStep(const StepContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  void LookAtLayers(const StepContext& c, Thresholds t);
  Severity LookAtScale(const StepContext& c, Thresholds t);

  Episode episode_;
  LayerEpisode layers_;
  double scale_ = 0;
  double last_usable_ = 0;
  int64_t zero_step_ = -1;  // the first with a scale of 0 since; -1: none
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_SCALE_UNREPRESENTABLE_H_
