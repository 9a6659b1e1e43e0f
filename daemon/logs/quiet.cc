// Assembler: overflows that no step line places, and the good updates between
// them that their scales show.

#include <algorithm>
#include <cmath>
#include <utility>

#include "logs/assembler.h"

namespace nanwatch {
namespace {

// Raises that twice the scale after an overflow shows, from one step line to
// the next, where that is no epoch: of more, the scale stands at a floor, and
// overflow follows overflow.
constexpr int kGuessesMax = 3;
// Raises of one overflow: what lies farther apart is another scaler's, or torn.
constexpr int kRaisesMax = 8;

}  // namespace

// What is tried above what was left has been raised, and scalers raise
// behind many good updates only. Where steps are printed they show how many
// there were. A scale below 1 is that of no run in which many were good.
Assembler::Quiet Assembler::QuietBefore(OptimizerLane* lane,
                                        const LogFact& fact) const {
  const double left = lane->left;
  const bool shown = fact.has(StepField::kLossScale);
  const double after = shown ? fact[StepField::kLossScale] : 0;
  const bool raise = fact.kind == LogFact::Kind::kScale;
  const double before = raise ? after : fact.scale_before.value_or(2 * after);
  if (!shown && !fact.scale_before) {
    lane->left = 0;
  } else {
    lane->left = shown ? after : std::max(before / 2, std::min(before, 1.0));
  }
  Quiet quiet;
  if (!updates_unknown() || fact.step || lane->left == 0) return quiet;
  quiet.guessed = !raise && !fact.scale_before && after == left;
  // Many scalers stand at 1 for ever.
  if (!(left >= (quiet.guessed ? 2 : 1) && before > left) ||
      !std::isfinite(before)) {
    return quiet;
  }
  quiet.from = left;
  quiet.raises = static_cast<int>(std::lround(std::log2(before / left)));
  if (quiet.raises > kRaisesMax) quiet.raises = 0;
  quiet.told = raise;
  return quiet;
}

std::vector<Assembler::Quiet> Assembler::QuietBetween(
    OptimizerLane* lane, const std::vector<Happening>& waiting,
    bool of_epoch) const {
  std::vector<Quiet> quiet;
  quiet.reserve(waiting.size());
  int guesses = 0;
  for (const Happening& h : waiting) {
    quiet.push_back(QuietBefore(lane, h.fact));
    if (quiet.back().guessed) ++guesses;
  }
  if (of_epoch || guesses <= kGuessesMax) return quiet;
  for (Quiet& each : quiet) {
    if (each.guessed) each.raises = 0;
  }
  return quiet;
}

// Each raise is that of the last of its good updates.
void Assembler::TellQuiet(Rank* rank, const Happening& before,
                          const Quiet& quiet) {
  double scale = quiet.from;
  for (int raise = 0; raise < quiet.raises; ++raise) {
    const bool by_itself = quiet.told && raise + 1 == quiet.raises;
    const int64_t updates = by_itself ? kGrowthMin - 1 : kGrowthMin;
    for (int64_t i = 0; i < updates; ++i) {
      LogRecord record;
      record.shown = false;
      record.step.step = std::max<int64_t>(
          {0, rank->last_step, rank->lanes[before.lane].told_step});
      MarkGood(i + 1 == kGrowthMin ? 2 * scale : scale, &record.step);
      Tell(rank, before.lane, before.line, &record);
    }
    scale *= 2;
  }
}

// Without a step line to place them: after the newest record, a step each where
// the log has no steps.
void Assembler::TellWaiting(Rank* rank) {
  for (const Happening& h : std::exchange(rank->waiting, {})) {
    OptimizerLane& lane = rank->lanes[h.lane];
    TellQuiet(rank, h, QuietBefore(&lane, h.fact));
    LogRecord record;
    record.step.step =
        h.fact.step.value_or(std::max(lane.told_step, rank->last_step) + 1);
    MarkEvent(&h, &record.step);
    Tell(rank, h.lane, h.line, &record);
    ++lane.early;
    if (h.fact.kind == LogFact::Kind::kOverflow) ++lane.early_overflows;
  }
}

}  // namespace nanwatch
