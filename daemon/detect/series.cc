#include "detect/series.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "detect/float_log2.h"

namespace nanwatch {
namespace {

constexpr int64_t kLate = 1000;    // a step: a run that goes on; ours
constexpr int32_t kFresh = 10;     // values with a fresh run's noise; ours
constexpr int32_t kFirst = 5;      // values of the first level; ours
constexpr float kHardly = 0.095f;  // ln 1.1: it does not rise; ours
constexpr float kLost = 0.05f;     // of the level below 0; as kAll
constexpr float kSizable = 0.1f;   // a level below 0: policies have less; ours
constexpr float kClimbs = 1;       // deviations of single values; ours
constexpr int32_t kShown = 32;     // values until a level may be the best; ours
constexpr float kSeldom = 0.005f;  // outliers among healthy values; ours
constexpr int32_t kLong = 64;      // values of a long mean; ours
constexpr float kOfLong = 1.0f / kLong;  // as kLong
// Deviations that a level lies below its long mean by chance, as low values
// come in a row; beyond them it fell.
constexpr float kSeldomBelow = 1;     // ours
constexpr float kByChance = 2.5f;     // ours
constexpr float kOften = 1.0f / 256;  // of a value: memory of that; ours
constexpr int32_t kShortly = 8;   // values of an excursion that is none; ours
constexpr float kOutlier = 0.5f;  // of one value, the chance; ours
constexpr float kDoubt = 4.6f;    // nats, ours: 1 %, it may be noise
constexpr float kNoNews = 1;      // nats: noise is nearly as likely; ours
// Distances of what comes by a clock. What comes by chance is so alike in one
// case of 50 and less.
constexpr int32_t kLeastPeriod = 24;    // values; ours
constexpr int32_t kMostPeriod = 30000;  // values; ours
constexpr int32_t kAlike = 64;          // parts of the distance, one off; ours
constexpr int32_t kLone = 3;            // values of a short one; ours
// A jump begins with itself; what climbs began when it was last at its trough.
constexpr float kRises = 1;  // deviations above the trough; ours
constexpr float kJumps = 6;  // deviations from one value to the next; ours
constexpr float kLeaps = 2;  // times the rise before, which was noise; ours
constexpr float kForget = 1.0f / 64;  // of a value: memory of the trough; ours
constexpr int32_t kMost = 1 << 20;
constexpr float kLeastNoise = 1e-3f;  // of the level; ours
constexpr int32_t kSized = 32;  // values that show a size, of either sign; ours

// A sign changes: the sizes that the values had are all that there is.
constexpr float kLeastUnit = 1e-6f;  // ours

}  // namespace

float Series::ValueAt(float y, float unit) {
  return unit == 0 ? std::exp(y) : unit * std::sinh(y);
}

inline float Series::Transform(float value) const {
  if (unit_ == 0) return LogOf(value);
  const float x = std::fabs(value) / unit_;
  const float y = Ln(x + std::sqrt(x * x + 1));
  return value < 0 ? -y : y;
}

float Series::rise() const {
  return Transform(excursion_.course().last()) - excursion_.base();
}

bool Series::comes_down() const {
  return excursion_.course().ComesDown(ValueAt(excursion_.base()));
}

bool Series::has_lost_all() const {
  if (!out_ || !crosses_zero() || !excursion_.IsStill()) return false;
  const float base = ValueAt(excursion_.base());
  const auto is_none = [&](float y) {
    return std::fabs(ValueAt(y)) <= -kLost * base;
  };
  return base <= -kSizable && is_none(excursion_.entry()) &&
         is_none(excursion_.base() + rise());
}

bool Series::IsAlike(float top) const {
  return returned_after_ > 0 &&
         top <= returned_from_ + Excursion::kOpens * excursion_.noise() &&
         excursion_.values() <= 2 * returned_after_;
}

int32_t Series::every() const {
  const bool grows =
      excursion_.peak() > std::max(beat_peak_, beat_from_ + kRise);
  const bool alike = on_time_ && !grows &&
                     excursion_.values() <= std::max(kLone, 2 * beat_after_);
  return alike ? period_ : 0;
}

bool Series::climbs() const {
  const Course& course = excursion_.course();
  return Transform(course.last()) - Transform(course.middle()) >
         kClimbs * excursion_.noise();
}

// What the last printed digit is worth. Where that is next to nothing, nearly
// always, no exponential is needed to see it.
inline float Series::Floor() const {
  if (unit_ == 0 && seen_ < level_.at()) return kLeastNoise;
  const float at = std::fabs(ValueAt(level_.at()));
  const float size = unit_ == 0 ? at : std::sqrt(at * at + unit_ * unit_);
  return std::max(std::log1p(digit_.worth() / std::max(size, 1e-30f)),
                  kLeastNoise);
}

void Series::Begin(float value, int64_t step, const NoisePrior& prior) {
  late_ = step >= kLate;
  y_ = Transform(value);
  level_.Begin(y_, late_ ? prior.running : prior.fresh);
  first_ = best_ = recent_ = usual_ = highest_ = lowest_ = trough_ = y_;
  outliers_ = kSeldom;
  risen_ = 0;
  rises_ = out_ = false;
}

void Series::NoteFirst(float y, int64_t step) {
  if (values_ <= kFirst && y < first_ + kHardly) {
    first_ += (y - first_) / static_cast<float>(values_);
  }
  if (late_ || y < first_ + kRise) return;
  if (risen_++ == 0) {
    risen_step_ = step;
    risen_peak_ = y;
  }
  risen_peak_ = std::max(risen_peak_, y);
}

inline void Series::Heal(float y, int64_t step) {
  level_.Learn(y, Floor());
  const int32_t n = std::min(level_.values(), kRecent);
  const float off = y - recent_;
  // Most times without a division.
  recent_ += n == kRecent ? off * kOfRecent : off / static_cast<float>(n);
  usual_ += (y - usual_) * kOfLong;
  if (values_ >= kShown) best_ = std::min(best_, recent_);
  highest_ = std::max(highest_, y);
  lowest_ = std::min(lowest_, y);
  outliers_ = std::max(outliers_ - kOften * outliers_, kSeldom);
  trough_ = std::min(level_.at(), trough_ + kForget * (level_.at() - trough_));
  const bool above = y > trough_ + kRises * level_.noise();
  if (above && !rises_) rise_step_ = step;
  rises_ = above;
}

void Series::Size(float value) {
  const float size = std::fabs(value);
  if (unit_ == 0) {
    unit_ = std::max({values_ > 0 ? ValueAt(highest_) : 0, size, kLeastUnit});
    values_ = 0;
    return;
  }
  if (size <= unit_ || values_ >= kSized) return;
  if (value < ValueAt(level_.at())) return Resize(size);
  unit_ = size;
  values_ = 0;
}

void Series::Resize(float unit) {
  const float before = std::exchange(unit_, unit);
  out_ = rises_ = false;
  const auto moved = [&](float y) { return Transform(ValueAt(y, before)); };
  const float at = level_.at();
  const float noise = level_.noise();
  level_.Stretch(moved(at),
                 (moved(at + noise) - moved(at - noise)) / (2 * noise));
  for (float* const y : {&y_, &first_, &best_, &recent_, &usual_, &highest_,
                         &lowest_, &trough_, &risen_peak_}) {
    *y = moved(*y);
  }
}

void Series::Add(float value, float ln, int64_t step, const NoisePrior& prior) {
  if (digit_.Note(value) || values_ == 0) {
    seen_ = Ln(std::max(digit_.worth(), 1e-30f) / kLeastNoise);
  }
  newest_ = value;
  if (value <= 0 || crosses_zero()) Size(value);
  if (values_ == 0) {
    Begin(value, step, prior);
    values_ = 1;
    return;
  }
  if (values_ < kMost) ++values_;
  const float y = unit_ == 0 ? ln : Transform(value);
  if (values_ <= kRecent) NoteFirst(y, step);
  if (values_ == kFresh && !late_) {
    const bool healthy = !out_ && level_.values() == kFresh - 1;
    // What begins next to nothing may grow with rewards.
    const bool keeps = !crosses_zero() && first_ >= kNothing;
    level_.Settle(prior.shown && healthy && keeps);
  }
  if (renews_) {
    MoveTo(y);
    best_ = y;
  }
  if (out_ || Leaves(y, step)) Stray(value, y, step);
  y_ = y;
}

inline bool Series::Leaves(float y, int64_t step) {
  const int32_t n = level_.values();
  // That of the level itself is next to nothing, later.
  const float noise = n < kShown ? level_.Shown(level_.noise(), Floor()) *
                                       std::sqrt(1 + 1 / static_cast<float>(n))
                                 : level_.noise();
  const float below = usual_ - level_.at();
  const bool by_chance =
      n >= kLong && below > kSeldomBelow * noise && below < kByChance * noise;
  const float base = by_chance ? usual_ : level_.at();
  if (y - base < Excursion::kOpens * noise) {
    Heal(y, step);
    return false;
  }
  const bool climbs = rises_ && y - y_ < kJumps * noise;
  // The level may have climbed with it.
  const bool follows = level_.at() - trough_ > Excursion::kOpens * noise;
  const bool young = n < kRecent;
  const bool climbed = climbs && (follows || young);
  Open(climbed ? rise_step_ : step, climbed ? trough_ : base, noise, n);
  level_.Leave(y);
  return true;
}

void Series::Open(int64_t step, float base, float noise, int32_t values) {
  excursion_.Begin(step, base, noise, values);
  const int32_t off = std::abs(values_ - beat_ - period_);
  on_time_ = period_ >= kLeastPeriod && period_ <= kMostPeriod &&
             off <= period_ / kAlike;
}

void Series::NoteReturn() {
  if (excursion_.above() >= kShortly) {
    const float peak = excursion_.peak();
    if (!IsAlike(peak) || peak < returned_from_) returned_from_ = peak;
    returned_after_ = excursion_.values();
    if (returns_ < INT16_MAX) ++returns_;
  }
  NoteBeat();
}

void Series::NoteBeat() {
  if (excursion_.peak() - excursion_.base() < kRise) return;
  if (excursion_.peak() <= beat_peak_ || beat_ == 0) {
    beat_from_ = excursion_.peak();
  }
  beat_peak_ = excursion_.peak();
  beat_after_ = excursion_.values();
  const int32_t began = values_ - excursion_.values() + 1;
  period_ = beat_ > 0 ? began - beat_ : 0;
  beat_ = began;
}

void Series::Stray(float value, float y, int64_t step) {
  const bool noise_so_far = excursion_.nats() <= 0 && excursion_.values() > 1 &&
                            excursion_.IsAbove(y);
  const float before = excursion_.peak() - excursion_.base();
  const bool leaps = !excursion_.jumped() && excursion_.nats() < kNoNews &&
                     y - excursion_.peak() >=
                         std::max(kJumps * excursion_.noise(), kLeaps * before);
  if (out_ && (noise_so_far || leaps)) {
    Open(rises_ && !leaps ? excursion_.step() : step, excursion_.base(),
         excursion_.noise(), level_.values());
    level_.Leave(y);
  } else if (out_) {
    level_.LearnTurn(y, Floor());
  }
  out_ = true;
  excursion_.Add(value, y, level_, Floor(), outliers_);
  if (!excursion_.IsOver()) return;
  out_ = rises_ = false;
  // It was noise, or outliers.
  if (excursion_.nats() < kDoubt && excursion_.outliers() < kOutlier) {
    level_.LearnNoise(excursion_.peak(), Floor());
    level_.Leave(y);
  }
  if (excursion_.nats() >= kDoubt) NoteReturn();
  if (excursion_.values() <= kShortly) {
    const auto values = static_cast<float>(excursion_.values());
    outliers_ += kOften * (excursion_.outliers() - values * outliers_);
    outliers_ = std::clamp(outliers_, kSeldom, 0.5f);
  }
}

void Series::MoveTo(float y) {
  level_.MoveTo(y);
  recent_ = usual_ = y;
  highest_ = std::max(highest_, y);
  trough_ = y;
  out_ = rises_ = renews_ = false;
}

bool IsUnsettled(const Series& s) {
  return s.values() <= kShown && s.out() && s.height() >= Series::kRise;
}

void Series::Accept() {
  if (!out_) return;
  if (excursion_.nats() >= kDoubt && rise() < kRise) NoteBeat();
  MoveTo(Transform(excursion_.course().last()));
}

}  // namespace nanwatch
