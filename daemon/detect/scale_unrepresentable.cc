#include "detect/scale_unrepresentable.h"

#include <algorithm>
#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"smallest", 0x1p-126, 0, 1, "scale",
     "the fp32 reciprocal is infinite below 2.94e-39, products are subnormal "
     "below 2^-126"},
    {"rounded", 0x1p-100, 0, 1, "scale",
     "ours: logs print 0 for a scale below 0.05 or 0.5"},
    {"layers_clear_after", 50, 1, 100000, "records", "ours"},
};

constexpr int64_t kSameTrouble = 20;  // steps; ours

}  // namespace

constinit const RuleSpec ScaleUnrepresentable::kSpec = {
    RuleId::kScaleUnrepresentable,
    "scale_unrepresentable",
    Family::kScale,
    "The loss scale is no usable number, so every scaled gradient is 0 or "
    "non-finite.",
    "The scale is 0, negative, NaN, infinite or below smallest; only a warning "
    "for a 0 right after a scale above rounded, without an overflow, where no "
    "scaler is declared. The scale of each layer is judged in the "
    "same way.",
    "Never within an attempt: restart with a fresh scaler. The warning: a "
    "usable scale. Of layers: usable ones in layers_clear_after records.",
    kThresholds,
    "A 0 alone is a warning, since logs print 0 for a scale below their "
    "last digit. A dynamic scale that fell to 0 and stays there is "
    "critical. The lowest of layer-wise scales is judged too, and its op is "
    "named."};

void ScaleUnrepresentable::LookAtLayers(const StepContext& c, Thresholds t) {
  const double lowest = c.layers->of.lowest;
  const bool usable = lowest >= t[kSmallest] && std::isfinite(lowest);
  layers_.On(usable ? Severity::kNone : Severity::kCritical, usable, *c.layers,
             c.record.step, t[kLayersClear]);
}

Severity ScaleUnrepresentable::OnStep(const StepContext& c, Thresholds t) {
  if (c.layers != nullptr) LookAtLayers(c, t);
  return std::max(LookAtScale(c, t), layers_.severity());
}

Severity ScaleUnrepresentable::LookAtScale(const StepContext& c, Thresholds t) {
  if (!c.record.has(StepField::kLossScale)) return episode_.severity();
  const double scale = c.record[StepField::kLossScale];
  if (scale >= t[kSmallest] && !std::isinf(scale)) {
    last_usable_ = scale;
    zero_step_ = -1;
    // A 0 that was only printed so is over.
    if (episode_.severity() != Severity::kWarning) return episode_.severity();
    return episode_.On(Severity::kNone, true, c.record.step, 1);
  }
  if (last_usable_ == 0) {
    // A placeholder in place of a number that the program does not know.
    if (scale == -1) return episode_.severity();
    const bool scaled = c.scaler.dynamic() || c.scaler.overflowed();
    if (scale == 0 && !scaled) {
      const bool nan = c.record.has(StepField::kLoss) &&
                       !std::isfinite(c.record[StepField::kLoss]);
      const bool good = c.record.is_not(StepFlag::kOverflow) && !nan;
      if (zero_step_ < 0 && !good) zero_step_ = c.record.step;
      return episode_.severity();
    }
  }
  const bool opens = !episode_.open();
  if (opens) scale_ = scale;
  if (scale == 0 && zero_step_ < 0) zero_step_ = c.record.step;
  // No scaler steps from there to 0: a log with too few digits. Who declares
  // its scaler hands over the number itself.
  const bool printed = c.run.scaler.kind == ScalingKind::kUnknown &&
                       scale == 0 && last_usable_ > t[kRounded] &&
                       !c.scaler.overflowed();
  const Severity now =
      episode_.On(printed ? Severity::kWarning : Severity::kCritical, false,
                  c.record.step, 1);
  // A 0 just before was one already, though it might have been a placeholder.
  if (opens && last_usable_ == 0 && zero_step_ >= 0 &&
      c.record.step - zero_step_ <= kSameTrouble) {
    episode_.OpenedAt(zero_step_);
  }
  return now;
}

void ScaleUnrepresentable::Describe(Finding* finding) const {
  if (layers_.severity() > episode_.severity()) {
    layers_.Describe(finding);
    finding->sentence = Sentence(
        "The loss scale of the layer ", layers_.name(), " became ",
        layers_.scale(), " at step ", finding->opened_step,
        ": none of its gradients survives, and the layer learns nothing.");
    return;
  }
  episode_.Describe(finding);
  const std::string zero =
      scale_ != 0 && zero_step_ >= 0
          ? Sentence(", and fell below the smallest float, to 0, at step ",
                     zero_step_)
          : "";
  const std::string usable =
      last_usable_ > 0
          ? Sentence(" (the last usable one was ", last_usable_, ")")
          : "";
  finding->SayBoth([&](Tense tense) {
    return Sentence(
        "The loss scale ",
        last_usable_ > 0 ? "became " : In(tense, "is ", "was "), scale_,
        last_usable_ > 0 ? " at step " : " since step ", finding->opened_step,
        zero, ", which no gradient survives", usable,
        episode_.severity() == Severity::kWarning
            ? "; or the log has too few digits for it, and it is far below 1."
            : ": restart with a fresh scaler.");
  });
  finding->numbers = {{"scale", scale_, ""},
                      {"last_usable_scale", last_usable_, ""}};
}

}  // namespace nanwatch
