#include "detect/term_nonfinite.h"

#include <algorithm>

#include "detect/sentence.h"
#include "detect/told_since.h"

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
  const auto told = ReadToldSince(c.run, "term_not_finite");
  if (!told) return Severity::kNone;
  since_ = told->step;
  name_.Set(told->name);
  step_ = c.last_step;
  return Severity::kWarning;
}

void TermNonfinite::Describe(Finding* finding) const {
  finding->opened_step = since_;
  finding->last_step = std::max(step_, since_);
  finding->SayBoth([this](Tense tense) {
    return Sentence(
        "The term ", name_.get(), " ",
        In(tense, "is not finite since", "was not finite from"), " step ",
        since_, In(tense, "", " on"), ", and the loss beside it ",
        In(tense, "is", "was"),
        ": the program leaves the term out of the loss, or hides it.");
  });
}

}  // namespace nanwatch
