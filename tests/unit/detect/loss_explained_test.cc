// Rises of a loss that its log explains: the objective moved, or the program
// was started again.

#include <gmock/gmock.h>

#include <algorithm>

#include "detect/loss_spike.h"
#include "tests/unit/detect/noise.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

// With a weight of the objective that the log prints.
TEST(LossExplained, ALossThatRisesWithItsObjectiveIsANote) {
  const auto worst = [](const char* moves) {
    StepFeed<LossSpike> f(NoScaler());
    f.run.settings["objective_moves"] = moves;
    Noise noise;
    for (int i = 0; i < 500; ++i) f.Step({.loss = 2.5 * noise.Factor(0.02)});
    for (int i = 0; i < 200; ++i) {
      f.Step({.loss = (2.5 + std::min(4.0, i / 10.0)) * noise.Factor(0.02)});
    }
    return f.worst;
  };
  EXPECT_EQ(worst("500-540"), Severity::kInfo);
  EXPECT_EQ(worst("100-100 498-499"), Severity::kInfo) << "a bit behind it";
  EXPECT_EQ(worst("100-140"), Severity::kCritical);
  EXPECT_EQ(worst("not a step"), Severity::kCritical);
}

// A job that goes on in the same log, without its checkpoint.
TEST(LossExplained, ALossBackAtItsFirstAfterARestartIsCritical) {
  const auto worst = [](const char* resumed) {
    StepFeed<LossSpike> f(NoScaler());
    Noise noise;
    if (*resumed != 0) f.run.settings["resumed_after"] = resumed;
    for (int i = 0; i < 600; ++i) f.Step({.loss = Learning(i, &noise)});
    for (int i = 0; i < 100; ++i) f.Step({.loss = Learning(8 * i, &noise)});
    return f.worst;
  };
  EXPECT_EQ(worst("600"), Severity::kCritical);
  EXPECT_EQ(worst(""), Severity::kWarning) << "a new fold, it may be";
  EXPECT_EQ(worst("300"), Severity::kWarning);
}

TEST(LossExplained, BatchesOfARunThatGoesOnAreNoRise) {
  Noise noise;
  for (int run = 0; run < 8; ++run) {
    StepFeed<LossSpike> f(NoScaler());
    f.run.settings["begins"] = "resumed";
    for (int i = 0; i < 400; ++i) f.Step({.loss = 2.2 * noise.Factor(0.08)});
    EXPECT_EQ(std::max(f.worst, f.End()), Severity::kNone) << run;
  }
}

}  // namespace
}  // namespace nanwatch
