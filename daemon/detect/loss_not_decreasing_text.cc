// What loss_not_decreasing says of what it found.

#include <cmath>
#include <string>
#include <string_view>

#include "detect/clamped_log.h"
#include "detect/loss_not_decreasing.h"
#include "detect/sentence.h"

namespace nanwatch {
namespace {

constexpr double kNearly = 1.04;  // times what guessing costs; ours
constexpr double kKnew = 0.9;     // of it, of the first losses; ours
constexpr double kAbove = 1.05;   // of what it began with: it rose; ours

}  // namespace

void LossNotDecreasing::DescribeFrozen(Finding* finding) const {
  const auto loss = static_cast<double>(still_.loss());
  const std::string_view least = ClampedLogOf(still_.loss());
  const int32_t without = still_.without_gradient();
  const int32_t records = loss == 0 && without > 0 ? without : still_.records();
  finding->sentence = Sentence(
      "The loss is ", loss,
      least.empty() ? "" : Sentence(", which is -ln(", least, "),"),
      " to the last digit in ", records, " records in a row",
      without > 0 ? ", and no weight gets a gradient" : "",
      // One of 0 may be what there is to learn.
      loss == 0 && without == 0 ? "" : ": nothing is learned",
      ". Look whether ",
      loss == 0 ? "all labels are masked, or all rewards are the same."
                : "updates reach the weights, and the data still change.");
  finding->numbers = {{"loss", loss, ""},
                      {"records", static_cast<double>(records), ""}};
  if (without > 0) {
    finding->numbers.push_back({"grad_norm", 0, ""});
  }
}

void LossNotDecreasing::Describe(Finding* finding) const {
  episode_.Describe(finding);
  if (about_ == About::kFrozen) {
    DescribeFrozen(finding);
    return;
  }
  // The level is slow: it holds what was before the model guessed.
  const bool guesses = about_ == About::kGuesses && !HasLeft();
  // Of 0 there is no logarithm.
  const bool seen = course_.records() > 0;
  const bool zero = seen && course_.first() == 0 && course_.last() == 0;
  const double level = (guesses && seen) || zero
                           ? static_cast<double>(course_.last())
                           : std::exp(level_);
  const double first = zero ? 0 : std::exp(first_);
  finding->numbers = {{"loss", level, ""}, {"first", first, ""}};
  if (HasLeft()) {
    const double stood = std::exp(Stood());
    finding->sentence =
        Sentence("The loss stood at about ", stood,
                 about_ == About::kGuesses ? ", what guessing costs," : "",
                 " until step ", finding->last_step,
                 ", and left that: it is about ", level, ".");
    if (Learns()) finding->numbers.push_back({"stood", stood, ""});
    return;
  }
  const std::string is =
      Sentence("The loss is about ", level, " after ",
               finding->last_step - finding->opened_step, " steps");
  const std::string was = Sentence(" and was ", first, " at the start");
  if (about_ == About::kGuesses) {
    // One that was loaded knew more.
    finding->sentence =
        Sentence(is, ", ", level > kNearly * cost_ ? "more than" : "what",
                 " guessing costs (", cost_, ")",
                 first < kKnew * cost_ ? "," + was + ": all is lost."
                                       : ": the model has learned nothing.");
    return;
  }
  if (!IsOfEvaluations()) {
    finding->sentence = Sentence(
        is, was,
        !zero && level >= kAbove * first
            ? ": it rose, and has not come down since."
            : ": it has hardly moved. Look whether updates reach the weights.");
    return;
  }
  const char* const beside =
      about_ == About::kScoreless
          ? "No score so far is better than the worst that there is, and the "
            "loss has stopped falling: nothing useful is learned. "
      : about_ == About::kUntouched
          ? "The loss of each evaluation is the same to the last digit: the "
            "weights that are evaluated do not change. "
          : "The mean of gradient norms is not finite in one record after "
            "another: updates that are skipped do not reach the weights. ";
  finding->sentence = Sentence(beside, is, was, ".");
  if (about_ == About::kUnmoved) {
    finding->numbers.push_back(
        {"norms_not_finite", static_cast<double>(records_), "records"});
  }
}

}  // namespace nanwatch
