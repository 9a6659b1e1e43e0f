#include "scaler/layer_range.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace nanwatch {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

ScaleFit Seen(double low, double high, double lost = 0) {
  return {.low = static_cast<float>(low),
          .high = static_cast<float>(high),
          .lost = static_cast<float>(lost),
          .harm = static_cast<float>(lost),
          .sight = Sight::kSeen};
}

TEST(LayerRange, IsOfGradientsWithoutTheirScale) {
  LayerRange range(3);
  EXPECT_EQ(range.low(), std::nullopt);
  // Twice the scale, a bit less to go: the same gradients.
  for (int scale = 0; scale < 20; ++scale) {
    range.Take(Seen(10 - scale, 20 - scale), static_cast<float>(scale),
               ScaleOwner::kLayer);
  }
  EXPECT_THAT(range.low(), Optional(DoubleNear(10, 1e-5)));
  EXPECT_THAT(range.high(), Optional(DoubleNear(20, 1e-5)));
  EXPECT_EQ(range.own_scale(), 19);
  EXPECT_EQ(range.attempts(), 20);
}

TEST(LayerRange, WhatABatchLosesThatIsLearnedDoesNoHarm) {
  LayerRange learned(0);
  LayerRange all_alike(0);
  for (int i = 0; i < 200; ++i) {
    // Every other batch holds samples that are not learned: their gradients are
    // 256 times larger, and nothing of them is lost.
    learned.Take(i % 2 == 0 ? Seen(10, 20) : Seen(18, 28, 0.2), 12,
                 ScaleOwner::kLayer);
    all_alike.Take(Seen(18, 28, 0.2), 12, ScaleOwner::kLayer);
  }
  EXPECT_GT(learned.lost(), 0.05);
  EXPECT_LT(learned.harm(), 1e-4);
  EXPECT_NEAR(all_alike.harm(), 0.2, 0.05);
  // Gradients that become smaller for good.
  LayerRange smaller(0);
  for (int i = 0; i < 400; ++i) {
    smaller.Take(i < 200 ? Seen(10, 20) : Seen(18, 28, 0.2), 12,
                 ScaleOwner::kLayer);
  }
  EXPECT_GT(smaller.harm(), 0.005);
}

TEST(LayerRange, FollowsTheQuantilesOfWhatMoves) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 1);
  LayerRange range(0);
  double low = 0;
  double high = 0;
  constexpr int kSteps = 2000;
  for (int i = 0; i < kSteps; ++i) {
    range.Take(Seen(10 + noise(random), 20 + noise(random)), 0,
               ScaleOwner::kLayer);
    if (i < kSteps / 2) continue;
    low += *range.low() / (kSteps / 2);
    high += *range.high() / (kSteps / 2);
  }
  EXPECT_NEAR(low, 10 + 1.28, 0.25) << "9 of 10 need no more";
  EXPECT_NEAR(high, 20 - 1.28, 0.25) << "9 of 10 bear it";
  // Gradients that become 16 times smaller.
  for (int i = 0; i < 64; ++i) {
    range.Take(Seen(14 + noise(random), 24 + noise(random)), 0,
               ScaleOwner::kLayer);
  }
  EXPECT_NEAR(*range.low(), 14 + 1.28, 1);
  EXPECT_GT(*range.high(), 21);
}

TEST(LayerRange, WhatWasLostIsABoundUntilItIsSeen) {
  const ScaleFit lost{
      .low = 12, .high = 40, .lost = 1, .harm = 1, .sight = Sight::kLost};
  LayerRange range(0);
  range.Take(lost, 0, ScaleOwner::kLayer);
  range.Take(lost, 5, ScaleOwner::kLayer);
  range.Take(lost, 2, ScaleOwner::kLayer);
  EXPECT_EQ(range.sight(), Sight::kLost);
  EXPECT_EQ(range.low(), 17) << "of the highest scale at which all was lost";
  EXPECT_EQ(range.high(), 45);
  EXPECT_NEAR(range.lost(), 1, 0.001);
  range.Take(Seen(-3, 10), 30, ScaleOwner::kLayer);
  EXPECT_EQ(range.sight(), Sight::kSeen);
  EXPECT_EQ(range.low(), 27);
  EXPECT_EQ(range.high(), 40);
}

TEST(LayerRange, ALayerThatDiesAtASuitableScaleHasLostNothing) {
  const ScaleFit zero{
      .low = 12, .high = 40, .lost = 1, .harm = 1, .sight = Sight::kLost};
  LayerRange range(0);
  for (int i = 0; i < 40; ++i) range.Take(Seen(-5, 5), 10, ScaleOwner::kLayer);
  for (int i = 0; i < 40; ++i) range.Take(zero, 10, ScaleOwner::kLayer);
  EXPECT_LT(range.lost(), 1e-3);
  EXPECT_LT(range.harm(), 1e-6);
  EXPECT_EQ(range.low(), 5);
  // At one that is too low it has.
  for (int i = 0; i < 80; ++i) range.Take(zero, 0, ScaleOwner::kLayer);
  EXPECT_GT(range.lost(), 0.9);
  EXPECT_GT(range.harm(), 0.5);
}

TEST(LayerRange, CountsAttemptsOutside) {
  LayerRange range(0);
  for (int i = 0; i < 10; ++i) range.Take(Seen(0.5, 8), 0, ScaleOwner::kLayer);
  EXPECT_EQ(range.below(), 0) << "within a bit";
  for (int i = 0; i < 10; ++i) range.Take(Seen(2, 8), 0, ScaleOwner::kLayer);
  EXPECT_GT(range.below(), 5);
  range.Take(Seen(0, 6), 2, ScaleOwner::kLayer);
  EXPECT_EQ(range.below(), 0);
  for (int i = 0; i < 300; ++i)
    range.Take(Seen(-20, -3), 12, ScaleOwner::kLayer);
  EXPECT_EQ(range.above(), 255);
}

}  // namespace
}  // namespace nanwatch
