// What follows from another trouble is not a cause beside it.

#include <gmock/gmock.h>

#include "tests/golden/words.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

// A learning rate that was raised: the loss jumps, units die, gradients
// overflow for some steps.
TestCase Diverged() {
  TestCase t;
  t.run.framework = "pytorch";
  t.run.scaler.kind = ScalingKind::kDynamic;
  RunEvidence& e = t.evidence;
  e.updates = e.updates_last_50 = 50;
  e.good_steps = 45;
  e.overflows = e.skipped = e.overflows_last_50 = 5;
  e.first_good_step = 0;
  e.first_overflow_step = 161;
  e.last_overflow_step = 200;
  e.last_step = 209;
  e.scaler_dynamic = true;
  e.scale_first = e.scale_max = e.scale_worked = 65536.0;
  e.scale_now = e.scale_min = 2048.0;
  OpEvidence& op = t.Op("classifier", Slot::kGradInput);
  op.first_bad_step = 161;
  op.last_bad_step = 200;
  op.bad_statuses = op.bad_updates = 5;
  op.clean_statuses = op.updates = 45;
  t.Find(34, Family::kLoss, Severity::kCritical).opened_step = 159;
  t.Find(18, Family::kOp, Severity::kCritical, "classifier").opened_step = 161;
  t.Find(31, Family::kGradient, Severity::kCritical).opened_step = 166;
  return t;
}

TEST(Consequences, WhatComesSoonAfterTheLossIsTheDivergences) {
  const TestCase t = Diverged();
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_FALSE(diagnosis.causes.empty());
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kDivergence);
  EXPECT_EQ(diagnosis.causes[0].grade, EvidenceGrade::kSupported);
  for (const Finding& finding : t.findings) {
    EXPECT_EQ(FirstCause(diagnosis, finding)->cause, Cause::kDivergence)
        << NumberOf(finding.rule);
  }
}

TEST(Consequences, WhatCameBeforeItOrLongAfterIsNot) {
  for (const int64_t step : {158, 150, 5000}) {
    TestCase t = Diverged();
    t.findings[0].severity = Severity::kWarning;
    t.findings[1].opened_step = t.findings[2].opened_step = step;
    const Diagnosis diagnosis = t.Verdict();
    EXPECT_NE(FirstCause(diagnosis, t.findings[1])->cause, Cause::kDivergence)
        << step;
    EXPECT_EQ(FirstCause(diagnosis, t.findings[2])->cause, Cause::kUnderflow)
        << step;
  }
}

TEST(Consequences, ANormThatJumpedExplainsThemToo) {
  TestCase t = Diverged();
  t.findings[0].rule = RuleId::kGnormSpike;
  t.findings[0].family = Family::kGradient;
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(FirstCause(diagnosis, t.findings[1])->cause, Cause::kDivergence);
  EXPECT_EQ(FirstCause(diagnosis, t.findings[2])->cause, Cause::kDivergence);
}

// A layer that nothing leads back to; the loss jumps with it, or after it.
TEST(Consequences, WhatALayerLostIsTheLossOfIt) {
  TestCase t;
  t.run.framework = "pytorch";
  t.evidence.updates = t.evidence.last_step = 300;
  Finding& layer = t.Find(31, Family::kGradient, Severity::kInfo);
  layer.subject.op = "enc.3.bias";
  layer.opened_step = 200;
  layer.numbers = {{"zeroed_tensors", 7, "tensors"}};
  t.Find(34, Family::kLoss, Severity::kWarning);
  for (const int64_t step : {200, 203}) {
    t.findings[1].opened_step = step;
    const Diagnosis diagnosis = t.Verdict();
    const CauseVerdict& first = diagnosis.causes.at(0);
    EXPECT_EQ(first.cause, Cause::kUnderflow);
    EXPECT_EQ(first.origin.op, "enc.3.bias");
    EXPECT_EQ(first.step, 200);
    ExpectWords(first.sentence);
    EXPECT_EQ(FirstCause(diagnosis, t.findings[1])->cause, Cause::kUnderflow);
  }
  t.findings[1].opened_step = 190;
  EXPECT_EQ(t.Verdict().causes.at(0).cause, Cause::kDivergence)
      << "the loss was the first";
  t.findings[1].opened_step = 200;
  t.findings[0].numbers.clear();
  EXPECT_EQ(t.Verdict().causes.at(0).cause, Cause::kDivergence);
}

TEST(Consequences, ZerosAreTheDivergencesHoweverManyUnderflow) {
  for (const double counted : {0.0, 0.001, 0.3}) {
    TestCase t = Diverged();
    t.evidence.underflow_fraction = counted;
    EXPECT_EQ(t.Verdict().causes.at(0).cause, Cause::kDivergence);
  }
}

// A dynamic scaler that is never updated.
TestCase NeverUpdated() {
  TestCase t;
  t.run.framework = "pytorch";
  t.run.scaler.kind = ScalingKind::kDynamic;
  RunEvidence& e = t.evidence;
  e.updates = e.overflows = e.skipped = 60;
  e.updates_last_50 = e.overflows_last_50 = e.skipped_last_50 = 50;
  e.overflow_streak = 50;
  e.first_overflow_step = 0;
  e.last_overflow_step = e.last_step = 59;
  e.loss_finite = e.loss_finite_while_overflow = 60;
  e.scaler = "pytorch";
  e.scaler_dynamic = true;
  e.impossible_transitions = 1;
  e.scale_first = e.scale_max = e.scale_now = e.scale_min = 0x1p30;
  OpEvidence& op = t.Op("classifier.weight", Slot::kGradInput);
  op.first_bad_step = 0;
  op.last_bad_step = 59;
  op.bad_statuses = op.bad_updates = op.updates = 60;
  op.scale_max = op.scale_min = 0x1p30;
  t.Find(14, Family::kScale, Severity::kWarning).numbers = {
      {"scale_before", 0x1p30, ""}, {"scale", 0x1p30, ""}};
  t.Find(5, Family::kScale, Severity::kCritical);
  t.Find(20, Family::kOp, Severity::kCritical, "classifier.weight");
  return t;
}

TEST(Consequences, AScaleThatIsNeverLoweredExplainsItsOverflows) {
  const TestCase t = NeverUpdated();
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_FALSE(diagnosis.causes.empty());
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kScalerMisuse);
  EXPECT_EQ(diagnosis.causes[0].grade, EvidenceGrade::kEstablished);
  for (const Finding& finding : t.findings) {
    EXPECT_EQ(FirstCause(diagnosis, finding)->cause, Cause::kScalerMisuse);
  }
  ExpectWords(diagnosis.headline);
}

TEST(Consequences, ButNotANanOfTheForwardPassNorAnotherMove) {
  TestCase forward = NeverUpdated();
  forward.evidence.ops[0].slot = Slot::kOutput;
  TestCase moved = NeverUpdated();
  moved.findings[0].numbers[0].value = 0x1p20;
  TestCase floor = NeverUpdated();
  floor.evidence.scale_now = 1.0;
  for (const TestCase& t : {forward, moved, floor}) {
    const Diagnosis diagnosis = t.Verdict();
    EXPECT_NE(FirstCause(diagnosis, t.findings[2])->cause,
              Cause::kScalerMisuse);
  }
}

}  // namespace
}  // namespace nanwatch
