// What a scaler's move from one record's scale to the next says: could the
// scaler have done it?

#ifndef NANWATCH_SCALER_MOVE_H_
#define NANWATCH_SCALER_MOVE_H_

#include <cstdint>

#include "scaler/model.h"

namespace nanwatch {

// Why a scaler could not have done what its scale did.
enum class Impossible : uint8_t {
  kNone,
  kRatio,           // neither growths nor backoffs lead there
  kGrewAtOverflow,  // a growth, though the update overflowed
  kGrewEarly,       // a growth long before the growth interval
  kFellTwice,       // one overflow, several backoffs
  kNeverFell,       // overflow upon overflow, and the scale stands
  kNotRestored,     // a restart begins far above any scale that fitted before
};

// What an update told the scaler, as far as its record says so for certain.
enum class Told : uint8_t { kUnknown, kGood, kOverflow };

// Which update a record's scale answers, as far as falls have shown.
enum class ScaleOrder : uint8_t { kUnknown, kBefore, kAfter };

struct Move {
  double from = 0;
  double to = 0;
  Told before = Told::kUnknown;  // the record of `from`
  Told now = Told::kUnknown;     // the record of `to`
  ScaleOrder order = ScaleOrder::kUnknown;
  int64_t quiet = -1;        // updates since the last change; -1: unknown
  int64_t least_quiet = 0;   // fewer before a growth are too few
  bool consecutive = false;  // no update between the two records
};

// Over `gap` updates, most of which were not seen. A scale of which only a
// bound is known (model/scale_bound.h) may have come from any above it.
bool Reachable(const ScalerParameters& p, double from, double to, int64_t gap);

// One of which only a bound above is known is no higher than it was.
bool Stands(double from, double to);

// Of a move that is Reachable: what of it the scaler never does, by the flags
// of both records and by the time since its last move.
Impossible WhyImpossible(const ScalerParameters& p, const struct Move& move);

}  // namespace nanwatch

#endif  // NANWATCH_SCALER_MOVE_H_
