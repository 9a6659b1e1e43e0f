#include "detect/near_overflow.h"

#include <cmath>

#include "detect/bad_elements.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"ratio", 0.5, 0.01, 1, "of the dtype's maximum",
     "Hugging Face frame 6.27e4; PopART counts from 0.125"},
    {"hold", 3, 1, 1000, "updates", "ours"},
    {"clear_ratio", 0.25, 0.001, 1, "of the dtype's maximum", "ours"},
    {"clear_after", 50, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec NearOverflow::kSpec = {
    RuleId::kNearOverflow,
    "near_overflow",
    Family::kOp,
    "Values come near the largest number of the dtype; the next step may "
    "overflow.",
    "The largest activation or weight reaches ratio of the dtype's maximum at "
    "hold updates.",
    "clear_after updates without one above clear_ratio.",
    kThresholds};

Severity NearOverflow::OnOp(const OpContext& c, Thresholds t) {
  const OpStatus& s = c.status;
  const double limit = MaxFinite(c.op.dtype);
  const std::optional<float> abs_max = s.get(OpStat::kAbsMax);
  if (!IsForward(s.slot) || !abs_max || std::isinf(limit) || limit < 65504) {
    return episode_.severity();
  }
  const bool near = *abs_max >= t[kRatio] * limit;
  Severity trigger = Severity::kNone;
  if (near) {
    abs_max_ = *abs_max;
    limit_ = limit;
    if (seen_.Add(c.update) >= t[kHold]) trigger = Severity::kWarning;
  }
  return episode_.On(trigger, *abs_max >= t[kClearRatio] * limit, c.update,
                     s.step, t[kClear]);
}

void NearOverflow::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence("The largest value is ", abs_max_, ", ", 100 * abs_max_ / limit_,
               " % of the largest number of the dtype (", limit_, "), at ",
               seen_.count(), " updates.");
  finding->numbers = {
      {"abs_max", abs_max_, ""},
      {"dtype_max", limit_, ""},
      {"attempts", static_cast<double>(seen_.count()), "updates"}};
}

}  // namespace nanwatch
