#include "detect/loss_lift.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace nanwatch {
namespace {

constexpr size_t kBlock = RobustBaseline::kBlock;
constexpr size_t kFewest = 24;  // losses that show a level; ours
constexpr size_t kEvery = 8;  // losses: then the level is looked up again; ours
constexpr float kLeastSpread = 0.01f;  // of the level; ours
constexpr float kLeastRise = 1.25f;    // times the level; ours
constexpr float kDeviations = 3;       // spreads; ours
// Of the level; more, and nothing stands out; ours.
constexpr float kMostSpread = 1;
// From those before to the newest: no level; ours.
constexpr float kRising = 1.1f;
constexpr int kAMiss = 2;   // what it counts; a high loss makes one good; ours
constexpr int kMisses = 4;  // more, and it is back; ours
constexpr int32_t kBelow = 3;       // losses that make so many; ours
constexpr int32_t kFewCourse = 16;  // losses; ours
constexpr float kGone = 0.5f;       // of the highest rise; ours
constexpr float kAtOnce = 0.5f;     // of the last rise; ours
constexpr float kTiny = 0.01f;      // policies begin near 0 and grow; ours
// A spike: of a level as steady as means over a batch of language are, and back
// before a stage of a curriculum would be.
constexpr float kSteady = 0.03f;       // of the level; ours
constexpr float kSpikeRise = 1.3f;     // times the level; ours
constexpr float kSpikeDeviations = 8;  // spreads; ours
constexpr int32_t kSpikeRecords = 64;  // records; ours
constexpr float kBack = 0.25f;         // of the highest rise; ours

// Level and noise of 16 losses. The noise is that of the moves from one to the
// next, which neither a descent nor a rise widens.
Level BlockAt(std::span<const float> losses) {
  constexpr float kMoveToNoise = 1.048f;  // of a normal distribution
  std::array<float, kBlock> block;
  std::array<float, kBlock> moves;
  std::copy_n(losses.begin(), kBlock, block.begin());
  for (size_t i = 1; i < kBlock; ++i) {
    moves[i] = std::fabs(block[i] - block[i - 1]);
  }
  moves[0] = moves[1];
  const float level = MedianOf(block);
  return {level, kMoveToNoise * MedianOf(moves) / level};
}

}  // namespace

void LossLift::SetLevel(const LossTail& tail, const Level& level) {
  limit_ = 0;
  level_ = level.center;
  if (!tail.positive() || level_ < kTiny) return;
  spread_ = std::max(level.spread, kLeastSpread);
  if (spread_ > kMostSpread) return;
  limit_ = level_ * std::max(kLeastRise, std::exp(kDeviations * spread_));
}

float LossLift::deviations() const {
  return std::log(peak_ / level_) / spread_;
}

int32_t LossLift::records() const {
  return course_.records() - (lifted_ ? 0 : kBelow);
}

bool LossLift::IsSpike() const {
  return spread_ <= kSteady && peak_ >= kSpikeRise * level_ &&
         deviations() >= kSpikeDeviations && records() <= kSpikeRecords;
}

bool LossLift::Stays() const {
  return misses_ < kAMiss && !course_.ComesDown(level_) &&
         course_.first() - level_ >= kAtOnce * (course_.last() - level_);
}

// Where the tail has losses above the limit that it did not know yet, with
// them.
void LossLift::Begin(float loss, const LossTail& tail) {
  const std::span<const float> losses = tail.losses();
  size_t first = losses.size() - 1;
  while (first > 0 && losses[first - 1] >= limit_) --first;
  lifted_ = true;
  comes_back_ = false;
  misses_ = 0;
  step_ = tail.StepOf(static_cast<int>(first));
  peak_ = loss;
  course_ = LossCourse();
  for (const float high : losses.subspan(first)) {
    course_.Add(high);
    peak_ = std::max(peak_, high);
  }
}

void LossLift::Follow(float loss, const LossTail& tail) {
  course_.Add(loss);
  peak_ = std::max(peak_, loss);
  misses_ = static_cast<int8_t>(loss < limit_ ? misses_ + kAMiss
                                              : std::max(0, misses_ - 1));
  if (misses_ > kMisses) {
    lifted_ = false;
    comes_back_ = IsSpike();
    after_ = 0;
    return;
  }
  if (records() < kFewCourse || records() % kEvery != 0 ||
      course_.last() - level_ >= kGone * (course_.highest() - level_)) {
    return;
  }
  lifted_ = false;
  SetLevel(tail, BlockAt(tail.losses().last(kBlock)));
}

void LossLift::ComeBack(float loss) {
  spiked_ = loss <= level_ + kBack * (peak_ - level_);
  comes_back_ = !spiked_ && records() + ++after_ <= kSpikeRecords;
}

void LossLift::Add(float loss, const LossTail& tail) {
  spiked_ = false;
  if (lifted_) return Follow(loss, tail);
  if (limit_ > 0 && loss >= limit_) return Begin(loss, tail);
  if (comes_back_) return ComeBack(loss);
  const std::span<const float> losses = tail.losses();
  if (losses.size() < kFewest || losses.size() % kEvery != 0) return;
  const Level old = BlockAt(losses.first(kBlock));
  const Level recent = BlockAt(losses.last(kBlock));
  limit_ = 0;
  if (recent.center > kRising * old.center) return;
  SetLevel(tail, {std::min(old.center, recent.center),
                  std::max(old.spread, recent.spread)});
}

}  // namespace nanwatch
