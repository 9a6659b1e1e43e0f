#include "detect/series_level.h"

#include <algorithm>
#include <cmath>

namespace nanwatch {
namespace {

constexpr int32_t kPriorWeight = 2;  // values; ours
// A level follows a descent twice as fast as a rise. Moves tell the noise of a
// series that descends; they miss that of one that wanders, which needs longer
// to show.
constexpr float kDown = 1.0f / 8;  // of a value; ours
constexpr float kUp = 1.0f / 16;   // ours
constexpr int32_t kFew = 7;       // values that weigh more than kDown; as kDown
constexpr int32_t kUnknown = 4;   // values: the first may lie anywhere; ours
constexpr int32_t kFewMoves = 2;  // values, where few are healthy; ours
constexpr int32_t kMoves = 64;    // values; ours
constexpr int32_t kWanders = 256;  // values; ours
constexpr float kClip = 3;   // deviations that a value counts at most; ours
constexpr float kDrops = 4;  // deviations at once: it may come back; ours
constexpr int32_t kMost = 1 << 20;  // values

float Square(float x) { return x * x; }

}  // namespace

void SeriesLevel::Begin(float y, float noise) {
  at_ = newest_ = y;
  move_ = 0;
  noise_ = noise;
  moves_ = noise * noise;
  wander_ = 0;
  values_ = learned_ = 1;
}

void SeriesLevel::LearnSquare(float square, float floor) {
  learned_ = std::min(learned_ + 1, std::clamp(values_, kFewMoves, kMoves));
  const auto weight = static_cast<float>(kPriorWeight + learned_);
  moves_ += (std::min(square, Square(kClip * noise_)) - moves_) / weight;
  noise_ = std::max(std::sqrt(std::max(moves_, wander_)), floor);
}

void SeriesLevel::LearnTurn(float y, float floor) {
  LearnSquare(std::max(0.0f, -move_ * (y - newest_)), floor);
  Leave(y);
}

void SeriesLevel::LearnNoise(float y, float floor) {
  const auto weight = static_cast<float>(std::clamp(values_, kMoves, kWanders));
  const float most = Square(kClip * noise_);
  const float moved = Square(y - newest_) / 2;
  const float off = y > at_ ? Square(y - at_) : moved;
  wander_ += (std::min(off, most) - wander_) / weight;
  LearnSquare(moved, floor);
  Leave(y);
}

void SeriesLevel::Learn(float y, float floor) {
  const bool drops = y - newest_ < -kDrops * noise_;
  LearnNoise(y, floor);
  const float most = kClip * noise_;
  float off = std::min(y - at_, most);
  if (drops) off = std::max(off, -most);
  float share = off < 0 ? kDown : kUp;
  if (values_ < (off < 0 ? kFew : kUnknown)) {
    share = 1.0f / static_cast<float>(values_ + 1);
  }
  at_ += off * share;
  if (values_ < kMost) ++values_;
}

void SeriesLevel::MoveTo(float y) {
  at_ = newest_ = y;
  move_ = 0;
  values_ = std::min(values_, kPriorWeight);
}

void SeriesLevel::Settle() {
  values_ = std::min(values_, kPriorWeight);
  learned_ = std::min(learned_, kPriorWeight);
}

}  // namespace nanwatch
