#include "detect/op_saturation.h"

#include "detect/bad_elements.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"clear_after", 50, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec OpSaturation::kSpec = {
    RuleId::kOpSaturation,
    "op_saturation",
    Family::kOp,
    "Elements sit exactly at the largest number of the dtype, which hides an "
    "infinity.",
    "Any saturated element, or a largest value equal to that of the dtype, "
    "unless the device shows infinities; for information in calibration.",
    "clear_after updates without one.",
    kThresholds};

Severity OpSaturation::OnOp(const OpContext& c, Thresholds t) {
  const OpStatus& s = c.status;
  if (c.run.overflow_mode == OverflowMode::kInfNan || IsFp8(c.op.dtype)) {
    return Severity::kNone;
  }
  const uint64_t counted = s.get(OpCount::kSaturated).value_or(0);
  const double limit = MaxFinite(c.op.dtype);
  const bool pinned = s.get(OpStat::kAbsMax).value_or(0) >= limit;
  const bool bad = counted > 0 || pinned;
  Severity trigger = Severity::kNone;
  if (bad) {
    saturated_ = counted;
    elements_ = s.elements;
    limit_ = limit;
    trigger = Calibrating(c) ? Severity::kInfo : Severity::kWarning;
  }
  return episode_.On(trigger, bad, c.update, s.step, t[kClear]);
}

void OpSaturation::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      saturated_ > 0
          ? Sentence(saturated_, " of ", elements_,
                     " elements sit at the largest number of the dtype, ",
                     limit_)
          : Sentence("The largest value is exactly that of the dtype, ",
                     limit_);
  finding->sentence += ": an overflow that looks finite.";
  finding->numbers = {
      {"saturated", static_cast<double>(saturated_), "elements"},
      {"elements", static_cast<double>(elements_), "elements"},
      {"dtype_max", limit_, ""}};
}

}  // namespace nanwatch
