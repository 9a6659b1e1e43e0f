// What a log says of how well its training goes, beside its loss.

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "logs/evaluation_news.h"
#include "logs/log_reader.h"

namespace nanwatch {
namespace {

constexpr uint64_t kScores = 8;  // values that show a score; ours
// Nats of latents that say next to nothing.
constexpr double kNearPrior = 0.01;  // ours
constexpr int64_t kAccuracies = 5;   // evaluations; ours

}  // namespace

void LogReader::NoteScore(const LogFact& fact) {
  NoteWorst(fact);
  if (!std::isfinite(fact.score)) return;
  score_.Add(fact.score, fact.step.value_or(Place()));
  TellScore("score", score_.row(), false);
  lowest_score_ = std::min(lowest_score_, fact.score);
  highest_score_ = std::max(highest_score_, fact.score);
  const bool lowest =
      fact.score == lowest_score_ && lowest_score_ < highest_score_;
  if (at_lowest_.Take(lowest)) Put("scores_lowest", at_lowest_.Text());
  const auto all = static_cast<uint64_t>(score_.row().all);
  const bool due = all >= kScores && std::has_single_bit(all);
  if (due) run_.settings["score_best"] = score_.row().TextOfBest();
  mean_score_ += (fact.score - mean_score_) / static_cast<double>(all);
  if (due && fact.of_classes && !fact.of_rewards) {
    run_.settings["accuracy"] = std::to_string(mean_score_);
  }
}

void LogReader::NoteHigh(const LogFact& fact) {
  const double loss = fact[StepField::kLoss];
  ScoreRow& high = evaluations_;
  high.records =
      loss >= EvaluationNews::kFar * fact.lowest ? high.records + 1 : 0;
  if (high.records == 1) high.since = Place();
  // One alone stands out by chance.
  high.stands = std::min(std::exchange(high_loss_, loss), loss);
  high.best = fact.lowest;
  high.first = fact.first;
  TellScore("evaluation_high", high, false);
}

// What an accuracy beside them shows to move is no weights that stand still.
void LogReader::NoteSame(const LogFact& fact) {
  if (!fact.same) return;
  const bool moves = lowest_accuracy_ < highest_accuracy_;
  const bool told = *fact.same > 0 && !moves;
  Put("evaluations_same", told ? std::to_string(*fact.same) : "");
}

void LogReader::NoteAccuracy(const LogFact& fact) {
  // The first may be of what was loaded, before a step of this training.
  const bool rises = accuracies_ <= 1 || fact.score > highest_accuracy_;
  if (rises) highest_accuracy_ = fact.score;
  if (accuracies_ == 0 || fact.score < lowest_accuracy_) {
    lowest_accuracy_ = fact.score;
  }
  ++accuracies_;
  if (accuracies_ == kAccuracies || (accuracies_ > kAccuracies && rises)) {
    Put("evaluation_accuracy", std::to_string(highest_accuracy_));
  }
}

// One that is printed as 0 from the start may have a weight of 0.
void LogReader::NoteLatents(const LogFact& fact) {
  if (!fact.divergence || !std::isfinite(*fact.divergence)) return;
  const double size = std::fabs(*fact.divergence);
  ScoreRow& row = latents_;
  ++row.all;
  row.stands = size;
  const bool begins = row.records == 0;
  row.records =
      size < kNearPrior && (size > 0 || !begins) ? row.records + 1 : 0;
  if (begins) row.since = fact.step.value_or(Place());
  if (begins) row.first = size;
  TellScore("latents_unused", row, false);
}

// As often as the row has doubled: each is an event.
void LogReader::TellScore(const char* name, const ScoreRow& row, bool ended) {
  const auto records = static_cast<uint64_t>(row.records);
  if (records == 0) {
    Put(name, "");
  } else if (records > 1 && (ended || std::has_single_bit(records))) {
    ScoreRow told = row;
    told.ended = ended;
    Put(name, told.Text());
  }
}

// Of the first of a row says where that began.
void LogReader::NoteMeanNorm(const LogFact& fact) {
  if (norm_bad_ && bad_norms_.row() == 0) {
    bad_norms_since_ = fact.step.value_or(newest_step_);
  }
  if (!bad_norms_.Take(norm_bad_)) return;
  Put("norms_not_finite", bad_norms_.Text());
  const bool told = bad_norms_.row() > 0 && bad_norms_since_ > 0;
  Put("norms_not_finite_since", told ? std::to_string(bad_norms_since_) : "");
}

}  // namespace nanwatch
