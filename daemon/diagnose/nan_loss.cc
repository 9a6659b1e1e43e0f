#include "diagnose/nan_loss.h"

#include <spdlog/fmt/fmt.h>

#include "diagnose/nan_births.h"
#include "diagnose/words.h"

namespace nanwatch {
namespace {

using enum RuleId;

// Returns the term of the loss that was not finite first; "0" where the program
// prints that in place of NaN; empty: not known.
std::string TermOf(const Facts& f) {
  const auto term = f.run.settings.find("nonfinite_loss");
  return term == f.run.settings.end() ? "" : term->second;
}

// Returns " D_loss", " of the optimizer G", where others may be finite; nothing
// where it is all that is known.
std::string WhichLoss(const Facts& f) {
  const Finding* loss = f.found.First(kLossNonfinite);
  if (loss == nullptr || loss->subject.optimizer.empty()) return "";
  const bool others = f.found.Any([&](const Finding& finding) {
    return finding.rule == kLossNonfinite &&
           finding.subject.optimizer != loss->subject.optimizer;
  });
  if (others) return "";
  const std::string term = TermOf(f);
  if (!term.empty()) return " " + term;
  const std::string& name = loss->subject.optimizer;
  const std::string words = OptimizerInWords(name);
  return words == name ? " " + words : " of the " + words;
}

// Returns "in 6 of 120 records"; of several ranks "6 times", since others have
// records, too.
std::string HowOften(const RunEvidence& e) {
  return e.world_size > 1 ? fmt::format("{} times", e.loss_nonfinite)
                          : fmt::format("in {} of {} records", e.loss_nonfinite,
                                        e.loss_nonfinite + e.loss_finite);
}

}  // namespace

std::string OnRank(const RunEvidence& e) {
  const bool one = e.world_size <= 1 && e.nonfinite_loss_rank == 0;
  if (one || e.nonfinite_loss_rank < 0) return "";
  std::string text = fmt::format(" on rank {}", e.nonfinite_loss_rank);
  if (!e.nonfinite_loss_place.empty()) {
    text += " (" + e.nonfinite_loss_place + ")";
  }
  return text;
}

const Finding* StreakBefore(const Facts& f) {
  const Finding* streak = f.found.First(kOverflowStreak);
  const bool before =
      f.lasting_nan != nullptr && streak != nullptr &&
      streak->severity > Severity::kInfo &&
      streak->opened_step < f.evidence.first_nonfinite_loss_step &&
      f.evidence.loss_finite_while_overflow > 0;
  return before ? streak : nullptr;
}

std::string OtherTerm(const Facts& f) {
  return WhichLoss(f).empty() ? TermOf(f) : "";
}

namespace {

// Returns the first step of the losses in a row that are not finite, the newest
// among them.
int64_t RowSince(const RunEvidence& e, const Finding* loss) {
  const int64_t first = e.first_nonfinite_loss_step;
  // Another rank's may have begun later.
  const bool other =
      e.world_size > 1 && loss != nullptr && loss->opened_step != first;
  if (loss == nullptr || other) return first;
  return static_cast<int64_t>(
      NumberOf(*loss, "since")
          .value_or(static_cast<double>(std::max(loss->opened_step, first))));
}

}  // namespace

Tensed SentenceOfLoss(const Facts& f) {
  const RunEvidence& e = f.evidence;
  if (PrintsZeroForNan(f.run)) {
    return InBothTenses([&](Tense tense) {
      return fmt::format(
          "The loss {} printed as exactly 0 from step {} on. Most likely it {} "
          "NaN: Hugging Face's Trainer leaves NaN out of the mean "
          "that it prints.",
          In(tense, "is", "was"), e.first_nonfinite_loss_step,
          In(tense, "is", "was"));
    });
  }
  const Finding* loss = f.found.First(kLossNonfinite);
  const bool goes_on =
      loss != nullptr && NumberOf(*loss, "streak").value_or(1) > 0;
  const int64_t first = e.first_nonfinite_loss_step;
  const int64_t row = RowSince(e, loss);
  return InBothTenses([&](Tense tense) {
    const std::string since =
        goes_on
            ? fmt::format(
                  "{} step {}{}",
                  In(tense, "has not been finite since", "was not finite from"),
                  row, In(tense, "", " on")) +
                  (first < row
                       ? fmt::format(", nor at times from step {} on", first)
                       : "")
        : e.loss_nonfinite == 1
            ? fmt::format("was not finite once, at step {}",
                          e.first_nonfinite_loss_step)
            : fmt::format("was not finite {}, from step {} to {}", HowOften(e),
                          e.first_nonfinite_loss_step,
                          e.last_nonfinite_loss_step);
    const std::string lead =
        fmt::format("The loss{}{} {}. ", WhichLoss(f), OnRank(e), since);
    if (const Finding* streak = StreakBefore(f)) {
      return lead + fmt::format(
                        "Before that every update overflowed from step {} on: "
                        "look there first.",
                        streak->opened_step);
    }
    return fmt::format(
        "{}That {} from the forward pass, the data or the weights{}.", lead,
        goes_on ? In(tense, "comes", "came") : "came",
        f.scaled ? ", not from the loss scale" : "");
  });
}

}  // namespace nanwatch
