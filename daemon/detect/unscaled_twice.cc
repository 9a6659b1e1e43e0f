#include "detect/unscaled_twice.h"

#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr double kEqual = 1e-3;    // fp16 gradients round the norm
constexpr double kLeastScale = 8;  // below, clipping may be as much; ours

constexpr ThresholdSpec kThresholds[] = {
    {"hold", 2, 1, 1000, "looks", "ours: the numbers leave no other reading"},
};

}  // namespace

constinit const RuleSpec UnscaledTwice::kSpec = {
    RuleId::kUnscaledTwice,
    "unscaled_twice",
    Family::kScale,
    "The optimizer gets gradients that were divided by the loss scale twice.",
    "In hold records in a row that have both, the norm of the gradients that "
    "the optimizer got, times the loss scale (8 at least), is the gradient "
    "norm before clipping, to a thousandth.",
    "It is not, once.",
    kThresholds};

Severity UnscaledTwice::OnStep(const StepContext& c, Thresholds t) {
  const StepRecord& r = c.record;
  if (!r.has(StepField::kAppliedGradNorm) || !r.has(StepField::kGradNorm) ||
      !r.has(StepField::kLossScale)) {
    return episode_.severity();
  }
  const double norm = r[StepField::kGradNorm];
  const double applied = r[StepField::kAppliedGradNorm];
  const double scale = r[StepField::kLossScale];
  if (!(norm > 0 && scale >= kLeastScale && std::isfinite(norm * scale))) {
    return episode_.severity();
  }
  const bool twice = std::abs(applied * scale / norm - 1) < kEqual;
  if (twice) {
    norm_ = static_cast<float>(norm);
    applied_ = static_cast<float>(applied);
    scale_ = static_cast<float>(scale);
  }
  return episode_.OnRecord(twice, t[kHold], Severity::kWarning, r.step, 1);
}

void UnscaledTwice::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence = Sentence(
      "The optimizer got gradients of norm ", applied_, " where they were ",
      norm_, " once unscaled: they were divided by the loss scale, ", scale_,
      ", twice.");
  finding->numbers = {{"applied_grad_norm", applied_, ""},
                      {"grad_norm", norm_, ""},
                      {"scale", scale_, ""}};
}

}  // namespace nanwatch
