#include "diagnose/scale_facts.h"

#include <algorithm>
#include <cmath>

#include "diagnose/words.h"

namespace nanwatch {
namespace {

constexpr double kRounding = 1.005;  // ratio: digits that logs leave out; ours
constexpr double kNear = 4;          // ratio; as scale_collapse's clear_ratio

}  // namespace

bool IsNoScale(const RunEvidence& e) {
  return e.scale_now && !(*e.scale_now >= 0 && std::isfinite(*e.scale_now));
}

int64_t StartUpOverflows(const RunEvidence& e) {
  if (e.first_overflow_step < 0) return 0;
  return std::clamp<int64_t>(e.first_good_step - e.first_overflow_step, 0,
                             static_cast<int64_t>(e.overflows));
}

int64_t ToldAtStartUp(const RunEvidence& e) {
  const bool all = e.last_overflow_step < e.first_good_step;
  return LeavesStepsOut(e) && !all ? 0 : StartUpOverflows(e);
}

bool StartUpIsOver(const RunEvidence& e) {
  // Gradients are noisy, so at the last scales of a search some steps fit and
  // some do not: three halvings more, of a scaler that forgives one overflow.
  constexpr int64_t kLate = 6;        // overflows, or a quarter of them; ours
  constexpr int64_t kSettling = 300;  // updates; ours
  if (e.first_good_step < 0) return false;
  if (e.last_overflow_step < e.first_good_step) return true;
  const int64_t before = e.first_good_step - e.first_overflow_step;
  const int64_t late = static_cast<int64_t>(e.overflows) - before;
  return before > 0 && late < before && late <= std::max(kLate, before / 4) &&
         e.last_overflow_step - e.first_good_step <= kSettling;
}

bool HasHelped(const RunEvidence& e) {
  return e.scaler_dynamic && e.scale_now && e.overflows > 0 &&
         e.overflow_streak == 0;
}

bool IsScaleBack(const RunEvidence& e) {
  constexpr uint64_t kFewLost = 32;  // updates; ours: two falls from 65,536
  return e.scaler_dynamic && e.overflows <= kFewLost && e.scale_now &&
         e.scale_worked && e.scale_min &&
         *e.scale_now * kNear > *e.scale_worked &&
         *e.scale_now >= kNear * *e.scale_min;
}

bool IsAtTheFloor(const RunEvidence& e) {
  return e.scale_now && !IsNoScale(e) &&
         *e.scale_now <= std::max(e.floor, 1.0) * kRounding;
}

}  // namespace nanwatch
