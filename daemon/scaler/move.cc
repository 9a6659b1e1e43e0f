#include "scaler/move.h"

#include <algorithm>
#include <cmath>

#include "model/scale_bound.h"

namespace nanwatch {
namespace {

// to == from * factor^k for some 1 <= k <= most.
bool IsPower(double from, double to, double factor, int64_t most) {
  double at = from;
  for (int64_t k = 0; k < std::min<int64_t>(most, 400); ++k) {
    at *= factor;
    if (SameScale(at, to)) return true;
    if ((factor < 1) == (at < to)) return false;
  }
  return false;
}

// Logs print small scales with so few digits that their ratio says little.
bool Rounded(double scale) {
  int exponent = 0;
  return scale < 0.01 && std::frexp(scale, &exponent) != 0.5;
}

// The same where a log printed one of both as 0: it may have been anything
// below, and no ratio says how it came there or from there.
bool ReachableInPrint(const ScalerParameters& p, double from, double to,
                      int64_t gap) {
  if (to > from) return gap > 1 || to <= p.growth_factor * from;
  return p.floor == 0 || to > p.floor || SameScale(to, p.floor);
}

}  // namespace

bool Reachable(const ScalerParameters& p, double from, double to, int64_t gap) {
  if (p.growth == Growth::kStatistical) return true;
  if (p.growth == Growth::kNever) return false;
  if (BoundOf(std::min(from, to))) return ReachableInPrint(p, from, to, gap);
  if (p.growth == Growth::kEither) {
    return IsPower(from, to, p.growth_factor, gap) ||
           IsPower(from, to, p.backoff_factor, gap);
  }
  if (p.floor > 0 && to < p.floor && !SameScale(to, p.floor)) return false;
  if (p.ceiling > 0 && to > p.ceiling && !SameScale(to, p.ceiling)) {
    return false;
  }
  if (p.floor > 0 && to < from && SameScale(to, p.floor)) return true;
  if (p.ceiling > 0 && p.at_ceiling == AtCeiling::kClamps && to > from &&
      SameScale(to, p.ceiling)) {
    return true;
  }
  // An overflowing update is often tried again under the same step number, so
  // the number of backoffs between two records is not bounded by the gap.
  if (to < from && IsPower(from, to, p.backoff_factor, 400)) return true;
  const int64_t growths = std::min<int64_t>(gap, 64);
  if (IsPower(from, to, p.growth_factor, growths)) return true;
  if (gap <= 1) return false;
  double grown = from;  // some growths, some backoffs
  for (int64_t k = 0; k < growths; ++k) {
    grown *= p.growth_factor;
    if (SameScale(grown, to) || IsPower(grown, to, p.backoff_factor, 400)) {
      return true;
    }
  }
  return false;
}

bool Stands(double from, double to) {
  return to == from || (from > 0 && to > from && BoundOf(to));
}

Impossible WhyImpossible(const ScalerParameters& p, const Move& move) {
  if (FollowsStatistics(p.growth)) return Impossible::kNone;
  const bool before = move.before == Told::kOverflow;
  const bool now = move.now == Told::kOverflow;
  if (move.to > move.from) {
    // One of the two updates is the growth's, and `order` may say which.
    const bool at_overflow = move.order == ScaleOrder::kBefore  ? before
                             : move.order == ScaleOrder::kAfter ? now
                                                                : before && now;
    if (move.consecutive && at_overflow &&
        !ScalerModel(p).Possible(move.from, move.to, true)) {
      return Impossible::kGrewAtOverflow;
    }
    return move.quiet >= 0 && move.quiet < move.least_quiet
               ? Impossible::kGrewEarly
               : Impossible::kNone;
  }
  // Where neither record overflowed, updates that are not recorded did.
  if (!move.consecutive || !(before || now) || Rounded(move.to)) {
    return Impossible::kNone;
  }
  return ScalerModel(p).Possible(move.from, move.to, true)
             ? Impossible::kNone
             : Impossible::kFellTwice;
}

}  // namespace nanwatch
