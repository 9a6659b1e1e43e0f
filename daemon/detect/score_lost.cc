#include "detect/score_lost.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "detect/sentence.h"

namespace nanwatch {
namespace {

// What a rise is: no noise, no wandering there and back, and of effect.
constexpr double kRose = 2;         // moves from value to value; ours
constexpr double kWander = 3;       // times the furthest way back; ours
constexpr double kEffect = 0.5;     // of the larger of its ends; ours
constexpr double kStood = 12;       // values nearer to the best; ours
constexpr double kFewest = 6;       // values far from it, at the end; ours
constexpr double kEndShare = 0.05;  // of all values, at the end of a log; ours
constexpr double kShare = 0.33;  // of all values, while more may follow; ours
constexpr double kUnused = 8;    // values of latents at the prior; ours
constexpr double kUnusedShare = 0.5;  // of all values, they are; ours
constexpr double kCloser = 0.1;       // of the first of those; ours
constexpr double kFewBlown = 2;       // evaluations at the end of a log; ours
constexpr double kManyBlown = 4;      // evaluations; ours

constexpr ThresholdSpec kThresholds[] = {
    {"lost_share", 0.9, 0.5, 1, "ratio",
     "ours: a policy or a net that came to something and is back at nothing"},
    {"blown", 10, 1.5, 1e9, "ratio",
     "ours: a net that learns by heart doubles an evaluation's loss, or "
     "triples it"},
    {"hold", 64, 2, 1e6, "values",
     "ours: policies forget, and come back within tens of episodes"},
};

}  // namespace

constinit const RuleSpec ScoreLost::kSpec = {
    RuleId::kScoreLost,
    "score_lost",
    Family::kLoss,
    "A return or an accuracy fell back to where it began, the loss of an "
    "evaluation blew up, or an autoencoder's latents say nothing.",
    "A log prints a return (reward) or an accuracy that rose by twice what it "
    "moves from value to value, by three times its furthest way back and by "
    "half of its size, and stood there for 12 values. It lost lost_share of "
    "that, or fell as far from where it began, and stays so for `hold` values "
    "and a third of all, or, at the end "
    "of a log, for 6 values and 5 % of all. Or the loss of an "
    "evaluation is blown times the lowest, and above the first, in 4 "
    "evaluations in a row, or in the last 2 of a log. One that ends a log 1.5 "
    "times its lowest, and above the first, for 4 evaluations, is a note. So "
    "is the KL term of an autoencoder (beside an ELBO or a reconstruction) "
    "that "
    "is below 0.01 for 8 values and half of all, and fell to half of itself "
    "there.",
    "It comes half of the way back; an evaluation's loss below 1.5 times the "
    "lowest.",
    kThresholds,
    "The loss of a policy says nothing of how well it plays, and that of a "
    "training nothing of other data. Returns are noisy, and policies forget "
    "for a while in health: so the rule waits for a row that stays."};

bool ScoreLost::IsLost(const ScoreRow& score, Thresholds t) {
  const double rise = score.best - score.first;
  const double size = std::max(std::fabs(score.best), std::fabs(score.first));
  const double fall = score.best - score.stands;
  const auto matters = [&score, size](double move) {
    return move > kRose * score.noise && move > kWander * score.wander &&
           move >= kEffect * size;
  };
  const bool back = matters(rise) && fall >= t[kLostShare] * rise;
  // However little it rose before, it is far below its first ones.
  const bool sank = score.stands < score.first && matters(fall);
  const bool stood = static_cast<double>(score.above) >= kStood;
  if (!stood || (!back && !sank)) return false;
  const auto low = static_cast<double>(score.records);
  const auto all = static_cast<double>(score.all);
  return score.ended ? low >= kFewest && low >= kEndShare * all
                     : low >= t[kHold] && low >= kShare * all;
}

Severity ScoreLost::OfEvaluation(const ScoreRow& evaluation, Thresholds t) {
  const auto high = static_cast<double>(evaluation.records);
  if (evaluation.stands <= evaluation.first) return Severity::kNone;
  const bool blown = evaluation.stands >= t[kBlown] * evaluation.best;
  if (blown && high >= (evaluation.ended ? kFewBlown : kManyBlown)) {
    return Severity::kWarning;
  }
  return high >= kManyBlown && evaluation.ended ? Severity::kInfo
                                                : Severity::kNone;
}

// They stand next to their prior (posterior collapse), and go on to it. What is
// so in health, as a mean over many of them, stays where it is.
bool ScoreLost::AreUnused(const ScoreRow& latents) {
  const auto low = static_cast<double>(latents.records);
  return low >= kUnused && low >= kUnusedShare * latents.all &&
         latents.first > 0 && latents.stands <= kCloser * latents.first;
}

Severity ScoreLost::OnTime(const TimeContext& c, Thresholds t) {
  const ScoreRow score = ScoreRow::Read(c.run, "score");
  const ScoreRow evaluation = ScoreRow::Read(c.run, "evaluation_high");
  const auto tell = [&](About about, const ScoreRow& row, Severity severity) {
    about_ = about;
    told_ = row;
    step_ = c.last_step;
    return severity;
  };
  const Severity blown = OfEvaluation(evaluation, t);
  if (blown < Severity::kWarning && IsLost(score, t)) {
    return tell(About::kScore, score, Severity::kWarning);
  }
  if (blown > Severity::kNone) {
    return tell(About::kEvaluation, evaluation, blown);
  }
  const ScoreRow latents = ScoreRow::Read(c.run, "latents_unused");
  return AreUnused(latents) ? tell(About::kLatents, latents, Severity::kInfo)
                            : Severity::kNone;
}

void ScoreLost::Describe(Finding* finding) const {
  finding->opened_step = told_.since;
  finding->last_step = std::max(step_, told_.since);
  if (about_ == About::kLatents) {
    finding->SayBoth([this](Tense tense) {
      return Sentence("The KL term ", In(tense, "is", "was"), " ", told_.stands,
                      " nats, below 0.01 for ", told_.records,
                      " records, and still ", In(tense, "falls", "fell"),
                      ": the latents ", In(tense, "say", "said"),
                      " nothing of what is to be reconstructed (posterior "
                      "collapse).");
    });
    finding->numbers = {{"divergence", told_.stands, "nats"},
                        {"records", static_cast<double>(told_.records), ""}};
    return;
  }
  finding->SayBoth([this](Tense tense) {
    return about_ == About::kEvaluation
               ? Sentence("An evaluation's loss ", In(tense, "is", "was"), " ",
                          told_.stands, " or more, and ",
                          In(tense, "was", "had been"), " ", told_.best,
                          " at its lowest: the training's own does not show "
                          "what ",
                          In(tense, "is", "was"), " lost.")
               : Sentence("The score (a return or an accuracy) had come from ",
                          told_.first, " to ", told_.best, ", and ",
                          In(tense, "stands", "stood"), " at ", told_.stands,
                          " for ", told_.records, " records: what was learned ",
                          In(tense, "is", "was"), " lost.");
  });
  finding->numbers = {{"stands", told_.stands, ""},
                      {"best", told_.best, ""},
                      {"first", told_.first, ""},
                      {"records", static_cast<double>(told_.records), ""}};
}

}  // namespace nanwatch
