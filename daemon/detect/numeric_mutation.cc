#include "detect/numeric_mutation.h"

#include <cmath>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr uint8_t kCalm = 16;  // outputs; ours

constexpr ThresholdSpec kThresholds[] = {
    {"ratio", kMutation, kMutation, 1e12, "ratio", "msprobe: 100"},
    {"hold", 3, 1, 1000, "updates", "ours"},
    {"near_top", 64, 1, 1e30, "ratio",
     "ours: far from the overflow it is worth a note"},
    {"clear_ratio", 50, 1, 1e12, "ratio", "ours"},
    {"clear_after", 20, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec NumericMutation::kSpec = {
    RuleId::kNumericMutation,
    "numeric_mutation",
    Family::kOp,
    "An op's output became far larger than its input.",
    "The largest output is ratio times the largest input at hold updates, of "
    "an op that did not do so at 16 before. A warning within near_top of the "
    "dtype's largest number, else for information: normalisation of a small "
    "input does the same. An input of zeros is not judged (msprobe does), nor "
    "an output that overflowed.",
    "Below clear_ratio for clear_after updates.",
    kThresholds,
    "An op that always amplifies (a normalisation, a scaled loss) is not "
    "judged, nor is an input of zeros. Far from the dtype's limit it is for "
    "information."};

Severity NumericMutation::OnOp(const OpContext& c, Thresholds t) {
  const auto output = c.status.get(OpStat::kAbsMax);
  const float input = c.trend.input_abs_max;
  if (c.status.slot != Slot::kOutput || !output || !(input > 0)) {
    return episode_.severity();
  }
  // What overflowed is the overflow rules' to tell: a clamped value stands for
  // one of any size, and often for padding beside calm elements.
  const double top = MaxFinite(c.op.dtype);
  if (*output >= top || c.status.device_flag.value_or(false) ||
      c.status.BadElements(true) > 0) {
    return episode_.severity();
  }
  const double ratio = static_cast<double>(*output) / input;
  Severity trigger = Severity::kNone;
  if (ratio > t[kRatio] && c.trend.calm >= kCalm) {
    input_ = input;
    output_ = *output;
    if (seen_.Add(c.update) >= t[kHold]) {
      trigger = std::isfinite(top) && *output * t[kNearTop] >= top
                    ? Severity::kWarning
                    : Severity::kInfo;
    }
  }
  return episode_.On(trigger, ratio > t[kClearRatio], c.update, c.status.step,
                     t[kClear]);
}

void NumericMutation::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence = Sentence(
      "The largest output is ", output_, " and the largest input ", input_,
      ": ", output_ / input_, " times, which this op did not do before.");
  finding->numbers = {{"input", input_, ""}, {"output", output_, ""}};
}

}  // namespace nanwatch
