#include "scaler/scale_fit.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace nanwatch {
namespace {

constexpr int kFirst = -40;
constexpr int kBins = 60;

// A tensor as fp16 holds it, of normal values with this deviation; `masked` of
// them are 0 by themselves.
struct Drawn {
  GradientStatus status;
  std::vector<uint64_t> exponents = std::vector<uint64_t>(kBins);
  double lost = 0;  // share of those that are not masked
  double low = 0;   // bits at which 1 in 1000 is below the smallest number
  double high = 0;
};

Drawn Draw(double log2_deviation, double masked = 0) {
  constexpr int kElements = 200000;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, std::exp2(log2_deviation));
  Drawn drawn;
  std::vector<double> values;
  uint64_t zeros = 0;
  uint64_t lost = 0;
  double square = 0;
  double most = 0;
  for (int i = 0; i < kElements; ++i) {
    if (i < masked * kElements) {
      ++zeros;
      continue;
    }
    const double x = std::fabs(normal(random));
    values.push_back(x);
    const double held = std::nearbyint(std::min(x, 65504.0) * 0x1p24) * 0x1p-24;
    if (held == 0) {
      ++zeros;
      ++lost;
      continue;
    }
    ++drawn.exponents[static_cast<size_t>(std::ilogb(held) - kFirst)];
    square += held * held;
    most = std::max(most, held);
  }
  std::sort(values.begin(), values.end());
  drawn.lost = static_cast<double>(lost) / static_cast<double>(values.size());
  drawn.low = -24 - std::log2(values[values.size() / 1000]);
  drawn.high = std::log2(65504 / values.back()) - kScaleMargin;
  GradientStatus& s = drawn.status;
  s.range.elements = kElements;
  s.range.zeros = zeros;
  s.range.rms = static_cast<float>(std::sqrt(square / kElements));
  s.abs_max = static_cast<float>(most);
  s.exponents = drawn.exponents;
  s.first = kFirst;
  s.lowest = LowestExact(drawn.exponents, kFirst, -24);
  return drawn;
}

TEST(FitOf, SeesBothEndsOfWhatIsWhole) {
  for (const double deviation : {-12.0, -6.0, 0.0, 10.0}) {
    const Drawn drawn = Draw(deviation);
    const ScaleFit fit = FitOf(drawn.status, kScaleMargin);
    EXPECT_EQ(fit.sight, Sight::kSeen) << deviation;
    EXPECT_NEAR(fit.low, drawn.low, 1.1) << deviation;
    EXPECT_NEAR(fit.high, drawn.high, 0.01) << deviation;
    EXPECT_NEAR(fit.lost, drawn.lost, 5e-4) << deviation;
  }
}

TEST(FitOf, ZerosOfAMaskAreNotLost) {
  const Drawn drawn = Draw(-4, 0.6);
  const ScaleFit fit = FitOf(drawn.status, kScaleMargin);
  EXPECT_EQ(fit.sight, Sight::kSeen);
  EXPECT_LT(fit.lost, 1e-3);
  EXPECT_NEAR(fit.low, drawn.low, 1.1);
}

TEST(FitOf, EstimatesHowMuchOfACutTensorIsMissing) {
  for (const double deviation : {-19.0, -21.0, -23.0, -24.0, -25.0}) {
    for (const double masked : {0.0, 0.5}) {
      const Drawn drawn = Draw(deviation, masked);
      const ScaleFit fit = FitOf(drawn.status, kScaleMargin);
      EXPECT_EQ(fit.sight, deviation > -20 ? Sight::kSeen : Sight::kCut);
      EXPECT_NEAR(fit.low, drawn.low, 1) << deviation << ' ' << masked;
      EXPECT_NEAR(fit.lost, drawn.lost, 0.15) << deviation << ' ' << masked;
    }
  }
}

TEST(FitOf, WithoutExponentsItGoesByMoments) {
  Drawn drawn = Draw(-16, 0.5);
  drawn.status.exponents = {};
  drawn.status.lowest = LowestOf(drawn.status.range);
  const ScaleFit fit = FitOf(drawn.status, kScaleMargin);
  EXPECT_NEAR(fit.low, drawn.low, 1);
  EXPECT_NEAR(fit.high, drawn.high, 0.01);
  EXPECT_NEAR(fit.lost, drawn.lost, 0.005);
}

TEST(FitOf, OfWhatIsAllLostItKnowsBounds) {
  GradientStatus status;
  status.range.elements = 10;
  status.range.rms = 0;
  const ScaleFit fit = FitOf(status, kScaleMargin);
  EXPECT_EQ(fit.sight, Sight::kLost);
  EXPECT_EQ(fit.lost, 1);
  EXPECT_GT(fit.low, 1);
  // Below half the smallest number: 2^40 times of it is a number still.
  EXPECT_NEAR(fit.high, 25 + 16 - kScaleMargin, 0.001);
}

TEST(FitOf, WhatIsNotCollectedIsNotKnown) {
  EXPECT_EQ(FitOf({}, 1).sight, Sight::kNone);
  GradientStatus status;
  status.abs_max = 1;
  const ScaleFit fit = FitOf(status, 1);
  EXPECT_EQ(fit.sight, Sight::kSeen);
  EXPECT_TRUE(std::isnan(fit.low));
  EXPECT_NEAR(fit.high, 15, 0.01);
  status.range.dtype = Dtype::kUnknown;
  EXPECT_EQ(FitOf(status, 1).sight, Sight::kNone);
}

TEST(FitOf, KnowsFp8) {
  GradientStatus status;
  status.range.dtype = Dtype::kFp8E4M3;
  status.abs_max = 448;
  EXPECT_NEAR(FitOf(status, 0).high, 0, 0.001);
  status.range.dtype = Dtype::kFp8E5M2;
  EXPECT_NEAR(FitOf(status, 0).high, std::log2(57344.0 / 448), 0.001);
}

}  // namespace
}  // namespace nanwatch
