#include "detect/term_nonfinite.h"

#include "detect/sentence.h"

namespace nanwatch {

constinit const RuleSpec TermNonfinite::kSpec = {
    RuleId::kTermNonfinite,
    "term_nonfinite",
    Family::kLoss,
    "A term of the loss is NaN or infinite beside a loss that is finite.",
    "A log prints a term of the loss that is not finite in three step lines in "
    "a row whose loss is finite (eight, if it never was finite), and in four "
    "times as many as in any row before.",
    "The term is finite, or the loss is not, either.",
    {},
    "The program leaves the term out, or puts something else in its place, and "
    "what that term should teach is not learned. Whether its gradient enters "
    "the weights is not seen."};

Severity TermNonfinite::OnTime(const TimeContext& c, Thresholds) {
  return told_.Read(c, "term_not_finite", &name_) ? Severity::kWarning
                                                  : Severity::kNone;
}

void TermNonfinite::Describe(Finding* finding) const {
  told_.Describe(finding);
  finding->SayBoth([this](Tense tense) {
    return Sentence(
        "The term ", name_.get(), " ", told_.NotFinite(tense),
        ", and the loss beside it ", In(tense, "is", "was"),
        ": the program leaves the term out of the loss, or hides it.");
  });
}

}  // namespace nanwatch
