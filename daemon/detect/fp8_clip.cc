#include "detect/fp8_clip.h"

#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr ThresholdSpec kThresholds[] = {
    {"share", 0.001, 1e-3, 1, "of the elements", "Transformer Engine; ours"},
    {"beyond", 2, 2, 1e9, "ratio",
     "ours: the noise of amax from step to step stays below"},
    {"hold", 3, 1, 1000, "updates", "ours"},
    {"clear_share", 0.0001, 0, 1, "of the elements", "ours"},
    {"clear_after", 50, 1, 100000, "updates", "ours"},
};

}  // namespace

constinit const RuleSpec Fp8Clip::kSpec = {
    RuleId::kFp8Clip,
    "fp8_clip",
    Family::kFp8,
    "An FP8 tensor is clipped: its scale lags behind its values.",
    "At `hold` updates a share of `share` of the elements sits at the largest "
    "number, or the tensor's amax is `beyond` times what its scale can hold. "
    "Only of tensors "
    "that report a scale_inv: with a scale a block, each block's largest "
    "element sits there by design.",
    "A share of clear_share at most, and no larger amax than fits, for "
    "clear_after updates.",
    kThresholds,
    "Only tensors with one scale are judged. Where each block has its own, "
    "each block's largest element sits at the top by design."};

Severity Fp8Clip::OnOp(const OpContext& c, Thresholds t) {
  const OpStatus& s = c.status;
  const auto inv = s.get(OpStat::kFp8ScaleInv);
  if (!IsFp8(c.op.dtype) || !inv || !(*inv > 0) || s.elements == 0) {
    return episode_.severity();
  }
  const double share =
      static_cast<double>(s.get(OpCount::kSaturated).value_or(0)) /
      static_cast<double>(s.elements);
  const double fits = MaxFinite(c.op.dtype) * static_cast<double>(*inv);
  const double beyond = s.get(OpStat::kFp8Amax).value_or(0) / fits;
  Severity trigger = Severity::kNone;
  if (share > t[kShare] || beyond >= t[kBeyond]) {
    share_ = share;
    beyond_ = beyond;
    if (seen_.Add(c.update) >= t[kHold]) trigger = Severity::kWarning;
  }
  return episode_.On(trigger, share > t[kClearShare] || beyond >= t[kBeyond],
                     c.update, s.step, t[kClear]);
}

void Fp8Clip::Describe(Finding* finding) const {
  episode_.Describe(finding);
  finding->sentence = Sentence(
      100 * share_, " % of the elements sit at the largest FP8 number");
  if (beyond_ > 0) {
    finding->sentence += Sentence("; the largest value is ", beyond_,
                                  " times what the scale can hold");
  }
  finding->sentence += Sentence(", at ", seen_.count(), " updates.");
  finding->numbers = {{"saturated", share_, "fraction"},
                      {"beyond", beyond_, "ratio"}};
}

}  // namespace nanwatch
