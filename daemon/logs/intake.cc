// Assembler: what lines say is taken once, and with what belongs to it.

#include <algorithm>
#include <cmath>
#include <utility>

#include "logs/assembler.h"

namespace nanwatch {
namespace {

// Overflows that may wait for their step line; then they are told without one.
constexpr size_t kWaitingMax = 64;
// Adversaries' losses that are told behind one that was not finite: as many as
// show that it is over.
constexpr int32_t kFiniteAgain = 24;

// Of means. One of scales is none that an update had; but one below 1, or none
// at all, is a level that all of them came to. One norm that was infinite, of
// an update that was skipped, makes the mean so; had it been applied, the loss
// would show it.
void KeepWhatHoldsForUpdates(MeanNorms* norms, LogFact* fact) {
  constexpr double kBelowAll = 0x1p-127;  // what 0 is, which was above before
  if (fact->has(StepField::kLossScale)) {
    const double scale = (*fact)[StepField::kLossScale];
    if (std::isfinite(scale) && scale >= 1) fact->Unset(StepField::kLossScale);
    if (scale == 0) fact->Set(StepField::kLossScale, kBelowAll);
  }
  if (fact->has(StepField::kGradNorm) && fact->has(StepField::kLoss) &&
      std::isfinite((*fact)[StepField::kLoss]) && !norms->Counts(*fact)) {
    fact->Unset(StepField::kGradNorm);
  }
}

}  // namespace

void Assembler::TakeHappening(const LogFact& fact, uint64_t line) {
  Rank& rank = At(std::nullopt);
  TellBeside(&rank);
  const bool overflow = fact.kind == LogFact::Kind::kOverflow;
  rank.numbers_scalers |= fact.scaler.has_value();
  CopyFilter::Verdict verdict = CopyFilter::Verdict::kNew;
  if (overflow) {
    verdict = rank.copies.Judge(fact);
    if (rank.copies.two_scalers()) rank.lanes.NoDoubles();
    if (verdict == CopyFilter::Verdict::kCopy) return;
  } else if (!rank.waiting.empty()) {
    // The second line of two: the scale after the overflow just told.
    LogFact& before = rank.waiting.back().fact;
    if (before.kind == LogFact::Kind::kOverflow &&
        !before.has(StepField::kLossScale) && fact.has(StepField::kLossScale)) {
      before.Set(StepField::kLossScale, fact[StepField::kLossScale]);
      return;
    }
  }
  const size_t lane = rank.lanes.OfHappening(fact, verdict);
  double& scale = rank.lanes[lane].scale;
  // "0" of a scale that is known, and is below what was printed.
  const bool below =
      fact.scale_at_most && scale > 0 && scale <= fact[StepField::kLossScale];
  if (!overflow && fact.has(StepField::kLossScale) &&
      (below || scale == fact[StepField::kLossScale])) {
    return;  // a copy, or the scale that it had anyway
  }
  rank.waiting.push_back({line, lane, fact});
  LogFact& kept = rank.waiting.back().fact;
  if (below) kept.Set(StepField::kLossScale, scale);
  if (kept.has(StepField::kLossScale)) scale = kept[StepField::kLossScale];
  if (rank.waiting.size() >= kWaitingMax) TellWaiting(&rank);
}

// Facts are large, and most are taken as they are: one is copied where it is
// told otherwise.
void Assembler::TakeProgress(const LogFact& told, uint64_t line) {
  if (told.of_epoch || told.means) {
    LogFact fact = told;
    KeepWhatHoldsForUpdates(&At(fact.rank).norms, &fact);
    TakeStepLine(fact, line);
  } else {
    TakeStepLine(told, line);
  }
}

void Assembler::TakeStepLine(const LogFact& fact, uint64_t line) {
  Rank& rank = At(fact.rank);
  if (!fact.beside && !fact.scaler &&
      (!rank.lanes.several() || rank.series.several())) {
    if (fact.words != 0 && fact.has(StepField::kLoss) &&
        rank.series.SaysAgain(fact.words, fact.step, fact[StepField::kLoss])) {
      return;
    }
    const size_t series =
        fact.words == 0
            ? 0
            : rank.series.Of(fact.words, fact.step, words_, fact.words_in_turn);
    if (rank.step_copies[series].IsCopy(fact, habits_.surely_take_steps)) {
      return;
    }
    if (rank.series.several()) {
      loss_series_ |= !rank.series.adversaries();
      LogFact own = fact;
      own.scaler = static_cast<int32_t>(series);
      PlaceBeside(&rank, series, &own);
      TakeOwn(&rank, own, line);
      return;
    }
  }
  if (fact.of_adversary && (!fact.scaler || rank.numbers_scalers)) {
    LogFact kept = fact;
    // Scalers with numbers of the program's own are no adversaries'.
    kept.scaler.reset();
    KeepOfAdversary(&rank, &kept);
    if (fact.scaler == 1 && !kept.has(StepField::kLoss)) return;
    TakeOwn(&rank, kept, line);
  } else {
    TakeOwn(&rank, fact, line);
  }
}

// Lines of a series that show no step are of the one that others showed above.
void Assembler::PlaceBeside(Rank* rank, size_t series, LogFact* fact) const {
  const int64_t newest = rank->last_step;
  const int64_t own = rank->lanes.last_step(static_cast<int32_t>(series));
  if (fact->step || numbered_lines_ == 0 || newest <= own) return;
  fact->step = newest;
}

// A line that is no copy of another rank's.
void Assembler::TakeOwn(Rank* rank, const LogFact& fact, uint64_t line) {
  if (fact.skipped_total && rank->lanes.has_double()) JudgeDouble(rank, fact);
  rank->copies.Separate();
  if (rank->copies.two_scalers()) rank->lanes.NoDoubles();
  if (fact.beside && habits_.has_program) {
    TakeBeside(rank, fact, line);
    return;
  }
  if (fact.step && !fact.step_of_counter && habits_.has_program) {
    rank->numbers_steps = true;
  }
  if (rank->beside.empty()) {
    TellProgress(rank, fact, line);
    return;
  }
  const size_t newest = rank->beside.size() - 1;
  const size_t own = OptimizerLanes::IsNumbered(fact)
                         ? std::min(newest, static_cast<size_t>(*fact.scaler))
                         : newest;
  LogFact both = fact;
  const LogFact& beside = rank->beside[own].fact;
  if (!both.step) both.step = beside.step;
  if (!both.skipped_total) both.skipped_total = beside.skipped_total;
  rank->beside.erase(rank->beside.begin() + static_cast<ptrdiff_t>(own));
  if (!OptimizerLanes::IsNumbered(fact)) {
    TellBeside(rank);
    rank->beside.clear();
  }
  TellProgress(rank, both, line);
}

// Their level is no training's; that one is not finite is trouble, until others
// are again.
void Assembler::KeepOfAdversary(Rank* rank, LogFact* fact) {
  if (!std::isfinite((*fact)[StepField::kLoss])) {
    rank->adversaries = kFiniteAgain;
  } else if (rank->adversaries > 0) {
    --rank->adversaries;
  } else {
    fact->Unset(StepField::kLoss);
  }
}

// What a rank said twice of one scale is two overflows of one scaler, which
// grew in between, where its counter counts both; another optimizer's are in a
// counter of its own.
void Assembler::JudgeDouble(Rank* rank, const LogFact& counter) {
  const auto overflows = std::count_if(
      rank->waiting.begin(), rank->waiting.end(), [](const Happening& h) {
        return h.fact.kind == LogFact::Kind::kOverflow;
      });
  const bool doubled =
      std::any_of(rank->waiting.begin(), rank->waiting.end(),
                  [](const Happening& h) { return h.lane == 1; });
  if (!doubled || SkippedSince(rank->lanes[0], counter) != overflows) return;
  rank->copies.CountedTwice();
  for (Happening& h : rank->waiting) h.lane = 0;
  rank->lanes.DropDouble();
}

// Those of one step, in the order of the optimizers.
void Assembler::TakeBeside(Rank* rank, const LogFact& fact, uint64_t line) {
  const bool another = rank->beside.empty() ||
                       rank->beside.back().fact.step != fact.step ||
                       rank->beside.size() == OptimizerLanes::kMax;
  if (another) {
    TellBeside(rank);
    rank->beside.clear();
  }
  rank->beside.push_back({line, fact});
}

// A library's step line that none of the program's followed: a step line of its
// own, where the program's do not number the steps.
void Assembler::TellBeside(Rank* rank) {
  if (rank->numbers_steps) return;
  for (const Numbered& beside : std::exchange(rank->beside, {})) {
    TellProgress(rank, beside.fact, beside.line);
  }
}

}  // namespace nanwatch
