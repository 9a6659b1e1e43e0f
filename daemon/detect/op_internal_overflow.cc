#include "detect/op_internal_overflow.h"

#include "detect/bad_elements.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"clear_after", 50, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec OpInternalOverflow::kSpec = {
    RuleId::kOpInternalOverflow,
    "op_internal_overflow",
    Family::kOp,
    "The device says that this op overflowed, yet its elements are clean.",
    "The device flag is set, elements were looked at and none is bad, and no "
    "input is known to be.",
    "clear_after updates without.",
    kThresholds};

Severity OpInternalOverflow::OnOp(const OpContext& c, Thresholds t) {
  const OpStatus& s = c.status;
  const bool internal = s.device_flag.value_or(false) && LookedAt(s) &&
                        !CountBad(c).any() &&
                        s.get(OpCount::kSaturated).value_or(0) == 0 &&
                        c.inputs != InputState::kBad;
  if (internal) {
    if (!episode_.open()) times_ = 0;
    ++times_;
    elements_ = s.elements;
    padding_ = PaddingElements(c.op);
  }
  return episode_.On(internal ? Severity::kWarning : Severity::kNone, internal,
                     c.update, s.step, t[kClear]);
}

void OpInternalOverflow::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence("The device flag is set, ", times_, " times now, though all ",
               elements_, " elements looked at are clean");
  if (padding_ > 0) {
    finding->sentence +=
        Sentence("; ", padding_, " elements of padding lie beside them");
  }
  finding->sentence += ".";
  finding->numbers = {{"times", static_cast<double>(times_), "statuses"},
                      {"elements", static_cast<double>(elements_), "elements"},
                      {"padding", static_cast<double>(padding_), "elements"}};
}

}  // namespace nanwatch
