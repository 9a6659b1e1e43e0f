#include "detect/grad_vanishing.h"

#include <cmath>

#include "detect/float_log2.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

// The loss went with it: that is convergence.
constexpr double kConverged = 0.01;
// But not from here to exactly 0 from one record to the next: nothing entered
// that loss, all of its targets masked, or a filter hides a NaN.
constexpr double kGone = 0.1;

constexpr ThresholdSpec kThresholds[] = {
    {"ratio", 1e-3, 1e-12, 0.5, "of the usual norm",
     "ours: SageMaker's 1e-7 and MindInsight's 1e-9 a mean element would "
     "accuse every large model"},
    {"hold", 10, 1, 100000, "attempts", "SageMaker: 10 good steps"},
    {"min_samples", 64, 16, 128, "attempts", "ours"},
    {"clear_ratio", 1e-2, 1e-12, 1, "of the usual norm", "ours"},
    {"clear_after", 50, 1, 100000, "attempts", "ours"},
};

}  // namespace

constinit const RuleSpec GradVanishing::kSpec = {
    30,
    "grad_vanishing",
    Family::kGradient,
    "The gradient norm fell to next to nothing: the weights hardly change any "
    "more.",
    "The norm is below ratio times its usual level (the median of the last 128 "
    "healthy ones, from min_samples on) at hold attempts in a row, and the "
    "loss did not fall a hundredfold with it; or fell to exactly 0 at once.",
    "Above clear_ratio times that level for clear_after attempts, or the new "
    "level stays for 256.",
    kThresholds};

Severity GradVanishing::OnStep(const StepContext& c, Thresholds t) {
  const StepRecord& r = c.record;
  if (!r.has(StepField::kGradNorm)) return episode_.severity();
  const double norm = r[StepField::kGradNorm];
  if (!std::isfinite(norm) || norm < 0 || c.scaler.in_grace() ||
      c.scaler.fate() == Fate::kLost) {
    return episode_.severity();
  }
  const bool known = usual_.samples() >= t[kMinSamples];
  if (norm == 0 && !known) return episode_.severity();  // not collected
  const float log2 = c.norm_log2;
  // The ratio is at most a half: most records need no logarithm of it.
  const bool low = known && log2 < usual_.center() - 1 &&
                   log2 < usual_.center() + Log2(static_cast<float>(t[kRatio]));
  const auto loss = r.get(StepField::kLoss);
  const bool finite = loss && std::isfinite(*loss);
  if (!low) {
    usual_.Add(log2);
    held_ = 0;
    has_loss_ = finite;
    if (finite) loss_ = *loss;
    if (!episode_.open()) return Severity::kNone;
    const bool clean =
        !known || log2 >= level_ + Log2(static_cast<float>(t[kClearRatio]));
    return episode_.On(Severity::kNone, clean, r.step,
                       static_cast<int64_t>(t[kClear]));
  }
  norm_ = norm;
  level_ = usual_.center();
  usual_.Reject();
  loss_gone_ = has_loss_ && finite && *loss == 0 && std::fabs(loss_) >= kGone;
  const bool converged = has_loss_ && finite && !loss_gone_ &&
                         std::fabs(*loss) <= kConverged * std::fabs(loss_);
  const Severity trigger =
      ++held_ >= t[kHold] && !converged ? Severity::kWarning : Severity::kNone;
  return episode_.On(trigger, false, r.step, 1);
}

void GradVanishing::Describe(Finding* finding) const {
  episode_.Describe(finding);
  const double level = std::exp2(level_);
  finding->sentence = Sentence("The gradient norm is ", norm_, "; ", level,
                               " was usual before");
  finding->sentence +=
      loss_gone_
          ? Sentence(", and the loss went from ", loss_,
                     " to exactly 0 with it: nothing enters it any more, or "
                     "the log hides a NaN.")
          : ", and the loss did not go with it.";
  finding->numbers = {{"grad_norm", norm_, ""}, {"usual", level, ""}};
}

}  // namespace nanwatch
