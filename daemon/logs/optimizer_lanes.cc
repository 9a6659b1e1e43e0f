#include "logs/optimizer_lanes.h"

#include <algorithm>

namespace nanwatch {

bool OptimizerLanes::IsNumbered(const LogFact& fact) {
  return fact.scaler && *fact.scaler >= 0 &&
         *fact.scaler < static_cast<int32_t>(kMax);
}

size_t OptimizerLanes::Numbered(const LogFact& fact) {
  const size_t lane = static_cast<size_t>(*fact.scaler);
  if (lanes_.size() <= lane) lanes_.resize(lane + 1);
  return lane;
}

size_t OptimizerLanes::OfHappening(const LogFact& fact,
                                   CopyFilter::Verdict verdict) {
  if (IsNumbered(fact)) return Numbered(fact);
  const double before = fact.scale_before.value_or(0);
  size_t not_this = kMax;
  if (verdict == CopyFilter::Verdict::kOther) {
    for (size_t i = 1; i < lanes_.size(); ++i) {
      if (lanes_[i].scale == 0) return i;
    }
    if (lanes_.size() == 1) {
      lanes_.push_back({.scale = before, .may_be_double = true});
      return 1;
    }
    not_this = told_;
  }
  told_ = before > 0 ? ThatHad(before, not_this) : 0;
  return told_;
}

// The lane that stood at `scale`. None: raises are often not told, so one that
// grew there, sooner once than from far below.
size_t OptimizerLanes::ThatHad(double scale, size_t not_this) const {
  enum Cost { kSame, kGrewOnce, kNotKnown, kGrewMore, kFell, kNone };
  size_t best = 0;
  Cost least = kNone;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (i == not_this) continue;
    const double held = lanes_[i].scale;
    const Cost cost = held == scale       ? kSame
                      : held * 2 == scale ? kGrewOnce
                      : held == 0         ? kNotKnown
                      : held < scale      ? kGrewMore
                                          : kFell;
    const bool nearer = cost == kGrewMore && held > lanes_[best].scale;
    if (cost < least || (cost == least && nearer)) {
      least = cost;
      best = i;
    }
  }
  return best;
}

size_t OptimizerLanes::OfStepLine(const LogFact& fact) {
  newest_ = IsNumbered(fact) ? Numbered(fact) : Next(fact);
  lanes_[newest_].may_be_double = false;
  return newest_;
}

bool OptimizerLanes::several() const {
  return std::any_of(
      lanes_.begin() + 1, lanes_.end(),
      [](const OptimizerLane& lane) { return !lane.may_be_double; });
}

void OptimizerLanes::NoDoubles() {
  for (OptimizerLane& lane : lanes_) lane.may_be_double = false;
}

void OptimizerLanes::DropDouble() {
  lanes_.pop_back();
  newest_ = told_ = 0;
}

size_t OptimizerLanes::Next(const LogFact& fact) {
  const OptimizerLane& before = lanes_[newest_];
  if (!fact.step || *fact.step != before.last_step) return 0;
  const size_t next = newest_ + 1;
  if (next < lanes_.size()) return next;
  // A library's counter, of the same step and with another count: a log that
  // was cut shows both optimizers only here.
  const int64_t counted = before.skipped_total;
  if (!fact.beside || next >= kMax ||
      fact.skipped_total.value_or(counted) == counted) {
    return 0;
  }
  lanes_.push_back({.skipped_total = *fact.skipped_total,
                    .first_step = *fact.step,
                    .last_step = *fact.step,
                    .told_step = *fact.step});
  return next;
}

}  // namespace nanwatch
