#include <gmock/gmock.h>

#include "tests/golden/words.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

TEST(HeadlineTest, HealthyRunsHaveOneToo) {
  TestCase t;
  EXPECT_EQ(t.Verdict().condition, Condition::kNoStepYet);
  ExpectWords(t.Verdict().headline);
  t.evidence.updates = t.evidence.loss_finite = 2000;
  t.evidence.applied = 2000;
  t.evidence.scale_now = 65536;
  ExpectWords(t.Verdict().headline);
  t.evidence.overflows = 1;
  ExpectWords(t.Verdict().headline);
  EXPECT_EQ(t.Verdict().condition, Condition::kHealthy);
  EXPECT_TRUE(t.Verdict().causes.empty());
}

TEST(HeadlineTest, WhereNoLossWasToldNoneIsFinite) {
  TestCase t;
  t.evidence.updates = t.evidence.loss_finite = 2000;
  t.evidence.follows_rewards = true;
  t.run.settings["loss"] = "reward";
  const std::string said = t.Verdict().headline;
  ExpectWords(said);
  EXPECT_EQ(said.find("finite"), said.npos);
}

TEST(HeadlineTest, WhatIsJudgedOfPlayersAndOfEvaluationsIsSaid) {
  TestCase t;
  t.evidence.updates = 2000;
  t.run.settings["loss"] = "players";
  ExpectWords(t.Verdict().headline);
  t.evidence.loss_finite = 2000;
  EXPECT_EQ(t.Verdict().headline.find("players"), std::string::npos);
  t.run.settings["loss"] = "evaluation";
  ExpectWords(t.Verdict().headline);
}

TEST(HeadlineTest, ScalesOfBlocksAreSaidToBeUnread) {
  TestCase t;
  t.evidence.updates = t.evidence.loss_finite = 2000;
  const std::string plain = t.Verdict().headline;
  t.run.scaler.name = "MXFP8BlockScaling";
  EXPECT_NE(t.Verdict().headline, plain);
  ExpectWords(t.Verdict().headline);
  t.run.scaler.name = "te_delayed";
  EXPECT_EQ(t.Verdict().headline, plain);
  t.run.precision = "nvfp4";
  EXPECT_NE(t.Verdict().headline, plain);
}

TEST(HeadlineTest, StepsOfALogThatShowsOneInTenAreThoseThatItRecords) {
  TestCase t;
  t.evidence.updates = t.evidence.loss_finite = 1575;
  t.evidence.overflows = 75;
  t.evidence.steps_between = true;
  ExpectWords(t.Verdict().headline);
  // A line in a hundred steps: four of six were at the start.
  t.evidence.overflows = 6;
  t.evidence.first_overflow_step = 100;
  t.evidence.first_good_step = 500;
  t.evidence.last_overflow_step = 25000;
  ExpectWords(t.Verdict().headline);
  t.evidence.last_overflow_step = 400;
  ExpectWords(t.Verdict().headline);
}

TEST(HeadlineTest, OfStepsThatWereCountedThereIsNoShare) {
  TestCase t;
  t.evidence.updates = t.evidence.loss_finite = 44;
  t.evidence.overflows = 6;
  t.evidence.steps_counted = true;
  ExpectWords(t.Verdict().headline);
}

TEST(HeadlineTest, UpdatesBeforeARestartAreNotForgotten) {
  TestCase t;
  t.evidence.updates = t.evidence.applied = 100;
  t.evidence.updates_before = 1900;
  ExpectWords(t.Verdict().headline);
}

TEST(HeadlineTest, NumbersAreSaidAsPeopleSayThem) {
  TestCase t;
  t.evidence.updates = t.evidence.overflows = 1;
  t.evidence.applied = 1;
  ExpectWords(t.Verdict().headline);
  t.evidence.updates = 2000;
  t.evidence.overflows = 1996;
  ExpectWords(t.Verdict().headline);
  t.evidence.overflows = 246;
  ExpectWords(t.Verdict().headline);
  t.evidence.overflows = 38;
  ExpectWords(t.Verdict().headline);
}

