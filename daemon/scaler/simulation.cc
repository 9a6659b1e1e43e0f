#include "scaler/simulation.h"

#include <algorithm>
#include <cmath>

namespace nanwatch {
namespace {

bool IsAtFloor(double scale, double floor) {
  return floor > 0 && (scale <= floor || SameScale(scale, floor));
}

// An update at `scale`, whoever chose it, and whether it overflowed there.
void Count(const RecordedUpdate& update, double scale, bool overflow,
           double floor, ScalerOutcome* outcome) {
  const bool first = outcome->updates++ == 0;
  outcome->lowest = first ? scale : std::min(outcome->lowest, scale);
  outcome->highest = first ? scale : std::max(outcome->highest, scale);
  outcome->last = scale;
  if (overflow) ++outcome->overflows;
  if (IsAtFloor(scale, floor)) {
    ++outcome->at_floor;
    if (overflow && outcome->floor_overflow_step < 0) {
      outcome->floor_overflow_step = update.step;
    }
  }
  if (std::isnan(update.needs)) return;
  ++outcome->bounded;
  if (scale < update.needs) ++outcome->underflow;
}

void CountAssumed(const RecordedUpdate& update, const Answer& answer,
                  ScalerOutcome* outcome) {
  Assumed& assumed = update.overflow ? outcome->lower : outcome->higher;
  if (assumed.updates++ == 0) assumed.first_step = update.step;
  if (answer.overflow) ++assumed.overflows;
  if (answer.basis == Basis::kNothing) ++assumed.untold;
  if (answer.basis == Basis::kStuck) ++assumed.stuck;
}

}  // namespace

OverflowKnowledge::OverflowKnowledge(std::span<const RecordedUpdate> updates) {
  told_to_.reserve(updates.size());
  MarkStuck(updates);
  while (leaves_ < updates.size()) leaves_ *= 2;
  nodes_.resize(2 * leaves_);
  for (size_t i = 0; i < updates.size(); ++i) {
    told_to_.push_back(updates[i].overflow
                           ? std::numeric_limits<double>::infinity()
                           : updates[i].scale);
    nodes_[leaves_ + i] = Of(updates[i]);
    if (stuck_at_[i] > 0) nodes_[leaves_ + i].overflows = 0;
  }
  for (size_t i = leaves_ - 1; i > 0; --i) {
    const Node& left = nodes_[2 * i];
    const Node& right = nodes_[2 * i + 1];
    nodes_[i] = {std::max(left.fits, right.fits),
                 std::min(left.overflows, right.overflows)};
  }
}

// Marks three overflows in a row at a scale of 1 or less, as scale_at_floor
// counts them: what overflows there is too large without any scaling, or not
// finite.
void OverflowKnowledge::MarkStuck(std::span<const RecordedUpdate> updates) {
  constexpr double kUnscaled = 1.005;  // logs round
  constexpr size_t kStreak = 3;
  stuck_at_.resize(updates.size());
  size_t from = 0;
  for (size_t i = 0; i <= updates.size(); ++i) {
    if (i < updates.size() && updates[i].overflow &&
        updates[i].scale <= kUnscaled) {
      continue;
    }
    for (size_t k = from; k < i && i - from >= kStreak; ++k) {
      stuck_at_[k] = updates[k].scale;
    }
    from = i + 1;
  }
}

OverflowKnowledge::Node OverflowKnowledge::Of(const RecordedUpdate& update) {
  Node node;
  if (update.overflow) {
    // Its largest value is in the overflow, not in what was left finite.
    node.overflows = update.scale;
    return node;
  }
  node.fits = update.scale;
  if (std::isnan(update.fits_up_to)) return node;
  // A value measured a little off cannot contradict what happened.
  node.fits = std::max(update.scale, update.fits_up_to);
  node.overflows =
      std::nextafter(node.fits, std::numeric_limits<double>::infinity());
  return node;
}

// The last leaf before `leaf` that tells.
size_t OverflowKnowledge::Before(size_t leaf, double scale) const {
  size_t node = leaves_ + leaf;
  do {
    while ((node & 1) == 0) node /= 2;  // a left child
    if (node == 1) return kNone;
    --node;
  } while (!nodes_[node].Tells(scale));
  while (node < leaves_) {
    node = 2 * node + (nodes_[2 * node + 1].Tells(scale) ? 1 : 0);
  }
  return node - leaves_;
}

// The first leaf after `leaf` that tells.
size_t OverflowKnowledge::After(size_t leaf, double scale) const {
  size_t node = leaves_ + leaf;
  do {
    while ((node & 1) == 1) node /= 2;  // a right child, or the root
    if (node == 0) return kNone;
    ++node;
  } while (!nodes_[node].Tells(scale));
  while (node < leaves_) {
    node = 2 * node + (nodes_[2 * node].Tells(scale) ? 0 : 1);
  }
  return node - leaves_;
}

Answer OverflowKnowledge::At(size_t update, double scale) const {
  const auto overflows = [&](size_t leaf) {
    return nodes_[leaves_ + leaf].overflows <= scale;
  };
  if (nodes_[leaves_ + update].Tells(scale)) {
    if (scale < stuck_at_[update]) return {true, Basis::kStuck};
    return {overflows(update),
            scale > told_to_[update] ? Basis::kMeasured : Basis::kRecorded};
  }
  const size_t before = Before(update, scale);
  const size_t after = After(update, scale);
  if (before == kNone && after == kNone) return {true, Basis::kNothing};
  if (before == kNone) return {overflows(after), Basis::kNeighbour};
  if (after == kNone) return {overflows(before), Basis::kNeighbour};
  const size_t back = update - before;
  const size_t ahead = after - update;
  const bool overflow = back < ahead   ? overflows(before)
                        : back > ahead ? overflows(after)
                                       : overflows(before) || overflows(after);
  return {overflow, Basis::kNeighbour};
}

ScalerOutcome Recorded(std::span<const RecordedUpdate> updates, double floor) {
  ScalerOutcome outcome;
  for (const RecordedUpdate& update : updates) {
    Count(update, update.scale, update.overflow, floor, &outcome);
    if (update.skipped) ++outcome.skipped;
  }
  return outcome;
}

ScalerOutcome Simulate(std::span<const RecordedUpdate> updates,
                       const OverflowKnowledge& knowledge,
                       const SimulatedScaler& scaler, Unknown unknown) {
  ScalerModel model(scaler.parameters);
  ScalerOutcome outcome;
  for (size_t i = 0; i < updates.size(); ++i) {
    const RecordedUpdate& update = updates[i];
    const double scale = model.scale();
    // A scale of 0 leaves nothing that could overflow.
    Answer answer;
    if (scale > 0) answer = knowledge.At(i, scale);
    if (answer.basis == Basis::kMeasured) ++outcome.measured;
    if (answer.basis >= Basis::kNeighbour) {
      if (unknown != Unknown::kAssume) {
        answer.overflow = unknown == Unknown::kAlwaysOverflow;
      }
      CountAssumed(update, answer, &outcome);
    }
    Count(update, scale, answer.overflow, scaler.parameters.floor, &outcome);
    if (answer.overflow && scaler.skips) ++outcome.skipped;
    model.Next(answer.overflow);
  }
  return outcome;
}

}  // namespace nanwatch
