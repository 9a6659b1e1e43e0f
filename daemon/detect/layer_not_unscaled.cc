#include "detect/layer_not_unscaled.h"

#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"moved", 8, 1, 10000, "bits squared",
     "ours: as 8 changes by a factor of 2, or 2 by 4"},
    {"changes", 3, 1, 10000, "changes", "ours: one may have another reason"},
    {"jump", 6, 1, 100, "bits",
     "ours: nothing else moves both by a factor of 64"},
    {"correlation", 0.9, 0.1, 1, "correlation", "ours"},
    {"slope", 0.75, 0.1, 1, "bits a bit",
     "ours: 0 in health, 1 where the scale stays on"},
    {"clear_after", 50, 1, 100000, "records", "ours"},
};

}  // namespace

constinit const RuleSpec LayerNotUnscaled::kSpec = {
    RuleId::kLayerNotUnscaled,
    "layer_not_unscaled",
    Family::kScale,
    "The gradient of a weight still has the loss scale of its layer on it.",
    "A weight's gradient, against that of its layer's output without its "
    "scale, moves with the layer's scale: over its changes, at least `changes` "
    "and together at least moved (each squared), or one of jump, with a slope "
    "of slope to 2 "
    "- slope and a correlation above `correlation`. Where nothing of the "
    "layer's output is told, the weight's gradient by itself.",
    "No weight does for clear_after records with layer-wise scales.",
    kThresholds};

Severity LayerNotUnscaled::OnLayers(const LayerContext& c, Thresholds t) {
  const LayerSlope* worst = nullptr;
  uint32_t count = 0;
  for (const LayerSlope& weight : c.slopes) {
    const bool several =
        weight.changes >= t[kChanges] && weight.scale_square >= t[kMoved];
    if (!several && weight.scale_square < t[kJump] * t[kJump]) continue;
    const double slope = weight.product / weight.scale_square;
    const double correlation =
        weight.product /
        std::sqrt(double{weight.scale_square} * weight.gradient_square);
    if (slope < t[kSlope] || slope > 2 - t[kSlope] ||
        correlation <= t[kCorrelation]) {
      continue;
    }
    ++count;
    if (worst != nullptr && weight.scale_square <= worst->scale_square) {
      continue;
    }
    worst = &weight;
    correlation_ = correlation;
    slope_ = slope;
  }
  if (worst != nullptr) {
    name_.Set(c.name(worst->op));
    changes_ = worst->changes;
    count_ = count;
  }
  return episode_.On(worst != nullptr ? Severity::kWarning : Severity::kNone,
                     worst == nullptr, c.record.step, t[kClear]);
}

void LayerNotUnscaled::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->subject.op = name_.get();
  finding->subject.slot = Slot::kGradInput;
  finding->sentence = Sentence(
      "The gradient of ", name_.get(),
      count_ > 1 ? Sentence(" (and of ", count_ - 1, " more)") : std::string(),
      " moves with its layer's loss scale, at ",
      changes_ == 1 ? std::string("a change") : Sentence(changes_, " changes"),
      " of it: it is not divided by the scale before the update.");
  finding->numbers = {{"changes", static_cast<double>(changes_), ""},
                      {"slope", slope_, ""},
                      {"correlation", correlation_, ""},
                      {"weights", static_cast<double>(count_), ""}};
}

}  // namespace nanwatch
