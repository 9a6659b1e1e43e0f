#include "detect/layer_without_gradient.h"

#include "detect/sentence.h"

namespace nanwatch {

constinit const RuleSpec LayerWithoutGradient::kSpec = {
    RuleId::kLayerWithoutGradient,
    "layer_without_gradient",
    Family::kGradient,
    "The gradient norm of a layer is exactly 0, and that of others is not.",
    "A log prints norms of layers. One that was another number is exactly 0 "
    "four times in a row and more, and in four times as many as in any row "
    "before. "
    "One that was never another number, in eight, is for information.",
    "The norm is not 0.",
    {},
    "A layer that was 0 from the beginning is frozen, as far as one can see. "
    "Norms that round to 0 are none. What clients tell of tensors is "
    "underflow_measured's."};

Severity LayerWithoutGradient::OnTime(const TimeContext& c, Thresholds) {
  const bool lost = told_.Read(c, "layer_lost_gradient", &name_);
  if (!lost && !told_.Read(c, "layer_without_gradient", &name_))
    return Severity::kNone;
  had_ = lost;
  return had_ ? Severity::kWarning : Severity::kInfo;
}

void LayerWithoutGradient::Describe(Finding* finding) const {
  told_.Describe(finding);
  finding->SayBoth([this](Tense tense) {
    return had_
               ? Sentence("The gradient norm of ", name_.get(),
                          In(tense, " is", " was"), " exactly 0 from step ",
                          told_.step(),
                          " on, where it was another number before: the layer ",
                          In(tense, "learns", "learned"), " nothing any more.")
               : Sentence("The gradient norm of ", name_.get(),
                          In(tense, " is", " was"),
                          " exactly 0 from the first record on, and that of "
                          "others is not: the layer is frozen, or cut off by "
                          "mistake.");
  });
}

}  // namespace nanwatch
