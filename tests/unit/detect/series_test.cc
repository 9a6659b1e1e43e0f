// Series: level, evidence, and how often healthy noise passes for more.

#include "detect/series.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>

namespace nanwatch {
namespace {

constexpr NoisePrior kPrior = {.running = 0.06f, .fresh = 0.30f};

// The noise that evidence is held against: Student's t of three degrees, and a
// share of outliers that lie anywhere, six widths above the level.
class HealthyNoise {
 public:
  HealthyNoise(double width, double outliers) : width_(width), q_(outliers) {}
  double Next() {
    const double y = uniform_(engine_) < q_
                         ? 6 * width_ * (1 + anywhere_(engine_))
                         : width_ * tail_(engine_);
    return std::clamp(y, -30.0, 30.0);
  }

 private:
  const double width_;
  const double q_;
  std::mt19937_64 engine_{7};
  std::student_t_distribution<double> tail_{3};
  std::cauchy_distribution<double> anywhere_;
  std::uniform_real_distribution<double> uniform_;
};

// Returns how many excursions of `values` values come to ln(1/a), for a of
// 1e-4, 1e-5 and 1e-6.
std::array<int, 3> FalseAlarms(int values, HealthyNoise noise) {
  std::array<int, 3> alarms{};
  Series series;
  size_t reached = 0;
  for (int i = 0; i < values; ++i) {
    series.Add(static_cast<float>(2 * std::exp(noise.Next())), 2000 + i,
               kPrior);
    if (!series.out() || series.excursion().values() == 1) reached = 0;
    if (!series.out()) continue;
    while (reached < alarms.size() &&
           series.excursion().nats() >=
               std::log(std::pow(10, 4 + static_cast<double>(reached)))) {
      ++alarms[reached++];
    }
  }
  return alarms;
}

// Norms of batches of which some teach next to nothing: their logarithms have a
// long tail below.
TEST(Series, LowValuesInARowMakeNoLevelThatHealthRisesFrom) {
  constexpr int kValues = 10'000'000;
  std::mt19937_64 engine{11};
  std::uniform_real_distribution<float> uniform(1e-4f, 1);
  Series series;
  int longest = 0;  // excursion
  for (int i = 0; i < kValues; ++i) {
    series.Add(uniform(engine), 2000 + i, kPrior);
    if (series.out() && series.excursion().nats() >= 13.8f) {
      longest = std::max(longest, series.excursion().values());
    }
  }
  EXPECT_LT(longest, 100);
}

TEST(Series, HealthyNoiseReachesAThresholdAsSeldomAsItIsSet) {
  constexpr int kValues = 2'000'000;
  for (const double width : {0.02, 0.05, 0.2}) {
    const auto alarms = FalseAlarms(kValues, HealthyNoise(width, 0.005));
    EXPECT_LE(alarms[0], kValues * 1e-4) << width;
    EXPECT_LE(alarms[1], kValues * 1e-5) << width;
    // Of 2 expected at most, six come by chance once in 60 such tests.
    EXPECT_LE(alarms[2], 5) << width;
    EXPECT_GT(alarms[0], 0) << "the test can fail";
  }
}

Series Steady(int values, double level, double noise) {
  Series series;
  std::mt19937_64 engine(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < values; ++i) {
    series.Add(static_cast<float>(level * std::exp(noise * normal(engine))),
               1 + i, kPrior);
  }
  return series;
}

TEST(Series, KnowsLevelAndNoise) {
  for (const double noise : {0.01, 0.05, 0.3}) {
    const Series series = Steady(1000, 2.5, noise);
    EXPECT_NEAR(series.ValueAt(series.level().at()), 2.5, 2.5 * noise);
    EXPECT_NEAR(series.level().noise() / noise, 1, 0.5) << noise;
  }
}

TEST(Series, OneOutlierIsLittleEvidenceAndThreeThatAgreeAreMuch) {
  for (const float far : {5.0f, 50.0f, 5000.0f}) {
    Series series = Steady(300, 2.5, 0.02);
    series.Add(far, 301, kPrior);
    EXPECT_TRUE(series.out());
    EXPECT_LT(series.excursion().nats(), 6) << far;
    series.Add(far, 302, kPrior);
    series.Add(far, 303, kPrior);
    EXPECT_GT(series.excursion().nats(), 13.8) << far;
    EXPECT_EQ(series.excursion().step(), 301);
  }
}

TEST(Series, LearnsThatOutliersAreUsual) {
  Series series;
  for (int i = 0; i < 2000; ++i) {
    series.Add(i % 10 == 9 ? 20 : 2 + 0.01f * static_cast<float>(i % 7), 1 + i,
               kPrior);
  }
  EXPECT_GT(series.outliers(), 0.03);
  for (int i = 0; i < 3; ++i) series.Add(20, 2001 + i, kPrior);
  EXPECT_LT(series.excursion().nats(), 13.8);
}

TEST(Series, ARiseIsNotAmongTheFirstValues) {
  Series series;
  for (const float y : {7.6f, 80.6f, 22.9f, 13.8f, 87.9f, 119.0f}) {
    series.Add(y, 1, kPrior);
  }
  EXPECT_NEAR(series.ValueAt(series.first()), 7.6, 0.01);
}

TEST(Series, AWayBackIsNoNoise) {
  Series series;
  for (int i = 0; i < 6; ++i) series.Add(5.3f, 1 + i, kPrior);
  const float before = series.level().scatter();
  for (int i = 0; i < 30; ++i) {
    series.Add(1400 * std::exp(-0.15f * static_cast<float>(i)), 7 + i, kPrior);
  }
  EXPECT_TRUE(series.out());
  EXPECT_LT(series.level().scatter(), 2 * before);
}

TEST(Series, TheSecondValueIsJudged) {
  Series series;
  series.Add(2.3f, 0, kPrior);
  for (int i = 1; i < 16; ++i) {
    series.Add(8 + 0.3f * static_cast<float>(i), i, kPrior);
  }
  EXPECT_TRUE(series.out());
  EXPECT_EQ(series.excursion().step(), 1);
  EXPECT_GT(series.excursion().nats(), 13.8);
}

// What scatters as far as it rose is noise.
TEST(Series, AFirstValueThatIsLowIsNoLevel) {
  Series series;
  std::mt19937_64 engine(5);
  std::normal_distribution<double> normal;
  series.Add(0.5f, 0, kPrior);
  for (int i = 1; i < 60; ++i) {
    series.Add(static_cast<float>(2 * std::exp(0.6 * normal(engine))), i,
               kPrior);
  }
  EXPECT_LT(series.out() ? series.excursion().nats() : 0, 13.8);
}

TEST(Series, ADescentWidensNoNoise) {
  Series series;
  for (int i = 0; i < 200; ++i) {
    series.Add(static_cast<float>(10 * std::exp(-0.02 * i)) *
                   (1 + 0.01f * static_cast<float>(i % 3)),
               1 + i, kPrior);
  }
  EXPECT_LT(series.level().noise(), 0.03);
}

// It goes down and comes back; a level that climbed is told from its trough.
TEST(Series, AClimbBeginsAtItsTrough) {
  Series series = Steady(200, 2.5, 0.01);
  for (int i = 0; i < 60; ++i) {
    series.Add(static_cast<float>(2.5 * std::exp(0.02 * i)), 201 + i, kPrior);
  }
  EXPECT_TRUE(series.out());
  EXPECT_NEAR(series.excursion().step(), 201, 8);
  EXPECT_GT(series.excursion().nats(), 20.7);
}

TEST(Series, WhatCrossesZeroIsASeriesToo) {
  Series series;
  for (int i = 0; i < 400; ++i) {
    series.Add(i % 2 == 0 ? 0.1f : -0.1f, 1 + i, kPrior);
  }
  EXPECT_TRUE(series.crosses_zero());
  EXPECT_NEAR(series.ValueAt(series.level().at()), 0, 0.1);
  EXPECT_FALSE(series.out());
  for (int i = 0; i < 4; ++i) series.Add(50, 401 + i, kPrior);
  EXPECT_GT(series.excursion().nats(), 12);
}

TEST(Series, AcceptsALevelThatStays) {
  Series series = Steady(300, 2.5, 0.02);
  for (int i = 0; i < 30; ++i) series.Add(2.9f, 301 + i, kPrior);
  EXPECT_TRUE(series.out());
  series.Accept();
  EXPECT_FALSE(series.out());
  EXPECT_NEAR(series.ValueAt(series.level().at()), 2.9, 0.05);
}

// Losses that begin next to nothing.
TEST(Series, WhatRisesEvenlyDoesNotFollowRewards) {
  const auto follows = [](double noise) {
    std::mt19937_64 engine(7);
    std::normal_distribution<double> normal;
    Series series;
    for (int i = 0; i < 60; ++i) {
      const double level = 7.5 - 7.46 * std::exp(-0.1 * i);
      series.Add(static_cast<float>(level * std::exp(noise * normal(engine))),
                 i, kPrior);
      if (i == 8) {
        EXPECT_TRUE(series.follows_rewards()) << "not known yet";
      }
    }
    return series.follows_rewards();
  };
  EXPECT_FALSE(follows(0.03));
  EXPECT_TRUE(follows(0.4));
}

TEST(Series, WhatRisesTenThousandfoldDoesNotFollowRewards) {
  const auto follows = [](float to) {
    Series series;
    int step = 0;
    for (const float loss : {0.1f, 0.11f, 0.09f, 0.1f, 0.1f, 0.07f, 0.15f}) {
      series.Add(loss, ++step, kPrior);
    }
    for (int i = 0; i < 30; ++i) {
      series.Add(to * (i % 2 == 0 ? 0.8f : 1.2f), ++step, kPrior);
    }
    return series.follows_rewards();
  };
  EXPECT_TRUE(follows(10));
  EXPECT_FALSE(follows(1500));
}

TEST(Series, KeepsALevelWhereItIsMoreThanNothing) {
  const auto kept = [](float level, int values) {
    Series series;
    for (int i = 0; i < values + 30; ++i) {
      const float up = i < values ? 1 : 6;
      series.Add(level * up * (i % 2 == 0 ? 0.7f : 1.3f), i, kPrior);
    }
    return series.kept_a_level();
  };
  EXPECT_TRUE(kept(0.08f, 60)) << "as a diffusion model's";
  EXPECT_FALSE(kept(0.08f, 12));
  EXPECT_FALSE(kept(0.001f, 60)) << "no reward was seen yet";
}

// A Dice loss falls, and comes to rest at 0.
TEST(Series, WhatFellBelow0AndRestsThereHasLostAll) {
  const auto lost = [](float to, float wobble) {
    Series series;
    for (int i = 0; i < 14; ++i) {
      series.Add(-0.25f - 0.035f * static_cast<float>(i), 1 + i, kPrior);
    }
    for (int i = 0; i < 60; ++i) {
      series.Add(to + (i % 2 == 0 ? wobble : -wobble), 15 + i, kPrior);
    }
    return series.has_lost_all();
  };
  EXPECT_TRUE(lost(-0.0005f, 0.0002f));
  EXPECT_FALSE(lost(-0.2f, 0.0002f)) << "something is left";
  EXPECT_FALSE(lost(0, 0.2f)) << "it wanders";
}

// Of rises at equal distances, each `times` as high as the one before: how many
// pass for a clock's, or for those that came back before.
int Excused(double times) {
  Series series = Steady(100, 1, 0.02);
  int excused = 0;
  for (int i = 0; i < 9 * 60; ++i) {
    const double rise = i % 60 < 12 ? 3 * std::pow(times, i / 60) : 1;
    series.Add(static_cast<float>(rise), 101 + i, kPrior);
    if (i % 60 == 11) excused += series.every() > 0 || series.recurs();
  }
  return excused;
}

TEST(Series, RisesByAClockDoNotGrow) {
  EXPECT_EQ(Excused(1), 8);
  EXPECT_LE(Excused(1.1), 5);
  EXPECT_LE(Excused(1.3), 1);
}

}  // namespace
}  // namespace nanwatch
