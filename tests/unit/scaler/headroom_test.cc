#include "scaler/headroom.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace nanwatch {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

constexpr int kLimit = -24;  // fp16

// What a tensor of fp16 keeps of a value, by rounding it as the format does.
bool IsLost(double x) { return std::nearbyint(std::fabs(x) * 0x1p24) < 1; }
// Below the smallest number, whatever the rounding: what the formulas count.
bool IsBelow(double x) { return std::fabs(x) < 0x1p-24; }

TEST(NormalCdf, AgreesWithTheLibrarysErrorFunction) {
  for (double x = -30; x <= 12; x += 0.03125) {
    const double right = 0.5 * std::erfc(-x / std::sqrt(2.0));
    ASSERT_NEAR(NormalCdf(x) / right, 1, 1e-11) << x;
  }
  EXPECT_DOUBLE_EQ(NormalCdf(0), 0.5);
}

// --- predictions against drawn values ----------------------------------------

struct Normal {
  double rms;
  double bits;
};
class UnderflowNormalTest : public ::testing::TestWithParam<Normal> {};

TEST_P(UnderflowNormalTest, IsTheFormulaAndWhatIsDrawn) {
  const auto [rms, bits] = GetParam();
  const double predicted = UnderflowNormal(rms, kLimit, bits);
  const double formula =
      std::erf(0x1p-24 / (std::exp2(bits) * rms * std::sqrt(2.0)));
  EXPECT_NEAR(predicted, formula, 1e-9 * formula);
  std::mt19937 engine(7);
  std::normal_distribution<double> draw(0, rms * std::exp2(bits));
  constexpr int kDraws = 400000;
  int below = 0;
  for (int i = 0; i < kDraws; ++i) below += IsBelow(draw(engine));
  const double deviation = std::sqrt(formula * (1 - formula) / kDraws);
  EXPECT_NEAR(below / double{kDraws}, predicted, 5 * deviation + 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Table, UnderflowNormalTest,
                         ::testing::Values(Normal{1e-4, 0}, Normal{1e-5, 0},
                                           Normal{1e-6, 0}, Normal{1e-7, 0},
                                           Normal{1e-8, 0}, Normal{1e-8, 4},
                                           Normal{1e-6, -6}, Normal{3e-9, 1}));

struct LogNormal {
  double mean;
  double std;
  double bits;
};
class UnderflowLogNormalTest : public ::testing::TestWithParam<LogNormal> {};

TEST_P(UnderflowLogNormalTest, IsTheFormulaAndWhatIsDrawn) {
  const auto [mean, std, bits] = GetParam();
  const double predicted = UnderflowLogNormal(mean, std, kLimit, bits);
  const double formula =
      0.5 * std::erfc(-(kLimit - bits - mean) / std / std::sqrt(2.0));
  EXPECT_NEAR(predicted, formula, 1e-9 * formula);
  std::mt19937 engine(11);
  std::normal_distribution<double> draw(mean + bits, std);
  constexpr int kDraws = 400000;
  int below = 0;
  for (int i = 0; i < kDraws; ++i) {
    below += IsBelow(std::exp2(draw(engine)));
  }
  const double deviation = std::sqrt(formula * (1 - formula) / kDraws);
  EXPECT_NEAR(below / double{kDraws}, predicted, 5 * deviation + 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Table, UnderflowLogNormalTest,
    ::testing::Values(LogNormal{-10, 3, 0}, LogNormal{-15, 3, 0},
                      LogNormal{-24, 2, 0}, LogNormal{-24, 2, 5},
                      LogNormal{-30, 4, 0}, LogNormal{-12, 4, -3}));

// --- the exact form against every element ------------------------------------

struct Tensor {
  std::vector<double> values;
  std::vector<uint64_t> counts;
  int32_t first = 0;
};

Tensor RandomTensor(uint32_t seed) {
  std::mt19937 engine(seed);
  Tensor t;
  const double mean = -30 + static_cast<double>(engine() % 40);
  const double std = static_cast<double>(engine() % 60) / 10;
  std::normal_distribution<double> draw(mean, std);
  const int n = 1 + static_cast<int>(engine() % 5000);
  for (int i = 0; i < n; ++i) t.values.push_back(std::exp2(draw(engine)));
  int lowest = INT32_MAX;
  int highest = INT32_MIN;
  for (const double v : t.values) {
    lowest = std::min(lowest, std::ilogb(v));
    highest = std::max(highest, std::ilogb(v));
  }
  t.first = lowest;
  t.counts.assign(highest - lowest + 1, 0);
  for (const double v : t.values) ++t.counts[std::ilogb(v) - lowest];
  return t;
}

double LostByHand(const Tensor& t, int bits) {
  double lost = 0;
  for (const double v : t.values) lost += IsBelow(std::ldexp(v, bits));
  return lost / static_cast<double>(t.values.size());
}

TEST(LowestExact, IsTheFirstScaleThatLosesFewEnough) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const Tensor t = RandomTensor(seed);
    int by_hand = -100;
    while (LostByHand(t, by_hand) > kUnderflowAllowed) ++by_hand;
    EXPECT_THAT(LowestExact(t.counts, t.first, kLimit), Optional(by_hand))
        << seed;
  }
  EXPECT_EQ(LowestExact({}, 0, kLimit), std::nullopt);
  const std::vector<uint64_t> zeros(5, 0);
  EXPECT_EQ(LowestExact(zeros, 0, kLimit), std::nullopt);
}

