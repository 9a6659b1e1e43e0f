// Rule 9: a scale that goes up and down for ever.

#include "detect/scale_limit_cycle.h"

#include <gmock/gmock.h>

#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

TEST(ScaleLimitCycle, FiresOnApex1135) {
  StepFeed<ScaleLimitCycle> f;
  const double up = 0x1p-9;
  for (const double scale :
       {2 * up, 4 * up, 2 * up, up, up / 2, up, up / 2, up, up / 2, 2 * up, up,
        up / 2, up / 4, up / 2, up / 4, up / 2}) {
    f.Scale(scale, true);
  }
  EXPECT_EQ(f.now, Severity::kWarning);
  ExpectWords(f.Described().sentence);
}

TEST(ScaleLimitCycle, RoundingIsNoTurn) {
  StepFeed<ScaleLimitCycle> f;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(f.Good(i % 2 == 0 ? 4096.0 : 4096.001, 1), Severity::kNone) << i;
  }
}

TEST(ScaleLimitCycle, OrdinaryProbesAreNoCycleAndItClears) {
  StepFeed<ScaleLimitCycle> f(Scaler("pytorch"));
  for (int i = 0; i < 20; ++i) {
    f.Scale(32768, true);
    f.Good(32768, 9);
    f.Good(65536, 1);
  }
  EXPECT_EQ(f.worst, Severity::kNone);
  for (int i = 0; i < 4; ++i) {
    f.Good(32768, 1);
    f.Good(65536, 1);
  }
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Good(65536, 199), Severity::kNone);
}

TEST(ScaleLimitCycle, RidingTheEdgeBetweenStepLinesIsHealthy) {
  StepFeed<ScaleLimitCycle> lines;
  StepFeed<ScaleLimitCycle> steps;
  for (int i = 0; i < 200; ++i) {
    const double scale = i % 2 == 0 ? 1024 : 2048;
    lines.Step({.scale = scale, .unseen = 99});
    steps.Step({.scale = scale});
  }
  EXPECT_EQ(lines.worst, Severity::kNone);
  EXPECT_EQ(steps.worst, Severity::kWarning);
}

}  // namespace
}  // namespace nanwatch
