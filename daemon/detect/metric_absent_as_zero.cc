#include "detect/metric_absent_as_zero.h"

#include <cmath>
#include <utility>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"hold", 100, 1, 100000, "updates", "BigScience's tr1-13B printed 0.000"},
};

}  // namespace

constinit const RuleSpec MetricAbsentAsZero::kSpec = {
    RuleId::kMetricAbsentAsZero,
    "metric_absent_as_zero",
    Family::kTelemetry,
    "A gradient norm that is always exactly 0 while the loss moves was not "
    "collected.",
    "The norm is 0 in every update so far, and the loss changed in hold of "
    "them; no client looked at the gradients and saw that they are 0.",
    "The norm is not 0.",
    kThresholds,
    "Only a norm that was 0 from the first record on counts: later it is a "
    "gradient that vanished. The number of zeros in a gradient is not "
    "judged, since it is 0 in health, nor is a loss of 0, which some "
    "policies have by construction."};

Severity MetricAbsentAsZero::OnStep(const StepContext& c, Thresholds t) {
  const StepRecord& r = c.record;
  if (collected_ || !r.has(StepField::kGradNorm)) return episode_.severity();
  const bool seen =
      r.update != nullptr && r.update->fault == UpdateFault::kAllZero;
  if (r[StepField::kGradNorm] != 0 || seen) {
    collected_ = true;
    return episode_.On(Severity::kNone, true, r.step, 1);
  }
  if (!r.has(StepField::kLoss)) return episode_.severity();
  const double before = std::exchange(loss_, r[StepField::kLoss]);
  if (std::isfinite(loss_) && loss_ != before) ++zeros_;
  const bool enough = zeros_ >= t[kHold];
  return episode_.On(enough ? Severity::kInfo : Severity::kNone, false, r.step,
                     1);
}

void MetricAbsentAsZero::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence = Sentence(
      "The gradient norm was exactly 0 in each of ", zeros_,
      " records while the loss moved: it is not collected, it is printed with "
      "too few digits, or batches alone move the loss. Nothing can be said of "
      "the gradients.");
  finding->numbers = {{"attempts", static_cast<double>(zeros_), "updates"}};
}

}  // namespace nanwatch
