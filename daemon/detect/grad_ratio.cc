#include "detect/grad_ratio.h"

#include <cmath>

#include "detect/float_log2.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"explode", 70, 2, 1e9, "ratio", "AutoTrainer: 70, of the usual here"},
    {"vanish", 1000, 2, 1e9, "ratio", "AutoTrainer: 1e-3, of the usual here"},
    {"min_samples", 64, 16, 128, "updates", "ours"},
    {"hold", 20, 1, 100000, "updates", "ours: a bad batch is no change"},
    {"clear_after", 50, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec GradRatio::kSpec = {
    RuleId::kGradRatio,
    "grad_ratio",
    Family::kGradient,
    "Gradients explode or vanish on their way back through the layers.",
    "The gradient at the first op over that at the last is, at `hold` updates "
    "in a row, `explode` times what is usual for this run, or `vanish` times "
    "less, from `min_samples` updates on. By itself the ratio depends on "
    "which ops are observed.",
    "Neither for `clear_after` updates, or the new ratio stays for 256.",
    kThresholds,
    "Absolute thresholds depend on which ops are observed. So the ratio is "
    "held against the run's own level, which may drift."};

Severity GradRatio::OnStep(const StepContext& c, Thresholds t) {
  const StepGradients* const g = c.gradients;
  if (g == nullptr || g->first_order < 0 || g->first_order == g->last_order) {
    return episode_.severity();
  }
  if (c.scaler.fate() == Fate::kLost || c.scaler.in_grace()) {
    return episode_.severity();
  }
  if (g->first_order != first_order_ || g->last_order != last_order_) {
    usual_ = {};  // other ops are observed now
    held_ = 0;
    first_order_ = g->first_order;
    last_order_ = g->last_order;
  }
  const float ratio = g->first_rms / g->last_rms;
  if (!(ratio > 0) || std::isinf(ratio)) return episode_.severity();
  const float log2 = Log2(ratio);
  bool odd = false;
  if (usual_.values() >= t[kMinSamples]) {
    const float away = log2 - usual_.at();
    odd = away > Log2(static_cast<float>(t[kExplode])) ||
          away < -Log2(static_cast<float>(t[kVanish]));
  }
  if (!odd) {
    usual_.Add(log2);
    held_ = 0;
    return episode_.On(Severity::kNone, true, c.record.step, t[kClear]);
  }
  ratio_ = ratio;
  usual_ratio_ = std::exp2(usual_.at());
  usual_.Reject();
  const Severity trigger =
      ++held_ >= t[kHold] ? Severity::kWarning : Severity::kNone;
  return episode_.On(trigger, false, c.record.step, 1);
}

void GradRatio::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence = Sentence("The gradient at the first op is ", ratio_,
                               " times that at the last; ", usual_ratio_,
                               " was usual: gradients ",
                               ratio_ > usual_ratio_ ? "explode" : "vanish",
                               " on their way back through the layers.");
  finding->numbers = {{"ratio", ratio_, "ratio"},
                      {"usual", usual_ratio_, "ratio"}};
}

}  // namespace nanwatch
