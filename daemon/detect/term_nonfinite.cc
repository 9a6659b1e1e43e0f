#include "detect/term_nonfinite.h"

#include "detect/sentence.h"

namespace nanwatch {

constinit const RuleSpec TermNonfinite::kSpec = {
    RuleId::kTermNonfinite,
    "term_nonfinite",
    Family::kLoss,
    "A term of the loss, or a metric, is NaN or infinite beside a loss that is "
    "finite.",
    "A log prints a term of the loss that is not finite in three step lines in "
    "a row whose loss is finite (eight, if it never was finite), and in four "
    "times as many as in any row before. Or a metric (an accuracy, a reward, a "
    "perplexity) that was a number is NaN in eight, and in as many.",
    "It is finite, or the loss is not, either.",
    {},
    "The program leaves the term out, or puts something else in its place, and "
    "what that term should teach is not learned. Whether its gradient enters "
    "the weights is not seen. A metric may divide by 0, where nothing fell "
    "into what it counts."};

Severity TermNonfinite::OnTime(const TimeContext& c, Thresholds) {
  const bool term = told_.Read(c, "term_not_finite", &name_);
  if (!term && !told_.Read(c, "metric_not_finite", &name_)) {
    return Severity::kNone;
  }
  metric_ = !term;
  return Severity::kWarning;
}

void TermNonfinite::Describe(Finding* finding) const {
  told_.Describe(finding);
  finding->SayBoth([this](Tense tense) {
    if (metric_) {
      return Sentence("The metric ", name_.get(), " ", told_.NotFinite(tense),
                      ", and the loss beside it ", In(tense, "is", "was"), ".");
    }
    return Sentence(
        "The term ", name_.get(), " ", told_.NotFinite(tense),
        ", and the loss beside it ", In(tense, "is", "was"),
        ": the program leaves the term out of the loss, or hides it.");
  });
}

}  // namespace nanwatch
