#include "detect/op_overflow_propagated.h"

#include "detect/bad_elements.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"clear_after", 50, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec OpOverflowPropagated::kSpec = {
    RuleId::kOpOverflowPropagated,
    "op_overflow_propagated",
    Family::kOp,
    "This op got bad inputs from elsewhere, and passed them on or absorbed "
    "them.",
    "Bad inputs; for information only.",
    "clear_after updates without bad inputs.",
    kThresholds};

Severity OpOverflowPropagated::OnOp(const OpContext& c, Thresholds t) {
  const OpStatus& s = c.status;
  const bool received = c.inputs == InputState::kBad;
  if (received) {
    if (!episode_.open()) passed_on_ = absorbed_ = 0;
    ++(CountBad(c).any() ? passed_on_ : absorbed_);
  }
  return episode_.On(received ? Severity::kInfo : Severity::kNone, received,
                     c.update, s.step, t[kClear]);
}

void OpOverflowPropagated::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence("The trouble came in with the inputs: passed on ", passed_on_,
               passed_on_ == 1 ? " time" : " times",
               absorbed_ > 0 ? Sentence(", absorbed ", absorbed_,
                                        absorbed_ == 1 ? " time" : " times")
                             : "",
               ".");
  finding->numbers = {
      {"passed_on", static_cast<double>(passed_on_), "statuses"},
      {"absorbed", static_cast<double>(absorbed_), "statuses"}};
}

}  // namespace nanwatch
