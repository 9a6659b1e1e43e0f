#include "logs/step_copies.h"

#include <algorithm>
#include <cmath>

namespace nanwatch {

StepCopies::Line StepCopies::Of(const LogFact& fact) {
  Line line;
  line.step = fact.step.value_or(-1);
  line.present = fact.present;
  line.scale =
      fact.has(StepField::kLossScale) ? fact[StepField::kLossScale] : 0;
  line.loss = fact.has(StepField::kLoss) ? fact[StepField::kLoss] : 0;
  line.norm = fact.has(StepField::kGradNorm) ? fact[StepField::kGradNorm] : 0;
  line.overflow = fact.overflow;
  line.skipped_since = fact.skipped_since;
  line.skipped_total = fact.skipped_total;
  line.blown = !std::isfinite(line.loss) || !std::isfinite(line.norm) ||
               fact.loss_left_out;
  return line;
}

// What a torn copy lacks is not different.
bool StepCopies::SameScaler(const Line& told, const Line& line) {
  const bool scale =
      (line.present >> static_cast<int>(StepField::kLossScale) & 1) == 0 ||
      line.scale == told.scale;
  return scale && line.overflow == told.overflow &&
         line.skipped_since == told.skipped_since &&
         line.skipped_total == told.skipped_total &&
         (line.present & ~told.present) == 0;
}

// Of what both show; a norm that repeats may be left out as a stale one.
bool StepCopies::SameNumbers(const Line& told, const Line& line) {
  const auto has = [&line](StepField field) {
    return (line.present >> static_cast<int>(field) & 1) != 0;
  };
  return has(StepField::kLoss) && line.loss == told.loss &&
         (!has(StepField::kGradNorm) || line.norm == told.norm);
}

bool StepCopies::ShowsLoss(const Line& line) {
  return (line.present >> static_cast<int>(StepField::kLoss) & 1) != 0;
}

StepCopies::Line* StepCopies::Find(const Line& line) {
  for (size_t back = 0; back < kLines; ++back) {
    Line& told = lines_[(newest_ + kLines - back) % kLines];
    if (told.step == line.step && SameScaler(told, line)) return &told;
  }
  return nullptr;
}

void StepCopies::Push(const Line& line) {
  // The steps went back: what is told now is told anew.
  if (line.step < lines_[newest_].step) lines_ = {};
  newest_ = (newest_ + 1) % kLines;
  lines_[newest_] = line;
}

bool StepCopies::MayBeCopy(const Line& told, const Line& line,
                           bool skips_take_steps) const {
  const bool same = SameNumbers(told, line);
  // From a checkpoint a few steps back, if no copy was ever seen, or none in
  // other numbers beside its first.
  if (line.step < lines_[newest_].step) {
    return same || (copies_ > 1 && (differ_ || !ShowsLoss(line)));
  }
  // The same update again, where a step is counted when it is applied.
  const bool skipped =
      line.overflow.value_or(false) || line.skipped_since.value_or(0) > 0;
  return !skipped || skips_take_steps || same || told.seen < copies_;
}

bool StepCopies::IsCopy(const LogFact& fact, bool skips_take_steps) {
  if (!fact.step || fact.step_counted || fact.step_of_counter) return false;
  const Line line = Of(fact);
  Line* const told = line.step > lines_[newest_].step ? nullptr : Find(line);
  if (told == nullptr || !MayBeCopy(*told, line, skips_take_steps)) {
    Push(line);
    return false;
  }
  ++told->seen;
  differ_ |= line.step == lines_[newest_].step && !SameNumbers(*told, line);
  if (!line.overflow.value_or(false)) copies_ = std::max(copies_, told->seen);
  if (!line.blown || told->blown) return true;
  told->blown = true;
  return false;
}

}  // namespace nanwatch
