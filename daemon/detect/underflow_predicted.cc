#include "detect/underflow_predicted.h"

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"share", 0.10, 0.001, 1, "of the tensors", "ours, after AdaLoss"},
    {"headroom", 4, 0, 40, "bits", "ours: growth needs two or three"},
    {"hold", 20, 1, 100000, "updates", "ours"},
    {"clear_share", 0.05, 0, 1, "of the tensors", "ours"},
    {"clear_after", 50, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec UnderflowPredicted::kSpec = {
    RuleId::kUnderflowPredicted,
    "underflow_predicted",
    Family::kGradient,
    "The loss scale is lower than it needs to be, and small gradients are lost "
    "for it.",
    "At hold updates in a row more than share of the gradient tensors in fp16 "
    "lose over 1 in 1000 elements (AdaLoss's n_uf; by their exponents, or a "
    "normal or log-normal fit), and the largest value is headroom below the "
    "overflow. For information while the scaler is going to grow by itself.",
    "clear_share or less, or two bits less headroom, for clear_after updates.",
    kThresholds,
    "It is for information while a dynamic scaler is going to grow by "
    "itself."};

Severity UnderflowPredicted::OnStep(const StepContext& c, Thresholds t) {
  if (c.gradients == nullptr || c.scaler.in_grace() ||
      c.scaler.fate() == Fate::kLost) {
    return episode_.severity();
  }
  // What layers lose at scales of their own is layer_underflow's.
  if (c.layers != nullptr) {
    held_ = 0;
    return episode_.On(Severity::kNone, true, c.record.step, t[kClear]);
  }
  const GradientRange& range = c.gradients->range;
  const auto headroom = range.headroom();
  if (!headroom || range.bounded() == 0) return episode_.severity();
  const uint32_t losing = range.Losing(0);
  const double share = static_cast<double>(losing) / range.bounded();
  Severity trigger = Severity::kNone;
  if (share > t[kShare] && *headroom > t[kHeadroom]) {
    ++held_;
    losing_ = losing;
    bounded_ = range.bounded();
    lowest_.Set(c.lowest_name);
    advice_ = AdviceFrom(c);
    if (held_ >= t[kHold]) {
      trigger = c.scaler.dynamic() ? Severity::kInfo : Severity::kWarning;
    }
  } else {
    held_ = 0;
  }
  const bool clean = share <= t[kClearShare] || *headroom < t[kHeadroom] - 2;
  return episode_.On(trigger, clean, c.record.step, t[kClear]);
}

void UnderflowPredicted::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence = Sentence(
      losing_, " of ", bounded_,
      " gradient tensors lose more than 1 in 1000 elements to underflow, ",
      lowest_.get(), " most.");
  finding->numbers = {{"losing", static_cast<double>(losing_), "tensors"},
                      {"tensors", static_cast<double>(bounded_), "tensors"}};
  Say(advice_, finding);
}

}  // namespace nanwatch
