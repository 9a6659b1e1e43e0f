#include "logs/score_course.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nanwatch {
namespace {

constexpr double kPart = 8;      // of all values, a mean is of one; ours
constexpr double kLeast = 4;     // values of a mean; ours
constexpr double kMost = 32;     // values of a mean; ours
constexpr double kGrew = 2;      // times a rise: it is another one; ours
constexpr double kRecent = 8;    // values of a mean of a row; ours
constexpr double kDeep = 4;      // times the noise, below the first; ours
constexpr double kShare = 0.25;  // of the first, below it; ours

}  // namespace

double ScoreCourse::Middle() const {
  std::array<double, kWindow> sorted = values_;
  std::nth_element(sorted.begin(), sorted.begin() + kWindow / 2, sorted.end());
  return sorted[kWindow / 2];
}

void ScoreCourse::Add(double value, int64_t step) {
  const auto n = static_cast<size_t>(row_.all++);
  if (n > 0) moved_ += std::fabs(value - newest_);
  newest_ = value;
  values_[n % kWindow] = value;
  steps_[n % kWindow] = step;
  if (n + 1 < kWindow) return;
  const double middle = Middle();
  if (n + 1 == kWindow) row_.first = row_.best = mean_ = highest_ = middle;
  const auto count = static_cast<double>(n + 2 - kWindow);
  mean_ += (middle - mean_) /
           std::clamp(count / kPart, std::min(count, kLeast), kMost);
  highest_ = std::max(highest_, mean_);
  fell_ = std::max(fell_, highest_ - mean_);
  if (mean_ > row_.best) {
    row_.best = mean_;
    row_.best_at = step;
    row_.noise = moved_ / static_cast<double>(n);
    before_ = fell_;
    if (row_.best - row_.first > kGrew * counted_) {
      counted_ = row_.best - row_.first;
      row_.above = 0;
    }
  }
  if (middle < (row_.first + row_.best) / 2) {
    AddLow(middle, steps_[(n - kWindow / 2) % kWindow]);
    return;
  }
  if (row_.records > 0) before_ = fell_;
  row_.records = 0;
  ++row_.above;
}

// Low ones that lie among the first are no part of a row that left them.
void ScoreCourse::AddLow(double middle, int64_t since) {
  const double least = std::max({row_.best - row_.first, kDeep * row_.noise,
                                 kShare * std::fabs(row_.first)});
  const bool was_deep = std::exchange(deep_, middle < row_.first - least);
  if (row_.records == 0 || (deep_ && !was_deep)) {
    // More than half of the newest values lie there.
    row_.since = since;
    row_.records = kWindow / 2;
    row_.stands = lowest_ = middle;
    rose_ = 0;
  }
  ++row_.records;
  const auto records = static_cast<double>(row_.records);
  row_.stands += (middle - row_.stands) / std::min(records, kRecent);
  lowest_ = std::min(lowest_, row_.stands);
  rose_ = std::max(rose_, row_.stands - lowest_);
  row_.wander = std::max(before_, rose_);
}

}  // namespace nanwatch
