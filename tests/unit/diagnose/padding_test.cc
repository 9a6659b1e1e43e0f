// Harmless padding, in both directions: what lowers an alarm, and what raises
// it again.

#include <gmock/gmock.h>

#include "tests/golden/words.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

TEST(PaddingTest, Word2vecIsNamedWithItsCure) {
  const Diagnosis diagnosis = Word2vec().Verdict();
  ASSERT_FALSE(diagnosis.causes.empty());
  const CauseVerdict& first = diagnosis.causes[0];
  EXPECT_EQ(first.cause, Cause::kHarmlessPadding);
  EXPECT_EQ(first.grade, EvidenceGrade::kEstablished);
  EXPECT_EQ(first.origin.op, "Log");
  ExpectWords(diagnosis.headline);
  ExpectWords(first.actions[0].sentence);
  ExpectWords(first.actions[1].sentence);
}

TEST(PaddingTest, TheOpIsANoteButThatNothingIsAppliedStaysCritical) {
  const TestCase t = Word2vec();
  const Diagnosis diagnosis = t.Verdict();
  for (const Finding& finding : t.findings) {
    const bool consequence = kScaleTrouble.has(finding.rule);
    EXPECT_EQ(UnderCeiling(diagnosis, finding),
              consequence ? Severity::kCritical : Severity::kInfo)
        << "rule " << NumberOf(finding.rule);
    EXPECT_EQ(FirstCause(diagnosis, finding)->cause, Cause::kHarmlessPadding)
        << "rule " << NumberOf(finding.rule);
  }
}

TEST(PaddingTest, TheCureLeavesANote) {
  const TestCase t = Cured();
  EXPECT_EQ(Worst(t), Severity::kInfo);
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kHarmlessPadding);
  ExpectWords(diagnosis.headline);
  ASSERT_EQ(diagnosis.causes[0].actions.size(), 1u);
  ExpectWords(diagnosis.causes[0].actions[0].sentence);
}

TEST(PaddingTest, ABadElementInTheRealRegionRaisesAgain) {
  TestCase t = Cured();
  t.evidence.ops[0].logical_bad = 1;
  EXPECT_EQ(Worst(t), Severity::kCritical);
}

TEST(PaddingTest, MoreBadElementsThanPaddingRaiseAgain) {
  TestCase t = Cured();
  t.evidence.ops[0].bad_elements_max = 10129;
  EXPECT_EQ(Worst(t), Severity::kCritical);
}

TEST(PaddingTest, ANonFiniteLossRaisesAgain) {
  TestCase t = Cured();
  t.evidence.loss_nonfinite = 1;
  t.evidence.first_nonfinite_loss_step = 500;
  EXPECT_EQ(Worst(t), Severity::kCritical);
  EXPECT_NE(t.Verdict().causes[0].cause, Cause::kHarmlessPadding);
}

TEST(PaddingTest, AnotherOpKeepsItsSeverityAndThatOfTheSteps) {
  TestCase t = Cured();
  OpEvidence& exp = t.Op("Exp", Slot::kOutput);
  exp.first_bad_step = exp.last_bad_step = 599;
  exp.bad_statuses = exp.bad_updates = exp.updates = 1;
  exp.inf = exp.bad_elements_max = 3;
  const Finding other = t.Find(21, Family::kOp, Severity::kWarning, "Exp");
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(UnderCeiling(diagnosis, other), Severity::kWarning);
  EXPECT_EQ(UnderCeiling(diagnosis, t.findings[0]), Severity::kInfo);
  EXPECT_EQ(UnderCeiling(diagnosis, t.findings[1]), Severity::kCritical);
}

TEST(PaddingTest, AnOpThatWasBadLongAgoDoesNotMatter) {
  TestCase t = Cured();
  OpEvidence& old = t.Op("MatMulGrad", Slot::kGradInput);
  old.first_bad_step = old.last_bad_step = 20;
  old.bad_statuses = 1;
  old.clean_statuses = 500;
  EXPECT_EQ(Worst(t), Severity::kInfo);
}

TEST(PaddingTest, PaddingThatEntersTheNextOpAndEndsThereIsPartOfIt) {
  TestCase t = Cured();
  OpEvidence& input = t.Op("TransData", Slot::kInput);
  input.last_bad_step = 599;
  input.bad_statuses = input.bad_updates = input.updates = 600;
  input.saturated = input.bad_elements_max = 10128;
  t.Find(21, Family::kOp, Severity::kWarning, "TransData");
  EXPECT_EQ(Worst(t), Severity::kInfo);

  // But not when it comes out of there.
  OpEvidence output = t.evidence.ops[1];
  output.slot = Slot::kOutput;
  t.evidence.ops.push_back(output);
  EXPECT_EQ(Worst(t), Severity::kCritical);
}

TEST(PaddingTest, WithoutTheRealRegionTheCountAndWhatFollowsEstablishIt) {
  TestCase t = Cured();
  t.evidence.ops[0].logical_statuses = 0;
  EXPECT_EQ(Worst(t), Severity::kCritical);
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kSupported);
  t.evidence.downstream_clean = true;
  EXPECT_EQ(Worst(t), Severity::kInfo);
}

