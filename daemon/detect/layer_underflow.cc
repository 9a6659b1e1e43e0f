#include "detect/layer_underflow.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"share", 0.01, 0.0001, 1, "of the elements",
     "ours: ten times AdaLoss's n_uf"},
    {"harm", 0.001, 1e-9, 1, "of the sum of squares",
     "ours: many small elements beside large ones do none"},
    {"room", 2, 0, 40, "bits", "ours: a power of two, and one to spare"},
    {"hold", 20, 1, 100000, "attempts", "ours"},
    {"clear_after", 50, 1, 100000, "records", "ours"},
};

}  // namespace

constinit const RuleSpec LayerUnderflow::kSpec = {
    RuleId::kLayerUnderflow,
    "layer_underflow",
    Family::kGradient,
    "A layer loses gradients at its own loss scale, and could bear a higher "
    "one.",
    "After hold attempts a layer with a scale of its own loses more than share "
    "of its gradient elements (by counted exponents, or a fit to what is "
    "left), needs a higher scale than it has, and its largest gradient leaves "
    "room above that. For information where the squares of what is lost are "
    "at most harm of the sum of all.",
    "No layer does for clear_after records with layer-wise scales.",
    kThresholds,
    "Zeros by themselves are not taken for lost: those of a ReLU's mask stay "
    "zeros at any scale. Many small elements that are lost beside large ones "
    "do no harm (scales after AdaLoss's formula lose some percent where "
    "gradients are not normal, and such trainings are as good): that is a "
    "note. So is what a batch loses whose gradients are all small beside the "
    "layer's usual ones: its samples are learned."};

Severity LayerUnderflow::OnLayers(const LayerContext& c, Thresholds t) {
  WorstLayer worst;
  for (const LayerRange& layer : c.ranges) {
    const auto scale = layer.own_scale();
    const auto low = layer.low();
    const auto high = layer.high();
    if (!scale || !low || !high || layer.attempts() < t[kHold]) continue;
    // What it lost at an earlier scale is over.
    if (layer.lost() <= t[kShare] || *scale >= *low) continue;
    if (*high - *scale < t[kRoom]) continue;
    // What does harm is worse than what does none.
    worst.Add(layer, layer.lost() + (layer.harm() > t[kHarm] ? 1 : 0));
  }
  Severity trigger = Severity::kNone;
  if (worst.count() > 0) {
    worst.Name(c.name);
    worst_ = worst;
    trigger =
        worst.range().harm() > t[kHarm] ? Severity::kWarning : Severity::kInfo;
  }
  return episode_.On(trigger, worst.count() == 0, c.record.step, t[kClear]);
}

void LayerUnderflow::Describe(Finding* finding) const {
  episode_.Describe(finding);
  const LayerRange& layer = worst_.range();
  const double lost = layer.lost();
  finding->sentence = Sentence(
      "The layer ", worst_.name(), " loses ",
      lost > 0.995 ? "all" : Sentence(std::round(1000 * lost) / 10, " %"),
      " of its gradient elements to underflow at its ", worst_.scale(), ", ",
      PowerText(layer.own_scale().value_or(0)), worst_.Others("does", "do"),
      ".");
  if (layer.low() && layer.high() && *layer.low() <= *layer.high()) {
    finding->sentence += Sentence(
        " Raise it to ", layer.sight() == Sight::kSeen ? "" : "at least ",
        LeastPowerText(*layer.low()), "; up to ",
        PowerText(std::floor(*layer.high())), " does not overflow.");
  }
  finding->numbers = {{"lost", lost, "fraction"}};
  worst_.Describe(finding);
}

}  // namespace nanwatch
