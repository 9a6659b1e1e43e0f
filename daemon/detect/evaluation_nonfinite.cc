#include "detect/evaluation_nonfinite.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "detect/sentence.h"

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
  const auto told = c.run.settings.find("evaluation_not_finite");
  if (told == c.run.settings.end()) return Severity::kNone;
  const std::string& text = told->second;
  const char* const end = text.data() + text.size();
  const auto step = std::from_chars(text.data(), end, since_);
  if (step.ec != std::errc()) return Severity::kNone;
  const std::string_view name(std::min(step.ptr + 1, end), end);
  const std::string_view kept = name.substr(0, kName);
  std::copy(kept.begin(), kept.end(), name_.begin());
  size_ = static_cast<uint8_t>(kept.size());
  step_ = c.last_step;
  return Severity::kWarning;
}

void EvaluationNonfinite::Describe(Finding* finding) const {
  finding->opened_step = since_;
  finding->last_step = std::max(step_, since_);
  finding->SayBoth([this](Tense tense) {
    return Sentence("An evaluation's loss (", std::string(name_.data(), size_),
                    In(tense, ") is not finite since step ",
                       ") was not finite since step "),
                    since_, ". The training itself is judged by its own loss.");
  });
}

}  // namespace nanwatch