// A log that ends in the search of its start is not praised.
TEST(HeadlineTest, WhereAllOverflowedNothingIsHealthyYet) {
  TestCase t;
  RunEvidence& e = t.evidence;
  e.updates = e.overflows = e.skipped = 2;
  e.loss_finite = 1;
  e.scale_now = 1024;
  e.in_grace = true;
  EXPECT_EQ(t.Verdict().condition, Condition::kNothingApplied);
  ExpectWords(t.Verdict().headline);
}

TEST(HeadlineTest, ANoteIsNoDiagnosisOfTheWorst) {
  TestCase t;
  t.evidence.updates = 2100;
  t.Find(34, Family::kLoss, Severity::kInfo).opened_step = 2058;
  EXPECT_EQ(t.Verdict().condition, Condition::kNoted);
  ExpectWords(t.Verdict().headline);
  t.findings[0].severity = Severity::kWarning;
  EXPECT_EQ(t.Verdict().condition, Condition::kTrouble);
  EXPECT_EQ(t.Verdict().headline_cause, 0);
  ExpectWords(t.Verdict().headline);
  // No cause is claimed of rule 37, which is none.
  t.findings.clear();
  t.Find(37, Family::kLoss, Severity::kInfo);
  EXPECT_EQ(t.Verdict().condition, Condition::kNoted);
  ExpectWords(t.Verdict().headline);
}

TEST(HeadlineTest, WhatIsOverKeepsItsCauseAndWhatToDo) {
  TestCase t;
  t.evidence.updates = t.evidence.applied = t.evidence.loss_finite = 300;
  t.evidence.earlier = "The training diverges since step 180: it jumped.";
  t.evidence.earlier_cause = Cause::kDivergence;
  t.evidence.earlier_from = 180;
  t.evidence.earlier_to = 211;
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kDivergence);
  EXPECT_EQ(diagnosis.causes[0].step, 180);
  ASSERT_FALSE(diagnosis.causes[0].actions.empty());
  ExpectWords(diagnosis.causes[0].actions[0].sentence);
}

TEST(HeadlineTest, AFiniteLossIsNotPraisedInSaturationMode) {
  TestCase t;
  t.run.overflow_mode = OverflowMode::kSaturation;
  t.evidence.updates = t.evidence.loss_finite = t.evidence.applied = 10;
  ExpectWords(t.Verdict().headline);
}

TEST(HeadlineTest, WhereNobodyTellsOverflowsNoneIsNotClaimed) {
  TestCase t;
  t.evidence.updates = t.evidence.loss_finite = 10;
  ExpectWords(t.Verdict().headline);
}

TEST(HeadlineTest, WhatWasEarlierIsTold) {
  TestCase t;
  t.evidence.updates = 100;
  t.evidence.earlier = "Rank 1 stood still.";
  t.evidence.earlier_cause = Cause::kSilence;
  t.evidence.earlier_from = 3;
  // Its alert is held, so that the run is not healthy yet.
  EXPECT_EQ(t.Verdict().condition, Condition::kHeld);
  ExpectWords(t.Verdict().headline);
  ASSERT_EQ(t.Verdict().causes.size(), 1u);
  ExpectWords(t.Verdict().causes[0].sentence);
  t.evidence.earlier_to = 9;
  EXPECT_EQ(t.Verdict().condition, Condition::kHealed);
  ExpectWords(t.Verdict().headline);
  // A cause knows more than the incident did.
  t.evidence.earlier_to = 52;
  t.evidence.loss_nonfinite = 3;
  t.evidence.first_nonfinite_loss_step = 30;
  t.evidence.last_nonfinite_loss_step = 32;
  t.evidence.earlier_cause = Cause::kNanFromForward;
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kNanFromForward);
  ExpectWords(diagnosis.headline);
}

TEST(HeadlineTest, UnknownFatesAreNoSkippedUpdates) {
  TestCase t = Word2vec();
  t.evidence.skipped = t.evidence.skipped_last_50 = 0;
  ExpectWords(t.Verdict().headline);
}

}  // namespace
}  // namespace nanwatch
