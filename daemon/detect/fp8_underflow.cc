#include "detect/fp8_underflow.h"

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"rise", 0.05, 0.05, 1, "of the elements",
     "Transformer Engine's formula; 10 % in all would accuse each ReLU"},
    {"hold", 10, 1, 1000, "updates", "ours"},
    {"clear_rise", 0.025, 0, 1, "of the elements", "ours"},
    {"clear_after", 50, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec Fp8Underflow::kSpec = {
    RuleId::kFp8Underflow,
    "fp8_underflow",
    Family::kFp8,
    "More of an FP8 tensor underflows to zero than usual.",
    "The share of zeros is rise above this tensor's usual one at hold "
    "updates.",
    "Below clear_rise for clear_after updates, or the new share stays for "
    "512.",
    kThresholds,
    "Only a rise of the share of zeros counts, since the output of a ReLU "
    "is half zeros."};

Severity Fp8Underflow::OnOp(const OpContext& c, Thresholds t) {
  const OpStatus& s = c.status;
  const auto zeros = s.get(OpCount::kZero);
  if (!IsFp8(c.op.dtype) || !zeros || s.elements == 0 ||
      c.trend.usual_zeros < 0) {
    return episode_.severity();
  }
  const double share =
      static_cast<double>(*zeros) / static_cast<double>(s.elements);
  const double rise = share - c.trend.usual_zeros;
  Severity trigger = Severity::kNone;
  if (rise > t[kRise]) {
    zeros_ = share;
    usual_ = c.trend.usual_zeros;
    if (seen_.Add(c.update) >= t[kHold]) trigger = Severity::kWarning;
  }
  return episode_.On(trigger, rise > t[kClearRise], c.update, s.step,
                     t[kClear]);
}

void Fp8Underflow::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence =
      Sentence(100 * zeros_, " % of the elements of this FP8 tensor are 0; ",
               100 * usual_, " % is usual.");
  finding->numbers = {{"zeros", zeros_, "fraction"},
                      {"usual", usual_, "fraction"}};
}

}  // namespace nanwatch
