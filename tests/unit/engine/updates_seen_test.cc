#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

// Returns the worst that is told of 1,200 losses, of which the client saw that.
Severity WorstOf(double (*loss)(int64_t step), UpdatesSeen (*seen)(int64_t)) {
  Driver driver;
  const SessionId s = driver.Open("job");
  Severity worst = Severity::kNone;
  for (int64_t step = 0; step < 1200; ++step) {
    const double wave = 1 + 0.01 * static_cast<double>(step * 5 % 7);
    StepColumns columns =
        Columns({{.step = step, .loss = loss(step) * wave}}, driver.now());
    columns.seen = seen(step);
    driver.Batch(s, std::move(columns));
    worst = std::max(worst, driver.Run("job")->severity);
    driver.Sleep(std::chrono::milliseconds(100));
  }
  return worst;
}

UpdatesSeen Nothing(int64_t) { return {}; }

// It grows sixfold with what it learns to expect.
double Values(int64_t step) { return step < 300 ? 0.5 : 3; }

TEST(UpdatesSeen, ALossThatFollowsRewardsMayGrow) {
  EXPECT_GE(WorstOf(Values, Nothing), Severity::kWarning);
  EXPECT_LT(
      WorstOf(Values,
              [](int64_t) { return UpdatesSeen{.follows_rewards = true}; }),
      Severity::kWarning);
  // Late, too.
  EXPECT_LT(WorstOf(Values,
                    [](int64_t step) {
                      return UpdatesSeen{.follows_rewards = step > 100};
                    }),
            Severity::kWarning);
}

// A term that is annealed from step 500 to 600.
double Annealed(int64_t step) {
  const auto share =
      static_cast<double>(std::clamp<int64_t>(step - 500, 0, 100));
  return std::max(5.0, 20 - 0.1 * static_cast<double>(step)) + 0.05 * share;
}

TEST(UpdatesSeen, ALossWhoseWeightsMoveMayRise) {
  EXPECT_GE(WorstOf(Annealed, Nothing), Severity::kWarning);
  EXPECT_LT(WorstOf(Annealed,
                    [](int64_t step) {
                      return UpdatesSeen{.objective_moves =
                                             step > 500 && step <= 600};
                    }),
            Severity::kWarning);
}

}  // namespace
}  // namespace nanwatch
