// Optimizers that follow losses of their own, and others that share one.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

// The loss of `b`, and of `a` if it is another one, goes to `to` and stays,
// growing by `pace` from step to step. Two
// losses may be the same number now and then.
Severity WorstOf(bool own, double to = 4, double pace = 1e9) {
  Driver driver;
  const SessionId s = driver.Open("job");
  Severity worst = Severity::kNone;
  for (int64_t step = 0; step < 900; ++step) {
    const double wave = 0.01 * static_cast<double>(step % 7);
    const double at = std::min(to, std::pow(pace, std::min(step - 200, 99L)));
    const double b = step < 200 ? 1 + wave : at + at / 4 * wave;
    const double a = own && step % 50 != 25 ? 0.5 + wave : b;
    StepColumns columns = Columns(
        {{.step = step, .loss = a}, {.step = step, .loss = b}}, driver.now());
    columns.optimizers = {"a", "b"};
    columns.optimizer = {0, 1};
    driver.Batch(s, std::move(columns));
    worst = std::max(worst, driver.Run("job")->severity);
    driver.Sleep(std::chrono::milliseconds(100));
  }
  return worst;
}

TEST(RivalLosses, HaveNoLevelToLeave) {
  EXPECT_EQ(WorstOf(true), Severity::kNone);
}

TEST(RivalLosses, ThatGrowTenThousandfoldHaveLeftAll) {
  EXPECT_EQ(WorstOf(true, 500, 1.05), Severity::kNone);
  EXPECT_EQ(WorstOf(true, 1e6, 1.2), Severity::kCritical);
}

// Of one optimizer, whose client sees that its loss goes through a rival.
TEST(RivalLosses, OneWhoseRivalNobodyWatchesHasNoneEither) {
  for (const bool told : {false, true}) {
    Driver driver;
    const SessionId s = driver.Open("job");
    Severity worst = Severity::kNone;
    for (int64_t step = 0; step < 900; ++step) {
      const double wave = 0.01 * static_cast<double>(step % 7);
      StepColumns columns = Columns(
          {{.step = step, .loss = (step < 200 ? 1 : 4) + wave}}, driver.now());
      columns.seen.rival_loss = told;
      driver.Batch(s, std::move(columns));
      worst = std::max(worst, driver.Run("job")->severity);
      driver.Sleep(std::chrono::milliseconds(100));
    }
    EXPECT_EQ(worst >= Severity::kWarning, !told);
  }
}

// A discriminator that is always right.
TEST(RivalLosses, OneThatAlwaysWinsIsTold) {
  EXPECT_EQ(WorstOf(true, 1e-5), Severity::kWarning);
}

TEST(RivalLosses, OneThatIsSharedHas) {
  EXPECT_EQ(WorstOf(false), Severity::kCritical);
}

// A sum of all losses so far, as word2vec's tools print it.
TEST(SumOfLosses, HasNoLevelToLeave) {
  const auto worst = [](double last) {
    Driver driver;
    const SessionId s = driver.Open("job");
    Severity worst = Severity::kNone;
    double sum = 0;
    for (int64_t step = 0; step < 60; ++step) {
      sum += step < 40 ? 2.3 * std::exp2(-0.01 * step) : last;
      driver.Steps(s, {{.step = step, .loss = sum}});
      worst = std::max(worst, driver.Run("job")->severity);
      driver.Sleep(std::chrono::milliseconds(100));
    }
    return worst;
  };
  EXPECT_EQ(worst(1.7), Severity::kNone);
  EXPECT_GE(worst(900), Severity::kWarning) << "it leaps";
}

}  // namespace
}  // namespace nanwatch