TEST(PaddingTest, AFiniteLossProvesNothingInSaturationMode) {
  TestCase t = Cured();
  t.evidence.ops[0].logical_statuses = 0;
  t.run.overflow_mode = OverflowMode::kInfNan;
  EXPECT_EQ(Worst(t), Severity::kInfo);
  t.run.overflow_mode = OverflowMode::kSaturation;
  EXPECT_EQ(Worst(t), Severity::kCritical);
}

TEST(PaddingTest, OnlyThePaddedShapeIsAHypothesis) {
  TestCase t = Word2vec();
  OpEvidence& op = t.evidence.ops[0];
  op.logical_statuses = 0;
  op.bad_elements_max = op.saturated = 0;
  op.flag_only = 600;
  op.scale_min = op.scale_max;
  const Diagnosis diagnosis = t.Verdict();
  bool found = false;
  for (const CauseVerdict& cause : diagnosis.causes) {
    if (cause.cause != Cause::kHarmlessPadding) continue;
    found = true;
    EXPECT_EQ(cause.grade, EvidenceGrade::kHypothesis);
    EXPECT_EQ(cause.ceiling, Severity::kCritical);
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(Worst(t), Severity::kCritical);
}

TEST(PaddingTest, WithoutPaddingItIsAnOpThatOverflowsAtEveryScale) {
  TestCase t = Word2vec();
  OpEvidence& op = t.evidence.ops[0];
  op.op.storage_shape = op.op.logical_shape;
  op.padding = 0;
  op.logical_statuses = 0;
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kScaleIndependentOp);
  EXPECT_EQ(diagnosis.causes[0].grade, EvidenceGrade::kEstablished);
  EXPECT_EQ(Worst(t), Severity::kCritical);
}

// 100 losses, each of them finite; an op that is infinite at each step.
TestCase Masked() {
  TestCase t;
  t.run.framework = "pytorch";
  t.run.overflow_mode = OverflowMode::kInfNan;
  t.evidence.updates = t.evidence.applied = t.evidence.loss_finite = 100;
  t.evidence.downstream_clean = true;
  t.evidence.last_step = 99;
  OpEvidence& op = t.Op("Fill", Slot::kOutput);
  op.last_bad_step = 99;
  op.bad_statuses = op.bad_updates = op.updates = 100;
  op.inf = op.bad_elements_max = 64;
  t.Find(18, Family::kOp, Severity::kCritical, "Fill");
  return t;
}

TEST(PaddingTest, AMaskIsSupportedAtMostAndANote) {
  const TestCase t = Masked();
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  const CauseVerdict& cause = diagnosis.causes[0];
  EXPECT_EQ(cause.cause, Cause::kHarmlessPadding);
  EXPECT_EQ(cause.grade, EvidenceGrade::kSupported);
  EXPECT_EQ(Worst(t), Severity::kInfo);
  ASSERT_EQ(cause.actions.size(), 1u) << "no scaler is advised, and no NPU";
  ExpectWords(cause.actions[0].sentence);
}

TEST(PaddingTest, WhatTakesAMaskInIsPartOfIt) {
  TestCase t = Masked();
  t.evidence.downstream_clean = false;
  t.evidence.ops.push_back(t.evidence.ops[0]);
  OpEvidence& softmax = t.evidence.ops[1];
  softmax.op.name = "softmax";
  softmax.slot = Slot::kInput;
  t.Find(20, Family::kOp, Severity::kCritical, "softmax");
  EXPECT_EQ(Worst(t), Severity::kInfo);
  EXPECT_EQ(t.Verdict().causes.size(), 1u);
}

TEST(PaddingTest, AScalersSearchAndItsProbingAreNotTheMasks) {
  TestCase t = Masked();
  RunEvidence& e = t.evidence;
  e.overflows = e.skipped = 12;
  e.first_overflow_step = 0;
  e.first_good_step = 10;
  e.last_overflow_step = 90;
  e.skipped_last_50 = e.overflows_last_50 = 1;
  e.updates_last_50 = 50;
  EXPECT_EQ(Worst(t), Severity::kInfo);
}

TEST(PaddingTest, AnInfinityThatCostsUpdatesIsNoMask) {
  TestCase t = Masked();
  RunEvidence& e = t.evidence;
  e.overflows = e.skipped = 100;
  e.applied = 0;
  e.skipped_last_50 = e.overflows_last_50 = e.updates_last_50 = 50;
  e.first_overflow_step = 0;
  e.last_overflow_step = 99;
  EXPECT_EQ(Worst(t), Severity::kCritical);
}

TEST(PaddingTest, ANewInfinityIsNoMaskYet) {
  TestCase t = Masked();
  OpEvidence& op = t.evidence.ops[0];
  op.first_bad_step = 97;
  op.bad_statuses = op.bad_updates = op.updates = 3;
  EXPECT_EQ(Worst(t), Severity::kCritical);
}

TEST(PaddingTest, AMaskOfLongIsNotWhereANanLossBegan) {
  TestCase t = Masked();
  RunEvidence& e = t.evidence;
  e.loss_nonfinite = 10;
  e.first_nonfinite_loss_step = 90;
  e.last_nonfinite_loss_step = 99;
  t.Find(15, Family::kLoss, Severity::kCritical).opened_step = 90;
  const CauseVerdict cause = t.Verdict().causes.at(0);
  EXPECT_EQ(cause.cause, Cause::kNanFromForward);
  EXPECT_EQ(cause.origin.op, "");
}

}  // namespace
}  // namespace nanwatch
