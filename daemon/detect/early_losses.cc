#include "detect/early_losses.h"

#include <algorithm>
#include <cmath>

#include "detect/float_log2.h"

namespace nanwatch {
namespace {

// Found with losses that descend, stand, are warmed up or rise, in noise that
// is normal, skewed or has a long tail: one warning in 1000 healthy starts.
constexpr float kDeviations = 5;  // spreads; ours
// Of the level, which noise makes a bit low; ours.
constexpr float kRatio = 1.85f;
constexpr float kTinyLevel = 0.005f;  // policies begin near 0 and grow; ours
constexpr float kLeastNoise = 0.01f;  // of a logarithm; ours
constexpr float kLn2 = 0.6931472f;    // ln 2

// Median absolute move to the standard deviation of single losses.
constexpr float kMoveToNoise = 1.048f;  // of a normal distribution
// The same of the largest of about so many.
float OfLargest(int moves) {
  return moves < 10 ? 0.4f : moves < 20 ? 0.3f : 0.2f;
}

float Ln(float x) { return kLn2 * Log2(x); }

// REQUIRES: there are five.
float MedianOfFive(const float* first) {
  std::array<float, 5> five;
  std::copy_n(first, five.size(), five.begin());
  std::sort(five.begin(), five.end());
  return five[2];
}

}  // namespace

void EarlyLosses::Add(float loss) {
  smallest_ = filled_ == 0 ? loss : std::min(smallest_, loss);
  if (filled_ == kKept) {
    std::copy(losses_.begin() + 1, losses_.end(), losses_.begin());
    --filled_;
  }
  losses_[filled_++] = loss;
  if (filled_ < kFewest) return;
  const float median = MedianOfFive(&losses_[filled_ - kFewest]);
  if (filled_ == kFewest || median <= level_) {
    level_ = median;
    since_ = 0;
  } else if (since_ < kKept) {
    ++since_;
  }
}

float EarlyLosses::Noise() const {
  std::array<float, kKept> moves;
  const int count = filled_ - 1;
  for (int i = 0; i < count; ++i) {
    moves[i] = std::fabs(Ln(losses_[i + 1]) - Ln(losses_[i]));
  }
  std::sort(moves.begin(), moves.begin() + count);
  const float median =
      (moves[(count - 1) / 2] + moves[count / 2]) / 2 * kMoveToNoise;
  return std::max({median, OfLargest(filled_) * moves[count - 1], kLeastNoise});
}

bool EarlyLosses::HasLevel(float noise) const {
  const float at_most = level_ * (1 + std::max(0.1f, noise));
  int at = 0;     // the level
  int above = 0;  // after it
  for (int i = 0; i < filled_; ++i) {
    const bool high = losses_[i] > at_most;
    const bool after = i >= filled_ - since_;
    at += !high || i < filled_ - since_ - kFewest;
    above += high && after;
  }
  return at >= kFewest && 2 * above <= filled_;
}

float EarlyLosses::RecentlyHigh() const {
  constexpr int kRecent = 8;  // losses; ours
  float first = 0;
  float second = 0;
  for (int i = std::max(0, filled_ - kRecent); i < filled_; ++i) {
    second = std::max(second, std::min(first, losses_[i]));
    first = std::max(first, losses_[i]);
  }
  return second;
}

float EarlyLosses::Deviations(float loss) const {
  const float few = 1 + 4.0f / static_cast<float>(filled_);
  return (Ln(loss) - Ln(level_)) / (few * Noise());
}

bool EarlyLosses::judges() const {
  // 1e-30: a logarithm of anything less says nothing.
  return known() && smallest_ >= 1e-30f && level_ >= kTinyLevel;
}

bool EarlyLosses::IsHigh(float loss) const {
  if (!judges()) return false;
  if (loss < kRatio * level_ || loss <= RecentlyHigh()) return false;
  return HasLevel(Noise()) && Deviations(loss) >= kDeviations;
}

}  // namespace nanwatch
