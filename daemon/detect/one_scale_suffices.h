// Rule 67, one_scale_suffices: layers have loss scales of their own, and one
// scale would suit them all.

#ifndef NANWATCH_DETECT_ONE_SCALE_SUFFICES_H_
#define NANWATCH_DETECT_ONE_SCALE_SUFFICES_H_

#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/layer_context.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class OneScaleSuffices {
 public:
  static const RuleSpec kSpec;
  enum Threshold { kRoom, kHold, kClear };

  Severity OnLayers(const LayerContext& c, Thresholds t);
  void Describe(Finding* finding) const;

 private:
  HeldEpisode episode_;
  uint32_t layers_ = 0;
  double low_ = 0;   // log2 of what all need
  double high_ = 0;  // log2 of what all bear
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_ONE_SCALE_SUFFICES_H_
