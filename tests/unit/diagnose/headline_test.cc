#include <gmock/gmock.h>

#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

TEST(HeadlineTest, HealthyRunsHaveOneToo) {
  TestCase t;
  EXPECT_EQ(t.Verdict().headline,
            "Healthy so far: no step has been reported yet.");
  t.evidence.attempts = t.evidence.loss_finite = 2000;
  t.evidence.scale_now = 65536;
  EXPECT_EQ(t.Verdict().headline,
            "Healthy: 2000 steps, no overflow, loss scale 65536, the loss is "
            "finite.");
  t.evidence.overflows = 1;
  EXPECT_EQ(t.Verdict().headline,
            "Healthy: 2000 steps, 1 overflow (0.05 %), loss scale 65536, the "
            "loss is finite.");
  EXPECT_TRUE(t.Verdict().causes.empty());
}

TEST(HeadlineTest, AFiniteLossIsNotPraisedInSaturationMode) {
  TestCase t;
  t.run.overflow_mode = OverflowMode::kSaturation;
  t.evidence.attempts = t.evidence.loss_finite = 10;
  EXPECT_EQ(t.Verdict().headline, "Healthy: 10 steps, no overflow.");
}

}  // namespace
}  // namespace nanwatch
