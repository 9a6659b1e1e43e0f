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

TEST(HeadlineTest, StepsOfALogThatShowsOneInTenAreThoseThatItRecords) {
  TestCase t;
  t.evidence.attempts = t.evidence.loss_finite = 1575;
  t.evidence.overflows = 75;
  t.evidence.steps_between = true;
  EXPECT_EQ(t.Verdict().headline,
            "Healthy: 1575 recorded steps, 75 overflows (as far as shown), the "
            "loss is finite.");
  // A line in a hundred steps: four of six were at the start.
  t.evidence.overflows = 6;
  t.evidence.first_overflow_step = 100;
  t.evidence.first_good_step = 500;
  t.evidence.last_overflow_step = 25000;
  EXPECT_THAT(t.Verdict().headline, testing::HasSubstr("(as far as shown)"));
  t.evidence.last_overflow_step = 400;
  EXPECT_THAT(t.Verdict().headline,
              testing::HasSubstr("(as far as shown, 6 of them at the start)"));
}

TEST(HeadlineTest, AttemptsBeforeARestartAreNotForgotten) {
  TestCase t;
  t.evidence.attempts = t.evidence.applied = 100;
  t.evidence.attempts_before = 1900;
  EXPECT_EQ(t.Verdict().headline,
            "Healthy: 100 steps since the last restart (2000 in all), no "
            "overflow.");
}

TEST(HeadlineTest, NumbersAreSaidAsPeopleSayThem) {
  TestCase t;
  t.evidence.attempts = t.evidence.overflows = 1;
  t.evidence.applied = 1;
  EXPECT_EQ(t.Verdict().headline, "Healthy: 1 step, 1 overflow (100 %).");
  t.evidence.attempts = 2000;
  t.evidence.overflows = 1996;
  EXPECT_THAT(t.Verdict().headline, testing::HasSubstr("(100 %)"));
  t.evidence.overflows = 246;
  EXPECT_THAT(t.Verdict().headline, testing::HasSubstr("(12 %)"));
  t.evidence.overflows = 38;
  EXPECT_THAT(t.Verdict().headline, testing::HasSubstr("(1.9 %)"));
}

// A log that ends in the search of its start is not praised.
TEST(HeadlineTest, WhereAllOverflowedNothingIsHealthyYet) {
  TestCase t;
  RunEvidence& e = t.evidence;
  e.attempts = e.overflows = e.skipped = 2;
  e.loss_finite = 1;
  e.scale_now = 1024;
  e.in_grace = true;
  EXPECT_EQ(t.Verdict().headline,
            "No update applied yet: 2 steps, which all overflowed, as a search "
            "for the loss scale begins, loss scale 1024, the loss is finite.");
}

TEST(HeadlineTest, ANoteIsNoDiagnosisOfTheWorst) {
  TestCase t;
  t.evidence.attempts = 2100;
  t.Find(34, Family::kLoss, Severity::kInfo).opened_step = 2058;
  EXPECT_EQ(t.Verdict().headline,
            "Healthy, with a note: At step 2058: finding of rule 34.");
  t.findings[0].severity = Severity::kWarning;
  EXPECT_THAT(t.Verdict().headline,
              testing::StartsWith("The training diverges since step 2058"));
  // No cause is claimed of rule 37, which is none.
  t.findings.clear();
  t.Find(37, Family::kLoss, Severity::kInfo);
  EXPECT_EQ(t.Verdict().headline, "Healthy, with a note: finding of rule 37.");
}

TEST(HeadlineTest, WhatIsOverKeepsItsCauseAndWhatToDo) {
  TestCase t;
  t.evidence.attempts = t.evidence.applied = t.evidence.loss_finite = 300;
  t.evidence.earlier = "The training diverges since step 180: it jumped.";
  t.evidence.earlier_cause = Cause::kDivergence;
  t.evidence.earlier_from = 180;
  t.evidence.earlier_to = 211;
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kDivergence);
  EXPECT_EQ(diagnosis.causes[0].step, 180);
  ASSERT_FALSE(diagnosis.causes[0].actions.empty());
  EXPECT_THAT(diagnosis.causes[0].actions[0].sentence,
              testing::StartsWith("Nothing now: it came back by itself."));
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
  t.evidence.earlier_cause = Cause::kSilence;
  t.evidence.earlier_from = 3;
  // Its alert is held, so that the run is not healthy yet.
  EXPECT_EQ(t.Verdict().headline,
            "Not found any more, but alerted still: Rank 1 stood still.");
  ASSERT_EQ(t.Verdict().causes.size(), 1u);
  EXPECT_EQ(t.Verdict().causes[0].sentence,
            "Not found any more: Rank 1 stood still.");
  t.evidence.earlier_to = 9;
  EXPECT_EQ(t.Verdict().headline,
            "Healthy now. Earlier: (steps 3 to 9) Rank 1 stood still.");
  // A cause knows more than the incident did.
  t.evidence.loss_nonfinite = 3;
  t.evidence.first_nonfinite_loss_step = 30;
  t.evidence.last_nonfinite_loss_step = 32;
  t.evidence.earlier_cause = Cause::kNanFromForward;
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kNanFromForward);
  EXPECT_THAT(diagnosis.headline,
              testing::StartsWith("Healthy now. Earlier: The loss was not "
                                  "finite 3 times from step 30 to 32"));
}

TEST(HeadlineTest, UnknownFatesAreNoSkippedUpdates) {
  TestCase t = Word2vec();
  t.evidence.skipped = t.evidence.skipped_last_50 = 0;
  EXPECT_THAT(t.Verdict().headline,
              testing::Not(testing::HasSubstr("no update is applied")));
}

}  // namespace
}  // namespace nanwatch
