// LayerContext: what a rule on layer-wise loss scales is given with a record of
// a rank: the range of scales that suits each layer, and the scale it has.

#ifndef NANWATCH_DETECT_LAYER_CONTEXT_H_
#define NANWATCH_DETECT_LAYER_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "model/run.h"
#include "model/step.h"
#include "scaler/layer_range.h"

namespace nanwatch {

// Returns the name of an op of the rank.
using OpNameOf = std::function<std::string_view(uint32_t op)>;

// How the gradient of a weight moves with its layer's scale. Both are changes
// from one attempt to the next in bits: of the scale, and of the gradient
// against that of the layer's output without its scale.
struct LayerSlope {
  uint32_t op = 0;         // the weight
  uint32_t changes = 0;    // of the scale
  float scale_square = 0;  // sums over these changes
  float product = 0;
  float gradient_square = 0;
};

// OnLayers: one record of a rank whose layers have scales of their own.
struct LayerContext {
  const RunDescription& run;
  const StepRecord& record;
  std::span<const LayerRange> ranges;  // by op
  std::span<const LayerSlope> slopes;  // by op
  const OpNameOf& name;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LAYER_CONTEXT_H_