TEST(Lowest, InvertsThePredictions) {
  for (const double rms : {1.0, 1e-3, 1e-6, 1e-9}) {
    EXPECT_NEAR(UnderflowNormal(rms, kLimit, LowestNormal(rms, kLimit)),
                kUnderflowAllowed, 1e-9);
  }
  for (const double mean : {-5.0, -20.0, -40.0}) {
    for (const double std : {0.5, 2.0, 6.0}) {
      EXPECT_NEAR(UnderflowLogNormal(mean, std, kLimit,
                                     LowestLogNormal(mean, std, kLimit)),
                  kUnderflowAllowed, 1e-9);
    }
  }
}

// The prediction from moments comes near what the elements say.
TEST(LowestOf, TakesTheFormThatTheMomentsFit) {
  std::mt19937 engine(3);
  const auto range_of = [](const std::vector<double>& values) {
    TensorRange r;
    r.elements = values.size();
    double square = 0;
    double sum = 0;
    double sum2 = 0;
    uint64_t zeros = 0;
    for (const double v : values) {
      square += v * v;
      if (v == 0) {
        ++zeros;
        continue;
      }
      sum += std::log2(std::fabs(v));
      sum2 += std::log2(std::fabs(v)) * std::log2(std::fabs(v));
    }
    const double n = static_cast<double>(values.size());
    const double nonzero = n - static_cast<double>(zeros);
    r.zeros = zeros;
    r.rms = static_cast<float>(std::sqrt(square / n));
    r.log2_mean = static_cast<float>(sum / nonzero);
    r.log2_std = static_cast<float>(
        std::sqrt(sum2 / nonzero - sum * sum / nonzero / nonzero));
    return r;
  };
  // The bits at which 1 in 1000 of the values that are not zero are below.
  const auto by_hand = [](std::vector<double> values) {
    std::erase(values, 0.0);
    for (double& v : values) v = std::fabs(v);
    std::sort(values.begin(), values.end());
    return kLimit - std::log2(values[values.size() / 1000]);
  };
  for (const double level : {1e-2, 1e-5, 1e-7}) {
    std::normal_distribution<double> normal(0, level);
    std::normal_distribution<double> log_normal(std::log2(level), 2.5);
    std::vector<double> a;
    std::vector<double> b;
    std::vector<double> sparse;
    for (int i = 0; i < 100000; ++i) {
      a.push_back(normal(engine));
      b.push_back(std::exp2(log_normal(engine)));
      sparse.push_back(i % 10 == 0 ? normal(engine) : 0);
    }
    EXPECT_THAT(LowestOf(range_of(a)), Optional(DoubleNear(by_hand(a), 0.5)));
    EXPECT_THAT(LowestOf(range_of(b)), Optional(DoubleNear(by_hand(b), 0.5)));
    TensorRange rms_only = range_of(sparse);
    rms_only.log2_mean = rms_only.log2_std = std::nullopt;
    EXPECT_THAT(LowestOf(rms_only), Optional(DoubleNear(by_hand(sparse), 0.7)));
  }
}

