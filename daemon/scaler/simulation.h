// Simulation: what another loss scaler would have done on recorded updates.
//
// An update that overflowed at one scale would have at every higher one; one
// that did not would not have at any lower one. Where its gradients were
// recorded, their largest value says at which scale it would have begun to. All
// else is assumed, and counted: where overflow followed overflow at a scale of
// 1 or less, that a lower one would not have helped either; as at the nearest
// update, before or after, that tells; and where none tells, an overflow.
//
// The gradients are taken as they were recorded: that weights would have become
// others where other updates are skipped is left out.

#ifndef NANWATCH_SCALER_SIMULATION_H_
#define NANWATCH_SCALER_SIMULATION_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "scaler/model.h"

namespace nanwatch {

struct RecordedUpdate {
  static constexpr double kNotRecorded =
      std::numeric_limits<double>::quiet_NaN();

  int64_t step = 0;
  double scale = 0;  // that it used; finite, > 0
  bool overflow = false;
  bool skipped = false;
  // As loss scales, of the gradients that were recorded with it: the largest
  // at which their largest value is still finite, and the smallest at which no
  // tensor loses more than kUnderflowAllowed of its elements.
  double fits_up_to = kNotRecorded;
  double needs = kNotRecorded;
};

// Whether an update would have overflowed at a scale, and who says so.
enum class Basis : uint8_t {
  kRecorded,   // the update itself, overflow or none
  kMeasured,   // the largest value of its gradients
  kNeighbour,  // assumed: the nearest update that tells
  kStuck,      // assumed to overflow: so did all around it, at 1 or less
  kNothing,    // assumed to overflow: no update tells
};
struct Answer {
  bool overflow = false;
  Basis basis = Basis::kRecorded;
};

class OverflowKnowledge {
 public:
  // Copies what it needs, at most 80 bytes an update.
  explicit OverflowKnowledge(std::span<const RecordedUpdate> updates);

  // REQUIRES: update < updates.size(), scale > 0. Costs the logarithm of
  // their number. Of two updates as near, the one that overflowed decides.
  Answer At(size_t update, double scale) const;

 private:
  // A node of a tree over the updates: the highest scale at which one below it
  // is known not to overflow, and the lowest at which one is known to.
  struct Node {
    double fits = 0;
    double overflows = std::numeric_limits<double>::infinity();
    bool Tells(double scale) const {
      return fits >= scale || overflows <= scale;
    }
  };
  static constexpr size_t kNone = static_cast<size_t>(-1);

  static Node Of(const RecordedUpdate& update);
  void MarkStuck(std::span<const RecordedUpdate> updates);
  size_t Before(size_t leaf, double scale) const;
  size_t After(size_t leaf, double scale) const;

  // Of each update, the scale above which only its gradients tell.
  std::vector<double> told_to_;
  // Of each update, the scale below which only its being stuck does; 0: it is
  // not.
  std::vector<double> stuck_at_;
  size_t leaves_ = 1;
  std::vector<Node> nodes_;  // the root is 1, leaf i is leaves_ + i
};

// What is done with updates that only an assumption could judge.
enum class Unknown : uint8_t { kAssume, kNeverOverflow, kAlwaysOverflow };

struct SimulatedScaler {
  ScalerParameters parameters;  // init > 0; not Growth::kStatistical
  bool skips = true;            // false: without a scaler nothing looks
};

struct Assumed {
  uint64_t updates = 0;
  uint64_t overflows = 0;   // of them, taken to overflow
  uint64_t untold = 0;      // of them, Basis::kNothing
  uint64_t stuck = 0;       // of them, Basis::kStuck
  int64_t first_step = -1;  // of them; -1: there are none
};

struct ScalerOutcome {
  uint64_t updates = 0;
  uint64_t overflows = 0;
  uint64_t skipped = 0;
  // Of the scales that updates used.
  double lowest = 0;
  double highest = 0;
  double last = 0;
  uint64_t at_floor = 0;             // updates; 0 where there is no floor
  int64_t floor_overflow_step = -1;  // the first overflow there; -1: none
  uint64_t bounded = 0;              // updates whose `needs` is known
  uint64_t underflow = 0;            // of those, at a lower scale
  uint64_t measured = 0;             // updates that Basis::kMeasured judged
  Assumed higher;  // no overflow was recorded; here at a higher scale
  Assumed lower;   // an overflow was recorded; here at a lower scale
};

// The recorded updates themselves. `floor` 0: none.
ScalerOutcome Recorded(std::span<const RecordedUpdate> updates, double floor);

// `knowledge` of the same updates.
ScalerOutcome Simulate(std::span<const RecordedUpdate> updates,
                       const OverflowKnowledge& knowledge,
                       const SimulatedScaler& scaler, Unknown unknown);

}  // namespace nanwatch

#endif  // NANWATCH_SCALER_SIMULATION_H_
