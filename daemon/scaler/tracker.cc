#include "scaler/tracker.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace nanwatch {
namespace {

static_assert(std::is_trivially_copyable_v<ScalerTracker>);
static_assert(sizeof(ScalerTracker) <= 256, "a part of every rank's state");

constexpr int64_t kGraceMax = 200;
constexpr int64_t kFallOver = 100;  // attempts without a backoff
constexpr int kChangesToRecognise = 3;
constexpr double kSmallestNormal = 0x1p-126;

bool Usable(double scale) { return scale > 0 && std::isfinite(scale); }

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

// Over `gap` attempts, most of which were not seen.
bool Reachable(const ScalerParameters& p, double from, double to, int64_t gap) {
  if (p.growth == Growth::kStatistical) return true;
  if (p.growth == Growth::kNever) return false;
  if (p.floor > 0 && to < p.floor && !SameScale(to, p.floor)) return false;
  if (p.ceiling > 0 && to > p.ceiling && !SameScale(to, p.ceiling)) {
    return false;
  }
  if (p.floor > 0 && to < from && SameScale(to, p.floor)) return true;
  // An overflowing attempt is often tried again under the same step number, so
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

}  // namespace

void ScalerTracker::Declare(const ScalerDeclaration& declaration) {
  const ScalerSpec* spec = FindScaler(declaration.name);
  if (spec != nullptr) {
    declared_ = static_cast<int8_t>(spec - AllScalers().data());
  }
  p_ = Resolve(spec, declaration);
  told_ = spec != nullptr || declaration.growth_factor ||
          declaration.backoff_factor || declaration.growth_interval ||
          declaration.min_scale || declaration.max_scale;
  const bool fixed =
      p_.growth == Growth::kNever || declaration.kind == ScalingKind::kNone;
  dynamic_ = !fixed &&
             (declaration.kind == ScalingKind::kDynamic ||
              declaration.kind == ScalingKind::kLayerwise || spec != nullptr);
  may_calibrate_ = !fixed;
  check_off_ = declaration.overflow_check == false;
  SetGrace();
}

void ScalerTracker::SetGrace() {
  const double from = std::max(p_.init, first_scale_);
  if (from <= 0) return;
  const double to = p_.floor > 0 ? p_.floor : 1.0;
  grace_ =
      std::min(kGraceMax, p_.Backoffs(from, to) * p_.OverflowsPerBackoff() +
                              p_.hysteresis_count - 1 + 2);
}

void ScalerTracker::OnStep(const StepRecord& record) {
  ++attempts_;
  transition_ = Transition::kNone;
  if (record.has(StepField::kLossScale)) {
    const double scale = record[StepField::kLossScale];
    if (scale == scale_) {
      transition_ = Transition::kHeld;
    } else if (Usable(scale)) {
      Follow(scale, record);
    }
  }
  JudgeOverflow(record);
  if (overflowed_) {
    ++streak_;
    quiet_since_ = attempts_;
  } else {
    streak_ = 0;
    ++good_steps_;
  }
  last_step_ = record.step;
}

void ScalerTracker::JudgeOverflow(const StepRecord& record) {
  constexpr uint8_t kHasOverflow = 1u << static_cast<int>(StepFlag::kOverflow);
  constexpr uint8_t kHasSkipped = 1u << static_cast<int>(StepFlag::kSkipped);
  if (record.flags_present & kHasOverflow) {
    overflowed_ = record.is(StepFlag::kOverflow);
  } else if (record.flags_present & kHasSkipped) {
    overflowed_ = record.is(StepFlag::kSkipped);
  } else if (record.float_status != nullptr) {
    overflowed_ = record.float_status->words[0] != 0;
  } else {
    overflowed_ = transition_ == Transition::kBackedOff;
  }
  if (record.flags_present & kHasSkipped) {
    fate_ = record.is(StepFlag::kSkipped) ? Fate::kLost : Fate::kApplied;
  } else if (overflowed_) {
    fate_ = check_off_ ? Fate::kApplied : Fate::kLost;
  } else if (record.flags_present & kHasOverflow) {
    fate_ = Fate::kApplied;
  } else {
    fate_ = dynamic_ ? Fate::kUnknown : Fate::kApplied;
  }
}

void ScalerTracker::Follow(double scale, const StepRecord& record) {
  const double from = scale_;
  scale_ = scale;
  if (from == 0) {
    first_scale_ = lowest_ = scale;
    SetGrace();
    return;
  }
  lowest_ = std::min(lowest_, scale);
  if (SameScale(from, scale)) {
    transition_ = Transition::kHeld;
    return;
  }
  if (changes_ < UINT16_MAX) ++changes_;
  OnChange(from, scale, std::max<int64_t>(1, record.step - last_step_));
}

void ScalerTracker::OnChange(double from, double to, int64_t gap) {
  Recognise(from, to, gap);
  // A declared fixed scale that moves is a lie told once; it stays impossible.
  if (may_calibrate_) dynamic_ = true;
  const bool known = told_ || recognised_ >= 0 || !may_calibrate_;
  const bool possible = known ? Reachable(p_, from, to, gap)
                              // No scaler grows fourfold in one attempt.
                              : gap > 1 || to < 3.5 * from;
  if (!possible) ++impossible_;
  if (to > from) {
    fall_from_ = 0;
    transition_ = possible ? Transition::kGrew : Transition::kImpossible;
  } else {
    if (fall_from_ == 0 || attempts_ - last_backoff_ > kFallOver) {
      fall_from_ = from;
      fall_attempt_ = attempts_;
    }
    last_backoff_ = attempts_;
    transition_ = possible ? Transition::kBackedOff : Transition::kImpossible;
  }
  quiet_since_ = attempts_;
}

// Crosses out the scalers that could not have done this. What is left after
// three changes and agrees with the first scale is what the scaler behaves as.
void ScalerTracker::Recognise(double from, double to, int64_t gap) {
  if (told_ || !may_calibrate_) return;
  const std::span<const ScalerSpec> scalers = AllScalers();
  if (to > from) {
    seen_interval_ = static_cast<int32_t>(
        std::min<int64_t>(attempts_ - quiet_since_, 1 << 30));
  }
  int best = -1;
  int best_score = -1;
  for (int i = 0; i < static_cast<int>(scalers.size()); ++i) {
    const ScalerSpec& s = scalers[i];
    if (s.growth == Growth::kStatistical || s.growth == Growth::kNever) {
      candidates_ &= ~(1u << i);
    }
    const ScalerParameters p = Resolve(&s, {});
    if (!Reachable(p, from, to, gap)) candidates_ &= ~(1u << i);
    if (!(candidates_ >> i & 1)) continue;
    int score = 0;
    // The first record may show the scale before or after its overflow.
    if (SameScale(first_scale_, s.init) ||
        SameScale(first_scale_, s.init * s.backoff_factor)) {
      score += 3;
    }
    const int64_t off = std::abs(seen_interval_ - s.growth_interval);
    if (seen_interval_ > 0 && s.growth_interval > 0 && off <= 2) score += 4;
    if (score > best_score) {
      best = i;
      best_score = score;
    }
  }
  // Agreement in the ratio alone names nobody: half of them halve.
  if (changes_ < kChangesToRecognise || best_score < 2) return;
  if (best == recognised_) return;
  recognised_ = static_cast<int8_t>(best);
  p_ = Resolve(&scalers[best], {});
}

const ScalerSpec* ScalerTracker::spec() const {
  const int index = declared_ >= 0 ? declared_ : recognised_;
  return index < 0 ? nullptr : &AllScalers()[index];
}

bool ScalerTracker::recognised() const {
  return declared_ < 0 && recognised_ >= 0;
}

int64_t ScalerTracker::growth_interval() const { return p_.growth_interval; }

int64_t ScalerTracker::overflows_per_growth() const {
  return spec() == nullptr ? 2 : p_.OverflowsPerGrowth();
}

std::optional<int64_t> ScalerTracker::attempts_to_floor() const {
  if (fall_from_ == 0 || attempts_ - last_backoff_ > kFallOver) return {};
  if (p_.floor == 0 && scale_ >= 1) return {};
  const double to = p_.floor > 0 ? p_.floor : kSmallestNormal;
  if (!(scale_ > to)) return {};
  const double fallen = std::log2(fall_from_ / scale_);
  const double attempts = static_cast<double>(attempts_ - fall_attempt_ + 1);
  return static_cast<int64_t>(
      std::ceil(std::log2(scale_ / to) * attempts / fallen));
}

}  // namespace nanwatch
