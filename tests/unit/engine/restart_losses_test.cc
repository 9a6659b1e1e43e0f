// Restarts held against the attempt before, of losses that are made: with noise
// of many kinds, none that goes on as before is accused, and those that begin
// anew are found.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "detect/rules.h"
#include "engine/bench_watch.h"
#include "engine/course_noise.h"
#include "tests/unit/detect/noise.h"

namespace nanwatch {
namespace {

// How losses lie about a course from `begins` to 1.
struct Kind {
  double begins = 3;
  double over = 200;    // steps in which most is learned
  double noise = 0.05;  // deviation, of logarithms
  double keeps = 0;     // of the noise of the step before
  double smooth = 0;    // share of the loss that was told before
  bool outliers = false;
  double power = 1;  // above: little is learned at first
};

class Losses {
 public:
  Losses(const Kind& kind, Noise* noise) : kind_(kind), noise_(noise) {
    at_ = kind.noise * noise->Normal();
  }
  // Of a model that has learned for `learned` steps.
  double At(double learned) {
    const double wide = kind_.outliers && noise_->Uniform() < 0.05 ? 4 : 1;
    at_ = kind_.keeps * at_ + std::sqrt(1 - kind_.keeps * kind_.keeps) * wide *
                                  kind_.noise * noise_->Normal();
    const double course =
        1 + (kind_.begins - 1) *
                std::exp(-std::pow(learned / kind_.over, kind_.power));
    const double loss = course * std::exp(at_);
    told_ =
        told_ == 0 ? loss : kind_.smooth * told_ + (1 - kind_.smooth) * loss;
    return told_;
  }

 private:
  const Kind kind_;
  Noise* const noise_;
  double at_ = 0;
  double told_ = 0;
};

constexpr int64_t kSteps = 400;
constexpr int64_t kPairs = 200;

// Returns after how many pairs the rule spoke; 0: it did not. `lost`: the
// weights were not loaded.
int64_t SpokeAfter(const Kind& kind, int64_t first, bool lost, Noise* noise) {
  std::vector<double> thresholds;
  for (const ThresholdSpec& one : BenchLossDivergence::kSpec.thresholds) {
    thresholds.push_back(one.value);
  }
  Losses before(kind, noise);
  auto benchmark = std::make_shared<Benchmark>();
  benchmark->reference = "run@0";
  benchmark->earlier_attempt = true;
  double begun = 0;
  for (int64_t step = 0; step < first + kSteps; ++step) {
    const double loss = before.At(static_cast<double>(step));
    if (step < 16) begun += loss / 16;
    if (step >= first - first / 8) benchmark->points.push_back({step, loss});
  }
  BenchWatch watch;
  watch.Set(benchmark);
  Losses after(kind, noise);
  BenchLossDivergence rule;
  for (int64_t i = 0; i < kPairs; ++i) {
    StepRecord record;
    record.step = first + i;
    record.present = Bit(StepField::kLoss);
    record.value[static_cast<int>(StepField::kLoss)] =
        after.At(static_cast<double>(lost ? i : first + i));
    const auto pair = watch.Pair(record, begun);
    if (rule.OnBench(*pair, {thresholds.data()}) != Severity::kNone) {
      return i + 1;
    }
  }
  return 0;
}

struct Tried {
  int32_t restarts = 0;
  int32_t accused = 0;
};

// Restarts that go on as before.
Tried Healthy(const std::vector<double>& widths,
              const std::vector<double>& smooths) {
  Noise noise;
  Tried tried;
  for (const double begins : {1.01, 1.03, 1.1, 3.0}) {
    for (const double over : {100.0, 1000.0}) {
      for (const double keeps : {0.0, 0.5, 0.9}) {
        for (const bool outliers : {false, true}) {
          for (const double width : widths) {
            for (const double smooth : smooths) {
              for (const int64_t first : {60, 200, 800}) {
                const Kind kind{begins, over, width, keeps, smooth, outliers};
                ++tried.restarts;
                tried.accused += SpokeAfter(kind, first, false, &noise) > 0;
              }
            }
          }
        }
      }
    }
  }
  return tried;
}

TEST(RestartLosses, ThatGoOnAsBeforeAreNotAccused) {
  const Tried tried = Healthy({0.003, 0.02, 0.05}, {0, 0.9});
  EXPECT_EQ(tried.accused, 0) << "of " << tried.restarts;
}

// A first loss that lies far off stays in what is smoothed over fifty.
TEST(RestartLosses, ThatScatterWidelyAreRarelyAccused) {
  const Tried tried = Healthy({0.05, 0.3}, {0.98});
  EXPECT_LE(tried.accused, tried.restarts / 10) << "of " << tried.restarts;
  const Tried wide = Healthy({0.3}, {0, 0.9});
  EXPECT_LE(wide.accused, wide.restarts / 50) << "of " << wide.restarts;
}

TEST(RestartLosses, ThatBeginAnewAreFoundWithinTenPairs) {
  Noise noise;
  for (const double width : {0.003, 0.02, 0.05}) {
    for (const double over : {30, 100, 1000}) {
      const Kind kind{.begins = 3, .over = over, .noise = width};
      for (const int64_t first : {300, 800}) {
        const bool learned = static_cast<double>(first) > over / 2;
        if (!learned) continue;
        EXPECT_EQ(SpokeAfter(kind, first, true, &noise), 10)
            << "noise " << width << " over " << over << " first " << first;
      }
    }
  }
}

// A net that has learned 6 % of its loss loses no more.
TEST(RestartLosses, ThatBeginAnewAreFoundWhereLittleWasLearned) {
  Noise noise;
  for (int32_t i = 0; i < 10; ++i) {
    const int64_t after = SpokeAfter(
        {.begins = 1.06, .over = 150, .noise = 0.02}, 600, true, &noise);
    EXPECT_GT(after, 0);
    EXPECT_LE(after, 60);
  }
}

// As small nets do: of what they learned the noise of one loss is more, but
// they stay behind.
TEST(RestartLosses, ThatBeginAnewAreFoundWhereTheNoiseIsMore) {
  Noise noise;
  const Kind kind{.begins = 1.2, .over = 1000, .noise = 0.025, .power = 2};
  for (int32_t i = 0; i < 10; ++i) {
    EXPECT_GT(SpokeAfter(kind, 300, true, &noise), 0);
    EXPECT_EQ(SpokeAfter(kind, 300, false, &noise), 0);
  }
}

TEST(CourseNoise, IsThatOfValuesThatAreDrawnAnew) {
  Noise noise;
  for (const double keeps : {0.0, 0.8}) {
    Losses losses({.begins = 1, .noise = 0.05, .smooth = keeps}, &noise);
    std::vector<double> y;
    for (int32_t i = 0; i < 400; ++i) {
      y.push_back(std::log(losses.At(0)) - 0.002 * i);
    }
    EXPECT_NEAR(CourseNoise(y), 0.05, 0.012) << "smoothed " << keeps;
    y.resize(15);
    EXPECT_EQ(CourseNoise(y), 0);
  }
  const std::vector<double> still(65, 0.7);
  EXPECT_GT(CourseNoise(still), 0);
  EXPECT_LT(CourseNoise(still), 1e-4);
}

}  // namespace
}  // namespace nanwatch
