#include "detect/layer_scale_outside.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "scaler/log2.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"hold", 50, 1, 255, "attempts", "ours: as long as no_single_scale"},
    {"share", 0.01, 0.0001, 1, "of the elements", "as of layer_underflow"},
    {"harm", 0.001, 1e-9, 1, "of the sum of squares", "as of layer_underflow"},
    {"clear_after", 50, 1, 100000, "records", "ours"},
};

// Bits by which a scale is outside; 0: it is not, or not for so long, or loses
// too little for it.
double Outside(const LayerRange& layer, Thresholds t) {
  const auto scale = layer.own_scale();
  if (!scale) return 0;
  const double hold = t[LayerScaleOutside::kHold];
  if (layer.below() >= hold && layer.low() &&
      layer.lost() > t[LayerScaleOutside::kShare]) {
    return *layer.low() - *scale;
  }
  if (layer.above() >= hold && layer.high()) return *scale - *layer.high();
  return 0;
}

// The bound of the scaler that keeps a layer's scale where it is; 0: none does.
double BoundOf(const LayerRange& layer, const ScalerDeclaration& scaler) {
  const bool below = layer.below() > 0;
  const double bound =
      (below ? scaler.max_scale : scaler.min_scale).value_or(0);
  if (!(bound > 0) || !std::isfinite(bound)) return 0;
  const double scale = layer.own_scale().value_or(0);
  const double at = ExactLog2(bound);
  return (below ? scale >= at : scale <= at) ? bound : 0;
}

}  // namespace

constinit const RuleSpec LayerScaleOutside::kSpec = {
    RuleId::kLayerScaleOutside,
    "layer_scale_outside",
    Family::kScale,
    "The loss scale of a layer does not suit its gradients, and stays so.",
    "For hold attempts in a row the scale of a layer is more than a bit below "
    "what 9 of 10 attempts need, and it loses more than share of its elements; "
    "or above what 9 of 10 bear (half the largest number). For information "
    "where the squares of what is lost are at most harm of the sum of all, and "
    "the scaler's declared max_scale or min_scale does not keep it there.",
    "No layer is so for clear_after records with layer-wise scales.",
    kThresholds};

Severity LayerScaleOutside::OnLayers(const LayerContext& c, Thresholds t) {
  WorstLayer worst;
  Severity trigger = Severity::kNone;
  for (const LayerRange& layer : c.ranges) {
    const double outside = Outside(layer, t);
    if (outside <= 0) continue;
    worst.Add(layer, outside);
    const bool harms = layer.above() >= t[kHold] || layer.harm() > t[kHarm] ||
                       BoundOf(layer, c.run.scaler) > 0;
    trigger = std::max(trigger, harms ? Severity::kWarning : Severity::kInfo);
  }
  if (worst.count() > 0) {
    worst.Name(c.name);
    worst_ = worst;
    bound_ = BoundOf(worst.range(), c.run.scaler);
  }
  return episode_.On(trigger, worst.count() == 0, c.record.step, t[kClear]);
}

void LayerScaleOutside::Describe(Finding* finding) const {
  episode_.Describe(finding);
  const LayerRange& layer = worst_.range();
  const double scale = layer.own_scale().value_or(0);
  const double low = layer.low().value_or(scale);
  const double high = layer.high().value_or(scale);
  const bool below = layer.below() > 0;
  finding->sentence =
      Sentence("The ", worst_.scale(), " of the layer ", worst_.name(), ", ",
               PowerText(scale), ", is ", below ? "below the " : "above the ",
               below ? LeastPowerText(low) : PowerText(std::floor(high)),
               below ? " that its gradients need" : " that its gradients bear",
               worst_.Others("is outside its range", "are outside theirs"));
  finding->sentence +=
      bound_ > 0
          ? Sentence(": it stands at the scaler's bound of ", bound_,
                     ", and the layer ", below ? "needs more." : "bears less.")
          : std::string(".");
  if (low > high) {
    finding->sentence +=
        " No scale suits it: its gradients span more than the format does.";
  }
  if (bound_ > 0) {
    finding->numbers.push_back({below ? "max_scale" : "min_scale", bound_, ""});
  }
  worst_.Describe(finding);
}

}  // namespace nanwatch
