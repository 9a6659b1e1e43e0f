// A loss that stood or rose, of a model that learns all the same.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "diagnose/cause_form.h"
#include "model/score_row.h"

namespace nanwatch {
namespace {

constexpr double kRose = 2;      // moves from value to value; as score_lost's
constexpr double kEffect = 0.5;  // of the larger of its ends; as score_lost's

// Returns the score, a return or an accuracy, where it grew.
std::optional<ScoreRow> ScoreThatGrew(const RunDescription& run) {
  const ScoreRow score = ScoreRow::ReadBest(run, "score_best");
  const double rise = score.best - score.first;
  const double size = std::max(std::fabs(score.best), std::fabs(score.first));
  const bool grew = rise > kRose * score.noise && rise >= kEffect * size;
  return grew ? std::optional(score) : std::nullopt;
}

// True where all findings of the rule have that number, and there is one.
bool AllHave(const Facts& f, RuleId rule, const char* number, Match* match) {
  match->verdict.grade = EvidenceGrade::kEstablished;
  match->verdict.rule = rule;
  return match->BeginAt(f.found.First(rule)) &&
         !f.found.Any([&](const Finding& finding) {
           return finding.rule == rule && !NumberOf(finding, number);
         });
}

}  // namespace

bool WhenLateStart(const Facts& f, const Matches&, Match* match) {
  return AllHave(f, RuleId::kLossNotDecreasing, "stood", match);
}

void SayLateStart(const Facts&, Match* match) {
  match->Say("A late start. " + match->Quote(*match->finding));
}

// Where a return or an accuracy came to its best long after that, the loss is
// none that must fall: a queue of negatives that fills, a critic.
bool WhenScoreGrows(const Facts& f, const Matches&, Match* match) {
  const std::optional<ScoreRow> score = ScoreThatGrew(f.run);
  if (!score) return false;
  const Finding* first = f.found.FirstWhere(
      [](const Finding& finding) { return kLossLevel.has(finding.rule); });
  if (!match->BeginAt(first)) return false;
  const int64_t since = f.evidence.last_step - first->opened_step;
  match->verdict.grade = EvidenceGrade::kEstablished;
  return score->best_at - first->opened_step >= since / 2;
}

void SayScoreGrows(const Facts& f, Match* match) {
  const std::optional<ScoreRow> score = ScoreThatGrew(f.run);
  match->Say(fmt::format(
      "The score (a return or an accuracy) came from {:.4g} to its best, "
      "{:.4g}, at step {}: the model learns, though its loss rose at step {}.",
      score->first, score->best, score->best_at, match->verdict.step));
}

bool WhenRecurs(const Facts& f, const Matches&, Match* match) {
  return AllHave(f, RuleId::kLossSpike, "returns", match);
}

void SayRecurs(const Facts&, Match* match) {
  if (const auto every = NumberOf(*match->finding, "every")) {
    match->Say(InBothTenses([&](Tense tense) {
      return fmt::format(
          "The loss {} so each {:.0f} records, and {} back each time: "
          "something is reset by a clock, or begins anew.",
          In(tense, "rises", "rose"), *every, In(tense, "comes", "came"));
    }));
    return;
  }
  match->Say(fmt::format(
      "The loss rose as high {:.0f} times before, and came back each time: "
      "batches that are sorted, or tasks that take turns, look so.",
      NumberOf(*match->finding, "returns").value_or(0)));
}

}  // namespace nanwatch
