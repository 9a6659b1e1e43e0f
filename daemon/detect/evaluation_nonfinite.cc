#include "detect/evaluation_nonfinite.h"

#include <algorithm>

#include "detect/sentence.h"
#include "detect/told_since.h"

namespace nanwatch {

constinit const RuleSpec EvaluationNonfinite::kSpec = {
    RuleId::kEvaluationNonfinite,
    "evaluation_nonfinite",
    Family::kLoss,
    "The loss of an evaluation is NaN or infinite.",
    "A log prints an evaluation's loss (val_loss, eval_loss, validation loss) "
    "that is not finite, and none that is finite after it.",
    "An evaluation's loss is finite.",
    {},
    "The training may go well beside it: an empty set, a metric that divides "
    "by 0, or weights that bear the batches of training alone. Whoever picks "
    "the best checkpoint by it picks any."};

Severity EvaluationNonfinite::OnTime(const TimeContext& c, Thresholds) {
  const auto told = ReadToldSince(c.run, "evaluation_not_finite");
  if (!told) return Severity::kNone;
  since_ = told->step;
  step_ = c.last_step;
  return Severity::kWarning;
}

void EvaluationNonfinite::Describe(Finding* finding) const {
  finding->opened_step = since_;
  finding->last_step = std::max(step_, since_);
  finding->SayBoth([this](Tense tense) {
    return Sentence("An evaluation's loss ",
                    In(tense, "is not finite since", "was not finite from"),
                    " step ", since_, In(tense, "", " on"),
                    ". The training itself is judged by its own loss.");
  });
}

}  // namespace nanwatch
