// Assembler: what the stretch from one step line to the next amounts to. Its
// overflows and raises are spread evenly, or stand in one row while the search
// of the start for a scale is still on.

#include <algorithm>
#include <cmath>

#include "logs/assembler.h"

namespace nanwatch {

namespace {

// The norm is none of this update's: the step was skipped.
bool NormOfBefore(const LogFact& fact) {
  return fact.norm_told == NormTold::kZero || fact.norm_told == NormTold::kOld;
}

bool NormIsBlown(const LogFact& fact) {
  return fact.is_not_finite(StepField::kGradNorm);
}

// Where nothing tells overflows: the norm shows that this update was skipped.
// What one that is not finite means, the falls of the scale have shown: at its
// floor, or while its scaler forgives, it stands.
bool NormShowsSkip(const OptimizerLane& lane, const LogFact& fact) {
  constexpr int kShown = 2;
  const bool rises = fact.has(StepField::kLossScale) &&
                     fact[StepField::kLossScale] > lane.scale;
  return NormOfBefore(fact) ||
         (lane.blown_falls >= kShown && NormIsBlown(fact) && !rises);
}

}  // namespace

// The log's first line says that nothing was skipped, as does the next one,
// where the scale has fallen: such a counter does not count (DeepSpeed's, under
// Megatron). Then the first update was skipped, too, unless its norm is one of
// its own: a search for the scale, which no good step has ended.
void Assembler::DoubtFirst(const LogFact& next) {
  const LogFact first = held_.front().fact;
  const auto scale_of = [](const LogFact& fact) {
    return fact.has(StepField::kLossScale) ? fact[StepField::kLossScale] : 0;
  };
  // All of the next interval was skipped, and the scale is where it was: one
  // so high is no floor, nothing lowers it.
  constexpr double kNoFloor = 0x1p12;
  At(first.rank).lanes[0].scale_stands =
      scale_of(first) >= kNoFloor && scale_of(next) == scale_of(first) &&
      first.step && next.step && next.skipped_since > 1 &&
      *next.skipped_since >= *next.step - *first.step;
  if (first.skipped_since != 0 || next.skipped_since != 0 ||
      first.rank != next.rank || first.scaler || next.scaler ||
      !(scale_of(next) > 0 && scale_of(next) < scale_of(first))) {
    return;
  }
  for (const Numbered& held : held_) {
    if (held.fact.kind == LogFact::Kind::kOverflow || held.fact.skipped_total) {
      return;
    }
  }
  At(first.rank).lanes[0].counter_lies = true;
  const StepField norm = StepField::kGradNorm;
  const bool own = first.has(norm) && first[norm] != 0;
  const bool again =
      next.norm_told == NormTold::kAgain || next.norm_told == NormTold::kOld;
  if (own ? !again : !first.has(norm) && next.has(norm)) return;
  for (Numbered& held : held_) held.fact.norm_told = NormTold::kOld;
}

// The scale of the first update of a search that a counter alone tells: each
// skip but the first, which most scalers forgive or which the first record
// shows behind it, halved it. 0: nothing tells. No program begins above 2^32:
// what was skipped more often stood at a floor. A restarted process that
// searches again counts, too.
double Assembler::SearchedFrom(const OptimizerLane& lane, const LogFact& fact,
                               const Interval& interval) {
  constexpr double kHighest = 0x1p32;
  constexpr int64_t kClean = 3;    // lines before a restart, at least
  constexpr double kRaised = 64;   // by more than it grows in an interval
  constexpr double kFastest = 16;  // updates a growth
  constexpr double kAsBefore = 4;
  const double scale =
      fact.has(StepField::kLossScale) ? fact[StepField::kLossScale] : 0;
  const int64_t skips = interval.unlisted;
  if (interval.overflows > 0 || skips < 2 || !(scale > 0) ||
      !std::isfinite(scale) || fact.scale_at_most) {
    return 0;
  }
  const int halvings = static_cast<int>(std::min<int64_t>(skips - 1, 64));
  const double start =
      std::max(scale, std::min(std::ldexp(scale, halvings), kHighest));
  if (lane.first_step < 0) return lane.scale_stands ? 0 : start;
  // The steps go on, and a fresh scaler begins where the first one did.
  const bool anew = lane.clean_lines >= kClean && lane.scale > 0 &&
                    start >= kRaised * lane.scale &&
                    std::log2(start / lane.scale) * kFastest >
                        static_cast<double>(interval.updates) &&
                    start >= lane.began / kAsBefore &&
                    start <= lane.began * kAsBefore;
  return anew ? start : 0;
}

// What a counter since the start adds to the interval that ends with its line.
int64_t Assembler::SkippedSince(const OptimizerLane& lane,
                                const LogFact& fact) const {
  const int64_t total = *fact.skipped_total;
  if (lane.skipped_total >= 0) return total - lane.skipped_total - lane.ahead;
  // The first count holds what lines told already, and what was before the
  // log's first line.
  const int64_t missing = total - lane.ahead;
  if (!fact.step) return missing;
  const int64_t reach = first_gap_ > 0 ? first_gap_ : kIntervalMax;
  if (lane.first_step < 0) return *fact.step <= reach ? missing : 0;
  const int64_t updates = *fact.step - lane.first_step + 1;
  return habits_.skips_take_steps && missing > updates ? 0 : missing;
}

// Updates of the interval that ends with the log's first line, or with the
// first one after the steps went back. A counter since the start counts from
// step 1; one since the line before, from where that would have been.
int64_t Assembler::FirstUpdates(const OptimizerLane& lane,
                                const LogFact& fact) const {
  const int64_t gap = lane.usual_gap > 0 ? lane.usual_gap : first_gap_;
  if (gap > 0) return std::min(*fact.step, gap);
  return fact.skipped_total && *fact.step <= kIntervalMax ? *fact.step : 1;
}

// Where nothing told an overflow of the interval that ends with `fact`, and its
// counter does not count: whether its scale shows one. It may show several, but
// not whether in a row.
bool Assembler::Fell(OptimizerLane* lane, const LogFact& fact) {
  const double scale =
      fact.has(StepField::kLossScale) ? fact[StepField::kLossScale] : 0;
  if (!(scale > 0 && scale < lane->scale)) return false;
  const int64_t gap =
      fact.step && lane->last_step >= 0 ? *fact.step - lane->last_step : 0;
  // No lines were left out of the log in between.
  const bool usual = lane->usual_gap == 0 || gap <= 2 * lane->usual_gap;
  if (usual && lane->early_overflows == 0 && !fact.overflow.value_or(false)) {
    lane->counter_lies = true;
  }
  return lane->counter_lies;
}

Assembler::Interval Assembler::Weigh(Rank* rank, size_t lane,
                                     const LogFact& fact) {
  OptimizerLane& own = rank->lanes[lane];
  Interval interval;
  for (const Happening& h : rank->waiting) {
    if (h.lane == lane && h.fact.kind == LogFact::Kind::kOverflow) {
      ++interval.overflows;
    }
  }
  int64_t counted = fact.skipped_since.value_or(0);
  int64_t since = 0;
  const bool in_part = own.skipped_total < 0 && own.first_step < 0;
  if (fact.skipped_total) {
    since = SkippedSince(own, fact);
    counted = std::max(counted, since);
    own.skipped_total = *fact.skipped_total;
  }
  const bool untold = counted == 0 && interval.overflows == 0;
  if (untold && Fell(&own, fact)) {
    counted = 1;
    own.blown_falls = NormIsBlown(fact) ? own.blown_falls + 1 : 0;
  }
  const bool shown =
      untold && counted == 0 && own.counter_lies && NormShowsSkip(own, fact);
  const int64_t gap =
      fact.step && own.last_step >= 0 ? *fact.step - own.last_step : 0;
  if (gap > 0 && (own.usual_gap == 0 || gap < own.usual_gap)) {
    own.usual_gap = gap;
  }
  // Lines of overflows stand with the first rank; others count their own.
  const bool own_word = rank->rank == 0 || fact.skipped_since ||
                        fact.skipped_total || fact.overflow;
  // Programs that tell overflows in step lines alone tell one at most.
  const int64_t reach = own.last_step < 0 ? fact.step.value_or(0) : gap;
  own.tells_each |= interval.overflows > 1 && reach > interval.overflows;
  interval.known = (habits_.tells_overflows || own.tells_each) &&
                   !own.counter_lies && own_word;
  interval.unlisted = std::clamp<int64_t>(
      counted - interval.overflows - own.early_overflows, 0, kUnlistedMax);
  const int64_t all = interval.overflows + interval.unlisted;
  const int64_t told = all + own.early_overflows + (shown ? 1 : 0);
  if (!fact.skipped_total) {
    own.ahead += told;
  } else {
    // A counter that waits for the program's line has newer overflows between.
    // A log's first count is of the time before, too.
    own.ahead = in_part ? 0 : std::max<int64_t>(0, told - since);
  }
  if (fact.step && own.last_step >= 0) {
    interval.updates = *fact.step - own.last_step;
  } else if (fact.step && counted > 0) {
    interval.updates = FirstUpdates(own, fact);
  }
  if (habits_.skips_take_steps || fact.skips_took_steps) {
    interval.updates -= own.early;
  } else {
    interval.updates += all;
  }
  // An epoch has good updates, too.
  const int64_t at_least = fact.of_epoch ? all + 1 : all;
  interval.updates =
      std::clamp<int64_t>(interval.updates, std::max<int64_t>(1, at_least),
                          std::max(at_least, kIntervalMax));
  // Which of them, and whether in a row, a count does not tell: one stands for
  // all, but where it was every update.
  const int64_t nan = std::min(fact.nan_since.value_or(0), all);
  interval.nan = nan == interval.updates ? nan : std::min<int64_t>(nan, 1);
  return interval;
}

// Nothing told it, and the counter does not count; but the norm shows that the
// newest update was skipped.
bool Assembler::ShowsOverflow(const OptimizerLane& lane,
                              const Interval& interval, const LogFact& fact) {
  return lane.counter_lies && !fact.overflow && interval.overflows == 0 &&
         interval.unlisted == 0 && NormShowsSkip(lane, fact);
}

// Where each overflow is told, an update without one has finite numbers of its
// own: a line that shows others, or says so, is of one that overflowed.
bool Assembler::EndsInOverflow(const std::vector<Happening>& waiting,
                               const OptimizerLane& lane,
                               const Interval& interval, const LogFact& fact) {
  if (!interval.known && !waiting.empty() && waiting.back().fact.of_next_line) {
    return true;
  }
  const auto blown = [&fact, &interval](StepField f) {
    return interval.known && fact.is_not_finite(f);
  };
  if (!blown(StepField::kLoss) && !blown(StepField::kGradNorm) &&
      !fact.overflow.value_or(false) &&
      !(lane.counter_lies && NormShowsSkip(lane, fact))) {
    return false;
  }
  if (interval.unlisted > 0) return true;
  return !waiting.empty() &&
         waiting.back().fact.kind == LogFact::Kind::kOverflow;
}

}  // namespace nanwatch
