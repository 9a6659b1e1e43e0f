#include "detect/pair_noise.h"

#include <algorithm>
#include <cmath>

namespace nanwatch {
namespace {

constexpr int32_t kOver = 64;       // pairs that means are over; ours
constexpr int32_t kMovesOver = 16;  // the same of moves; ours
// A deviation before the first pairs. Ours: losses of batches differ by 1 to
// 20 %.
constexpr float kPrior = 0.05f;
constexpr int32_t kPriorPairs = 4;  // for so many it counts; ours
// Deviation that a log of five digits resolves. Ours.
constexpr double kLeast = 1e-5;
// Of the bends of two losses, what is left in their difference: all of it
// where the batches are others, next to nothing where they are the same. Ours.
constexpr float kSame = 0.25f;

void Move(float* mean, float value, int32_t over) {
  *mean += (value - *mean) / static_cast<float>(std::max(over, 1));
}

float Square(float x) { return x * x; }

}  // namespace

// A course that both losses have bends little from one pair to the next; what
// a batch does bends it.
void PairNoise::AddCurves(const BenchContext& c) {
  const auto y = static_cast<float>(c.y);
  const auto bench_y = static_cast<float>(c.bench_y);
  if (pairs_ > 2) {
    const int32_t over = std::min(pairs_ - 2, kOver);
    const float bend = y_[1] - (y_[0] + y) / 2;
    const float bench_bend = bench_y_[1] - (bench_y_[0] + bench_y) / 2;
    Move(&bend_, Square(bend), over);
    Move(&bench_bend_, Square(bench_bend), over);
    Move(&apart_, Square(bend - bench_bend), over);
  }
  y_[0] = y_[1];
  y_[1] = y;
  bench_y_[0] = bench_y_[1];
  bench_y_[1] = bench_y;
}

void PairNoise::Add(const BenchContext& c, bool healthy) {
  if (pairs_ < INT32_MAX) ++pairs_;
  AddCurves(c);
  const bool was = same_;
  if (!held_ && known()) same_ = apart_ < kSame * (bend_ + bench_bend_);
  const auto distance = static_cast<float>(Distance(c));
  if (pairs_ > 1 && was == same_) {
    Move(&move_, Square(distance - newest_), std::min(pairs_ - 1, kMovesOver));
  }
  newest_ = distance;
  if (!healthy) return;
  if (healthy_ == 0) variance_ = Square(kPrior);
  healthy_ = std::min(healthy_ + 1, kOver);
  Move(&size_, Square(static_cast<float>(c.y - c.bench_y)),
       std::min(healthy_, kMovesOver));
  const int32_t over = std::min(healthy_ + kPriorPairs, kOver);
  const float off = distance - mean_;
  Move(&mean_, distance, over);
  const float share = 1 / static_cast<float>(over);
  Move(&variance_, Square(off) * (1 - share), over);
}

double PairNoise::usual() const {
  return std::max<double>(std::sqrt(size_), kLeast);
}

double PairNoise::deviation() const {
  const double square = std::max(variance_, move_ / 2);
  return std::max(std::sqrt(square), kLeast);
}

}  // namespace nanwatch
