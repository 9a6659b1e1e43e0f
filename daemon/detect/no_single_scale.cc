#include "detect/no_single_scale.h"

#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"share", 0.10, 0.001, 1, "of the tensors",
     "ours: one small tensor in a hundred does no harm"},
    {"gap", 2, 0, 40, "bits", "ours: the bounds are fits"},
    {"hold", 50, 1, 100000, "updates", "ours, after AdaLoss's bounds"},
    {"clear_after", 200, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec NoSingleScale::kSpec = {
    RuleId::kNoSingleScale,
    "no_single_scale",
    Family::kGradient,
    "No single loss scale suits all layers.",
    "At `hold` updates in a row, a share of `share` of the gradient tensors "
    "in fp16 would still lose over 1 in 1000 elements at the highest scale "
    "that does not overflow, and at scales up to `gap` bits above it.",
    "Not so for `clear_after` updates.",
    kThresholds,
    "It warns from a tenth of the tensors and two bits on: one small tensor "
    "of a hundred does no harm, and the bounds are fits."};

Severity NoSingleScale::OnStep(const StepContext& c, Thresholds t) {
  if (c.gradients == nullptr || c.scaler.in_grace() ||
      c.scaler.fate() == Fate::kLost) {
    return episode_.severity();
  }
  // Layers that have scales of their own need no single one.
  if (c.layers != nullptr) {
    held_ = 0;
    return episode_.On(Severity::kNone, true, c.record.step, t[kClear]);
  }
  const GradientRange& range = c.gradients->range;
  const auto headroom = range.headroom();
  if (!headroom || range.bounded() < 2) return episode_.severity();
  const auto highest = static_cast<int32_t>(std::floor(*headroom + t[kGap]));
  const uint32_t losing = range.Losing(highest);
  if (losing < t[kShare] * range.bounded()) {
    held_ = 0;
    return episode_.On(Severity::kNone, true, c.record.step, t[kClear]);
  }
  losing_ = losing;
  bounded_ = range.bounded();
  gap_ = range.lowest() - *headroom;
  lowest_.Set(c.lowest_name);
  largest_.Set(c.largest_name);
  advice_ = AdviceFrom(c);
  const Severity trigger =
      ++held_ >= t[kHold] ? Severity::kWarning : Severity::kNone;
  return episode_.On(trigger, false, c.record.step, 1);
}

void NoSingleScale::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence("No loss scale suits all layers: ", losing_, " of ", bounded_,
               " gradient tensors underflow at the highest scale that does not "
               "overflow; ",
               lowest_.get(), " needs one ", std::round(10 * gap_) / 10,
               " bits above what ", largest_.get(), " bears.");
  finding->numbers = {{"losing", static_cast<double>(losing_), "tensors"},
                      {"tensors", static_cast<double>(bounded_), "tensors"},
                      {"gap", gap_, "bits"}};
  if (advice_.known) {
    finding->numbers.push_back({"headroom", advice_.headroom, "bits"});
  }
}

}  // namespace nanwatch
