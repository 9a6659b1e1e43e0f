#include <gmock/gmock.h>

#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

TEST(HeadlineTest, HealthyRunsHaveOneToo) {
  TestCase t;
  EXPECT_EQ(t.Verdict().headline,
            "Healthy so far: no step has been reported yet.");
  t.evidence.attempts = t.evidence.loss_finite = 2000;
  t.evidence.applied = 2000;
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
  t.evidence.attempts = t.evidence.loss_finite = t.evidence.applied = 10;
  EXPECT_EQ(t.Verdict().headline, "Healthy: 10 steps, no overflow.");
}

TEST(HeadlineTest, WhereNobodyTellsOverflowsNoneIsNotClaimed) {
  TestCase t;
  t.evidence.attempts = t.evidence.loss_finite = 10;
  EXPECT_EQ(t.Verdict().headline, "Healthy: 10 steps, the loss is finite.");
}

TEST(HeadlineTest, WhatWasEarlierIsTold) {
  TestCase t;
  t.evidence.attempts = 100;
  t.evidence.earlier = "Rank 1 stood still.";
  EXPECT_EQ(t.Verdict().headline, "Healthy now. Earlier: Rank 1 stood still.");
  // A cause knows more than the incident did.
  t.evidence.loss_nonfinite = 3;
  t.evidence.first_nonfinite_loss_step = 30;
  t.evidence.last_nonfinite_loss_step = 32;
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kNanFromForward);
  EXPECT_THAT(diagnosis.headline,
              testing::StartsWith("Healthy now. Earlier: The loss was not "
                                  "finite 3 time(s) from step 30 to 32"));
}

TEST(HeadlineTest, UnknownFatesAreNoSkippedUpdates) {
  TestCase t = Word2vec();
  t.evidence.skipped = t.evidence.skipped_last_50 = 0;
  EXPECT_THAT(t.Verdict().headline,
              testing::Not(testing::HasSubstr("no update is applied")));
}

}  // namespace
}  // namespace nanwatch
