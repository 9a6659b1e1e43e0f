#include "detect/evaluation_nonfinite.h"

#include <string_view>

#include "detect/sentence.h"

namespace nanwatch {

constinit const RuleSpec EvaluationNonfinite::kSpec = {
    RuleId::kEvaluationNonfinite,
    "evaluation_nonfinite",
    Family::kLoss,
    "The loss of an evaluation is NaN or infinite.",
    "A log prints an evaluation's loss (val_loss, eval_loss, validation loss) "
    "that is not finite, or a perplexity that is not or is below 1, twice in a "
    "row or at its end, and none that is finite after it.",
    "An evaluation's loss is finite.",
    {},
    "The training may go well beside it: an empty set, a metric that divides "
    "by 0, or weights that bear the batches of training alone. Whoever picks "
    "the best checkpoint by it picks any."};

Severity EvaluationNonfinite::OnTime(const TimeContext& c, Thresholds) {
  return told_.Read(c, "evaluation_not_finite", &name_) ? Severity::kWarning
                                                        : Severity::kNone;
}

void EvaluationNonfinite::Describe(Finding* finding) const {
  told_.Describe(finding);
  const std::string_view name = name_.get();
  if (name.find("erplexity") != name.npos || name.find("ppl") != name.npos) {
    finding->SayBoth([this](Tense tense) {
      return Sentence("An evaluation's perplexity ",
                      In(tense, "is below 1 or infinite since",
                         "was below 1 or infinite from"),
                      " step ", told_.step(), In(tense, "", " on"),
                      ": no model of words has such a one. Look at the sign "
                      "and the mean of its loss.");
    });
    return;
  }
  finding->SayBoth([this](Tense tense) {
    return Sentence("An evaluation's loss ", told_.NotFinite(tense),
                    ". The training itself is judged by its own loss.");
  });
}

}  // namespace nanwatch