TEST(LowestOf, NotCollectedIsNotZero) {
  EXPECT_EQ(LowestOf({.elements = 10}), std::nullopt);
  EXPECT_EQ(LowestOf({.elements = 10, .rms = 0.0f}), std::nullopt);
  EXPECT_EQ(LowestOf({.elements = 10, .rms = NAN}), std::nullopt);
  EXPECT_EQ(LowestOf({.elements = 10, .log2_mean = -3.0f}), std::nullopt);
  EXPECT_EQ(LowestOf({.dtype = Dtype::kUnknown, .rms = 1.0f}), std::nullopt);
}

// --- all tensors of a step ---------------------------------------------------

struct Seen {
  std::optional<double> lowest;
  std::optional<float> abs_max;
};

TEST(GradientRange, IsWhatAllTensorsSayOneByOne) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 engine(seed);
    std::vector<Seen> tensors;
    const int n = 1 + static_cast<int>(engine() % 30);
    for (int i = 0; i < n; ++i) {
      Seen s;
      if (engine() % 5 != 0) {
        s.lowest = -20 + static_cast<double>(engine() % 600) / 10;
      }
      if (engine() % 5 != 0) {
        s.abs_max = std::exp2(static_cast<float>(engine() % 30) - 12);
      }
      tensors.push_back(s);
    }
    GradientRange range;
    double lowest = -1e9;
    float largest = -1;
    for (int i = 0; i < n; ++i) {
      range.Add(i, tensors[i].lowest, tensors[i].abs_max);
      if (tensors[i].lowest) lowest = std::max(lowest, *tensors[i].lowest);
      if (tensors[i].abs_max) largest = std::max(largest, *tensors[i].abs_max);
    }
    ASSERT_EQ(range.tensors(), static_cast<uint32_t>(n));
    for (int bits = -15; bits < 40; ++bits) {
      const auto losing = std::count_if(
          tensors.begin(), tensors.end(),
          [&](const Seen& s) { return s.lowest && *s.lowest > bits; });
      ASSERT_EQ(range.Losing(bits), losing) << seed << " " << bits;
    }
    if (largest > 0) {
      ASSERT_THAT(range.headroom(),
                  Optional(DoubleNear(std::log2(65504.0 / largest), 1e-9)));
    }
    const std::optional<int32_t> best = range.BestBits();
    if (range.bounded() == 0 || largest < 0) {
      ASSERT_EQ(best, std::nullopt);
      continue;
    }
    // By trying: the lowest scale that suits all, else the highest that is a
    // bit from the overflow.
    int by_hand = 0;
    while (by_hand < lowest) ++by_hand;
    while (largest * std::exp2(by_hand + 1) > 65504) --by_hand;
    ASSERT_THAT(best, Optional(by_hand)) << seed;
  }
}

TEST(GradientRange, KnowsNothingOfWhatWasNotCollected) {
  GradientRange range;
  EXPECT_EQ(range.headroom(), std::nullopt);
  EXPECT_EQ(range.BestBits(), std::nullopt);
  range.Add(0, 3.0, std::nullopt);
  EXPECT_EQ(range.headroom(), std::nullopt);
  range.Add(1, std::nullopt, 0.0f);
  EXPECT_EQ(range.headroom(), std::nullopt) << "all zeros have no largest";
  range.Add(2, std::nullopt, INFINITY);
  EXPECT_EQ(range.headroom(), std::nullopt);
}

TEST(Rounding, HalfOfTheSmallestNumberIsLost) {
  // The formulas count what is below the smallest number; rounding saves the
  // upper half of that: they overstate by less than a bit.
  EXPECT_TRUE(IsLost(0x1p-25));
  EXPECT_FALSE(IsLost(0x1.8p-25));
  EXPECT_TRUE(IsBelow(0x1.8p-25));
}

}  // namespace
}  // namespace nanwatch
