// Rule 35: losses that cross 0, or whose noise grows.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "detect/loss_high_plateau.h"
#include "tests/unit/detect/noise.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

Severity Worst(int records, const std::function<double(int)>& loss) {
  StepFeed<LossHighPlateau> f(NoScaler());
  for (int i = 0; i < records; ++i) f.Step({.loss = loss(i)});
  return f.worst;
}

// The negative of an objective that fell through 0, and is back at what it
// began with.
TEST(LossHighPlateau, AnObjectiveThatIsBackBelow0IsAWarning) {
  const auto worst = [](const char* loss, double back) {
    Noise noise;
    StepFeed<LossHighPlateau> f(NoScaler());
    f.run.settings["loss"] = loss;
    for (int i = 0; i < 700; ++i) {
      const double learned = 3.7 - 5.1 * (1 - std::exp(-i / 60.0));
      f.Step({.loss = (i < 300 ? learned : back) + 0.1 * noise.Normal()});
    }
    return f.worst;
  };
  EXPECT_EQ(worst("negative", 4), Severity::kWarning);
  EXPECT_EQ(worst("negative", 8), Severity::kWarning);
  EXPECT_EQ(worst("negative", 0.5), Severity::kNone) << "not all of it";
  EXPECT_EQ(worst("negative", -1.4), Severity::kNone);
  EXPECT_EQ(worst("", 8), Severity::kNone) << "it may be a policy's";
}

// What was learned was no noise then.
TEST(LossHighPlateau, NoiseThatGrowsHidesNothing) {
  Noise noise;
  const auto loss = [&](int i) {
    const double learned = 0.5 + 1.9 * std::exp(-i / 20.0);
    const double grows = std::max(0, i - 100) / 60.0;
    return learned * std::exp(0.03 * noise.Normal()) +
           grows * std::fabs(noise.Normal());
  };
  EXPECT_GE(Worst(400, loss), Severity::kWarning);
}

TEST(LossHighPlateau, SwingsAbout0ThatGrowAreAWarning) {
  const auto worst = [](double size, double grows) {
    Noise noise;
    StepFeed<LossHighPlateau> f(NoScaler());
    for (int i = 0; i < 400; ++i) {
      const double wide = size * std::exp(grows * i / 400);
      f.Step({.loss = wide * (std::sin(1.1 * i) + 0.2 * noise.Normal())});
    }
    return f.worst;
  };
  EXPECT_EQ(worst(0.2, 5), Severity::kWarning);
  EXPECT_EQ(worst(20, 5), Severity::kWarning);
  EXPECT_EQ(worst(0.001, 5), Severity::kNone) << "a policy's";
  EXPECT_EQ(worst(2, 1), Severity::kNone);
  EXPECT_EQ(worst(2, 0), Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
