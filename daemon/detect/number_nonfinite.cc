#include "detect/number_nonfinite.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"hold", 3, 1, 100000, "records", "ours, as term_nonfinite's"},
    {"clear_after", 16, 1, 100000, "records", "ours"},
};

std::string_view WordsOf(StepField field) {
  switch (field) {
    case StepField::kUpdateNorm:
      return "norm of the update";
    case StepField::kLearningRate:
      return "learning rate";
    case StepField::kAppliedGradNorm:
      return "norm of the gradients that the optimizer was given";
    default:
      return "norm of the weights";
  }
}

}  // namespace

constinit const RuleSpec NumberNonfinite::kSpec = {
    RuleId::kNumberNonfinite,
    "number_nonfinite",
    Family::kWeight,
    "A norm of weights or updates, or the learning rate, is not finite beside "
    "a finite loss.",
    "One of them is NaN or infinite for hold records in a row whose updates "
    "were applied, and whose loss is finite.",
    "All are finite for clear_after records.",
    kThresholds,
    "Weights that are NaN in a part that this loss does not use look so, and a "
    "norm that was computed in fp16."};

Severity NumberNonfinite::OnStep(const StepContext& c, Thresholds t) {
  // Overflows that were skipped leave such norms behind.
  if (c.scaler.fate() == Fate::kLost || !FiniteLoss(c.record)) {
    return episode_.severity();
  }
  const auto odd = std::ranges::find_if(kWatchedForOdd, [&](StepField field) {
    return c.record.has(field) && !std::isfinite(c.record[field]);
  });
  const bool is_odd = odd != std::end(kWatchedForOdd);
  if (is_odd && !episode_.open()) field_ = *odd;
  return episode_.OnRecord(is_odd, t[kHold], Severity::kWarning, c.record.step,
                           t[kClear]);
}

void NumberNonfinite::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->SayBoth([this](Tense tense) {
    return Sentence("The ", WordsOf(field_),
                    In(tense, " has not been", " was not"),
                    " finite since step ", episode_.opened_step(),
                    ", though the loss ", In(tense, "is", "was"), ".");
  });
  finding->numbers = {
      {"records", static_cast<double>(episode_.held()), "records"}};
}

}  // namespace nanwatch
