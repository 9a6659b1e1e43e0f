#include "detect/loss_tail.h"

#include <algorithm>
#include <cstddef>

#include "detect/loss_course.h"

namespace nanwatch {
namespace {

constexpr int kBefore = 24;       // records to compare with, at most; ours
constexpr int kFewest = 2;        // at both sides; ours
constexpr float kApart = 1.5f;    // of their range; ours
constexpr float kSteady = 0.05f;  // of the level; ours
constexpr float kTop = 0.95f;     // of the highest; ours
// Of few records their highest tells: a spike is at its highest at once.
constexpr int kFew = 16;           // records; ours
constexpr float kStaysUp = 0.85f;  // of the rise; ours

}  // namespace

void LossTail::Add(float loss, int64_t step) {
  if (filled_ == 0) first_step_ = step;
  if (filled_ == kKept) {
    // Not with each: it moves the others; ours.
    constexpr size_t kDrop = kKept / 5;
    dropped_ = true;
    std::copy(losses_.begin() + kDrop, losses_.end(), losses_.begin());
    std::copy(steps_.begin() + kDrop, steps_.end(), steps_.begin());
    filled_ -= static_cast<int32_t>(kDrop);
    const int32_t passed = steps_[0];
    first_step_ += passed;
    for (int i = 0; i < filled_; ++i) steps_[i] -= passed;
  }
  losses_[filled_] = loss;
  steps_[filled_] = static_cast<int32_t>(
      std::clamp<int64_t>(step - first_step_, 0, INT32_MAX));
  ++filled_;
}

bool LossTail::positive() const {
  return std::all_of(losses_.begin(), losses_.begin() + filled_,
                     [](float loss) { return loss > 0; });
}

// It rose so before, from as low a loss, and came back.
bool LossTail::WasAsHigh(int split) const {
  const float least =
      *std::min_element(losses_.begin() + split, losses_.begin() + filled_);
  float lowest = losses_[0];
  for (int i = 1; i < split; ++i) {
    if (losses_[i] >= least && lowest < least) return true;
    lowest = std::min(lowest, losses_[i]);
  }
  return false;
}

LossTail::Rise LossTail::Describe(int split, int before) const {
  std::array<float, kKept> head;
  std::copy(losses_.begin() + split - before, losses_.begin() + split,
            head.begin());
  std::sort(head.begin(), head.begin() + before);
  Rise rise;
  rise.records = filled_ - split;
  rise.before = before;
  rise.step = StepOf(split);
  rise.from = (head[(before - 1) / 2] + head[before / 2]) / 2;
  rise.peak =
      *std::max_element(losses_.begin() + split, losses_.begin() + filled_);
  rise.steady = head[before - 1] - head[0] <= kSteady * head[before - 1];
  LossCourse course;
  for (int i = split; i < filled_; ++i) course.Add(losses_[i]);
  rise.last = course.last();
  rise.comes_down =
      course.ComesDown(rise.from) ||
      (rise.records < kFew &&
       rise.last < rise.from + kStaysUp * (rise.peak - rise.from));
  rise.all = !dropped_ && split == before;
  return rise;
}

std::optional<LossTail::Rise> LossTail::Jump() const {
  if (!positive()) return std::nullopt;
  int best = -1;
  float best_ratio = 1;
  float least = filled_ > 0 ? losses_[filled_ - 1] : 0;
  for (int split = filled_ - 1; split >= kFewest; --split) {
    least = std::min(least, losses_[split]);
    const auto [low, high] =
        std::minmax_element(losses_.begin() + std::max(0, split - kBefore),
                            losses_.begin() + split);
    if (filled_ - split < kFewest) continue;
    if (least - *high < kApart * (*high - *low)) continue;
    if (least <= best_ratio * *high) continue;
    best = split;
    best_ratio = least / *high;
  }
  if (best < 0 || WasAsHigh(best)) return std::nullopt;
  return Describe(best, std::min(best, kBefore));
}

std::optional<LossTail::Rise> LossTail::Climb() const {
  if (!positive()) return std::nullopt;
  int lowest = -1;
  float level = 0;
  for (int i = 0; i + 2 * kFewest <= filled_; ++i) {
    const float pair = std::max(losses_[i], losses_[i + 1]);
    if (lowest >= 0 && pair > level) continue;
    lowest = i;
    level = pair;
  }
  if (lowest < 0) return std::nullopt;
  const int split = lowest + kFewest;
  const auto [low, high] =
      std::minmax_element(losses_.begin() + split, losses_.begin() + filled_);
  const float newest = std::min(losses_[filled_ - 1], losses_[filled_ - 2]);
  if (*low <= (1 + kSteady) * level || newest < kTop * *high) {
    return std::nullopt;
  }
  return Describe(split, kFewest);
}

}  // namespace nanwatch
