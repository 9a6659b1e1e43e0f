// Every cause but padding: when it is claimed, how firmly, and what it lowers.

#include <gmock/gmock.h>

#include <tuple>
#include <utility>

#include "tests/golden/cause_words.h"
#include "tests/golden/words.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

using ::testing::ElementsAre;

const CauseVerdict* Named(const Diagnosis& diagnosis, Cause cause) {
  for (const CauseVerdict& verdict : diagnosis.causes) {
    if (verdict.cause == cause) return &verdict;
  }
  return nullptr;
}

TestCase Calibrating() {
  TestCase t;
  RunEvidence& e = t.evidence;
  e.scaler_dynamic = true;
  e.in_grace = true;
  e.updates = e.overflows = e.skipped = 10;
  e.updates_last_50 = e.overflows_last_50 = 10;
  e.first_overflow_step = 0;
  e.last_overflow_step = e.last_step = 9;
  e.scale_first = e.scale_max = 4294967296.0;
  e.scale_now = e.scale_min = 8388608.0;
  OpEvidence& op = t.Op("MatMulGrad", Slot::kGradInput);
  op.last_bad_step = 9;
  op.bad_statuses = op.bad_updates = op.updates = 10;
  op.inf = op.bad_elements_max = 7;
  op.scale_max = e.scale_max;
  op.scale_min = e.scale_min;
  t.Find(20, Family::kOp, Severity::kCritical, "MatMulGrad");
  t.Find(5, Family::kScale, Severity::kWarning);
  return t;
}

TestCase Calibrated() {
  TestCase t = Calibrating();
  RunEvidence& e = t.evidence;
  e.in_grace = false;
  e.first_good_step = 10;
  e.last_step = 60;
  e.updates = 61;
  e.good_steps = 51;
  e.overflows_last_50 = 0;
  e.applied_last_50 = 50;
  e.updates_last_50 = 50;
  e.ops[0].clean_statuses = 51;
  e.ops[0].updates = 61;
  return t;
}

TEST(CausesTest, StartUpCalibrationIsANote) {
  const TestCase t = Calibrating();
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kStartupCalibration);
  EXPECT_EQ(Worst(t), Severity::kInfo);
  EXPECT_EQ(Worst(Calibrated()), Severity::kInfo);
}

TEST(CausesTest, ASearchMayFailAFewTimesMoreAtItsLastScales) {
  TestCase t = Calibrated();
  RunEvidence& e = t.evidence;
  e.last_overflow_step = e.first_good_step + 7;
  e.overflows += 3;
  t.evidence.ops[0].last_bad_step = e.last_overflow_step;
  const Diagnosis few = t.Verdict();
  EXPECT_EQ(few.causes[0].cause, Cause::kStartupCalibration);
  ExpectWords(few.causes[0].evidence[0].sentence);
  e.overflows += 9;
  EXPECT_EQ(Named(t.Verdict(), Cause::kStartupCalibration), nullptr);
}

TEST(CausesTest, AStartUpThatIsOverWaitsForNothing) {
  const auto first = [](const TestCase& t) {
    return Named(t.Verdict(), Cause::kStartupCalibration)->actions[0].sentence;
  };
  ExpectWords(first(Calibrating()));
  ExpectWords(first(Calibrated()));
}

TEST(CausesTest, OverflowsThatEndedAreNotCalledOften) {
  TestCase t = Calibrated();
  RunEvidence& e = t.evidence;
  // A search in the middle of a run: an earlier one worked.
  e.first_good_step = 0;
  e.first_overflow_step = 10;
  e.updates = 1216;
  e.last_step = 1250;
  e.overflows = 15;
  e.last_overflow_step = 965;
  e.ops.clear();
  e.ops_collected = false;
  t.findings.clear();
  t.Find(5, Family::kScale, Severity::kCritical);
  const Diagnosis over = t.Verdict();
  const CauseVerdict* cause = Named(over, Cause::kRangeOverflow);
  ASSERT_NE(cause, nullptr);
  ExpectWords(cause->sentence);
  e.overflows_last_50 = 3;
  const Diagnosis few = t.Verdict();
  ExpectWords(Named(few, Cause::kRangeOverflow)->sentence);
  e.overflows_last_50 = 20;
  const Diagnosis many = t.Verdict();
  ExpectWords(Named(many, Cause::kRangeOverflow)->sentence);
}

TEST(CausesTest, StartUpThatNeverEndsIsNoCalibration) {
  TestCase t = Calibrating();
  t.evidence.in_grace = false;
  t.Find(7, Family::kScale, Severity::kCritical);
  EXPECT_EQ(Named(t.Verdict(), Cause::kStartupCalibration), nullptr);
  EXPECT_EQ(Worst(t), Severity::kCritical);
}

TEST(CausesTest, ANaNInTheForwardPassIsNoCalibration) {
  TestCase t = Calibrating();
  OpEvidence& op = t.Op("Rsqrt", Slot::kOutput);
  op.nan = op.bad_elements_max = 1;
  op.first_bad_step = op.last_bad_step = 9;
  op.bad_statuses = op.updates = op.bad_updates = 1;
  op.first_inputs_clean = true;
  t.Find(18, Family::kOp, Severity::kCritical, "Rsqrt");
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(Named(diagnosis, Cause::kStartupCalibration), nullptr);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kNanFromForward);
  EXPECT_EQ(diagnosis.causes[0].grade, EvidenceGrade::kEstablished);
  EXPECT_EQ(diagnosis.causes[0].step, 9);
}

TEST(CausesTest, RareRangeOverflowIsTheScalersJob) {
  TestCase t = Calibrated();
  RunEvidence& e = t.evidence;
  e.updates = 4000;
  e.overflows = 12;
  e.last_step = e.last_overflow_step = 3999;
  e.overflows_last_50 = 1;
  e.good_steps = 3988;
  e.scale_now = e.ops[0].scale_min = 65536.0;
  e.ops[0].last_bad_step = 3999;
  e.ops[0].updates = 4000;
  t.findings.clear();
  t.Find(18, Family::kOp, Severity::kCritical, "MatMulGrad");
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kRangeOverflow);
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kEstablished);
  EXPECT_EQ(Worst(t), Severity::kInfo);

  // A streak is not: what the scale's rules say stays, and so does the op.
  e.overflows_last_50 = 20;
  t.Find(4, Family::kScale, Severity::kWarning);
  EXPECT_EQ(Worst(t), Severity::kCritical);
}

// One bad sample an epoch, of a program that tells no ops: each overflow may be
// its, and what the loss shows comes first.
TEST(CausesTest, OverflowsOfLossesThatAreNoNumbersAreNotEstablished) {
  TestCase t;
  RunEvidence& e = t.evidence;
  e.updates = e.last_step = 90;
  e.updates_last_50 = 50;
  e.overflows = e.skipped = 5;
  e.overflows_last_50 = e.skipped_last_50 = 3;
  e.good_steps = 10;
  e.first_good_step = 0;
  e.first_overflow_step = e.first_nonfinite_loss_step = 17;
  e.last_overflow_step = e.last_nonfinite_loss_step = 85;
  e.loss_finite = 60;
  e.loss_nonfinite = 30;
  e.scaler_dynamic = true;
  e.scale_now = 1024;
  e.scale_max = 32768;
  t.Find(15, Family::kLoss, Severity::kWarning).opened_step = 17;
  t.Find(4, Family::kScale, Severity::kWarning).opened_step = 58;
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 2u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kNanFromForward);
  EXPECT_EQ(diagnosis.causes[1].cause, Cause::kRangeOverflow);
  EXPECT_EQ(diagnosis.causes[1].grade, EvidenceGrade::kSupported);
}

TEST(CausesTest, AFallingScaleIsNeverLowered) {
  TestCase t = Calibrated();
  t.evidence.last_overflow_step = 60;
  t.evidence.overflows += 12;  // no search's last ones
  t.evidence.overflows_last_50 = 4;
  t.findings.clear();
  const Finding collapse = t.Find(4, Family::kScale, Severity::kWarning);
  EXPECT_EQ(UnderCeiling(t.Verdict(), collapse), Severity::kWarning);
}

TEST(CausesTest, APoisonedBatchIsNamedEvenAfterItIsOver) {
  TestCase t;
  RunEvidence& e = t.evidence;
  t.run.overflow_mode = OverflowMode::kInfNan;
  e.scaler_dynamic = true;
  e.updates = 3000;
  e.overflows = 1;
  e.loss_nonfinite = 1;
  e.loss_finite = 2999;
  e.first_nonfinite_loss_step = e.first_overflow_step = 1000;
  e.last_overflow_step = 1000;
  e.last_step = 2999;
  e.good_steps = 2999;
  e.first_good_step = 0;
  e.updates_last_50 = e.applied_last_50 = 50;
  for (const char* name : {"Rsqrt", "Mul"}) {
    OpEvidence& op = t.Op(name, Slot::kOutput);
    op.first_bad_step = op.last_bad_step = 1000;
    op.bad_statuses = op.bad_updates = 1;
    op.updates = 2000;
    op.clean_statuses = 1999;
    op.nan = op.bad_elements_max = 1;
    op.first_inputs_clean = op.op.name == "Rsqrt";
    op.first_inputs_bad = !op.first_inputs_clean;
  }
  for (const bool now : {true, false}) {
    t.findings.clear();
    if (now) t.Find(18, Family::kOp, Severity::kCritical, "Rsqrt");
    const Diagnosis diagnosis = t.Verdict();
    ASSERT_FALSE(diagnosis.causes.empty());
    const CauseVerdict& first = diagnosis.causes[0];
    EXPECT_EQ(first.cause, Cause::kNanFromForward);
    EXPECT_EQ(first.grade, EvidenceGrade::kEstablished);
    EXPECT_EQ(first.step, 1000);
    EXPECT_EQ(first.origin.op, "Rsqrt");
    EXPECT_THAT(first.ops, ElementsAre("Rsqrt", "Mul"));
    ExpectWords(diagnosis.headline);
    EXPECT_EQ(Named(diagnosis, Cause::kRangeOverflow), nullptr);
    EXPECT_EQ(diagnosis.condition == Condition::kNoted, !now);
  }
}

TEST(CausesTest, ANaNInTheFirstInputComesFromTheData) {
  TestCase t;
  OpEvidence& op = t.Op("Gather", Slot::kInput);
  op.first_bad_order = 0;
  op.first_bad_step = 7;
  op.nan = op.bad_elements_max = 2;
  t.Find(18, Family::kOp, Severity::kCritical, "Gather");
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kNanFromForward);
  ExpectWords(diagnosis.headline);
}

// MatMul makes an infinity, Softmax a NaN of it, in a step whose loss is not
// known.
TestCase InfinityThatBecameNan() {
  TestCase t;
  t.run.overflow_mode = OverflowMode::kInfNan;
  t.evidence.updates = 61;
  t.evidence.overflows = 1;
  t.evidence.last_step = 60;
  for (const auto& [name, slot, order] :
       {std::tuple("MatMul", Slot::kOutput, 0),
        std::tuple("Softmax", Slot::kInput, 1),
        std::tuple("Softmax", Slot::kOutput, 1)}) {
    OpEvidence& op = t.Op(name, slot);
    op.first_bad_order = order;
    op.first_bad_step = op.last_bad_step = 60;
    op.bad_statuses = op.bad_updates = op.updates = 1;
    const bool nan = order == 1 && slot == Slot::kOutput;
    (nan ? op.nan : op.inf) = op.bad_elements_max = nan ? 5 : 3;
    op.first_inputs_clean = order == 0;
    op.first_inputs_bad = nan;
  }
  t.Find(18, Family::kOp, Severity::kCritical, "MatMul");
  Finding& nan = t.Find(8, Family::kScale, Severity::kCritical, "Softmax");
  nan.numbers = {{"halvings", 0, ""}, {"nan", 5, "elements"}};
  return t;
}

TEST(CausesTest, ANaNIsTracedToTheInfinityThatBecameIt) {
  const Diagnosis diagnosis = InfinityThatBecameNan().Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  const CauseVerdict& first = diagnosis.causes[0];
  EXPECT_EQ(first.cause, Cause::kNanFromForward);
  EXPECT_EQ(first.grade, EvidenceGrade::kEstablished);
  EXPECT_EQ(first.origin.op, "MatMul");
  ExpectWords(first.sentence);
  ExpectWords(first.evidence.at(0).sentence);
}

TEST(CausesTest, AnOverflowBehindTheNaNOrLongBeforeItIsNotItsOrigin) {
  TestCase t = InfinityThatBecameNan();
  auto& ops = t.evidence.ops;
  ops.erase(ops.begin() + 1);
  ops[0].first_bad_order = 7;
  EXPECT_EQ(t.Verdict().causes[0].origin.op, "Softmax");
  ExpectWords(t.Verdict().causes[0].sentence);
  ops[0].first_bad_order = 0;
  ops[0].first_bad_step = 10;
  EXPECT_EQ(t.Verdict().causes[0].origin.op, "Softmax");
  ExpectWords(t.Verdict().causes[0].sentence);
  // It was over before the NaN.
  ops[0].last_bad_step = 59;
  ExpectWords(t.Verdict().causes[0].sentence);
  // Which of two came first is not known.
  ops[0].first_bad_step = ops[0].last_bad_step = 60;
  ops[0].first_bad_order = ops[1].first_bad_order = -1;
  ExpectWords(t.Verdict().causes[0].sentence);
  // Its inputs were looked at: it made the NaN itself.
  ops[0].first_bad_order = 0;
  ops[1].first_bad_order = 1;
  ops[1].first_inputs_clean = true;
  ExpectWords(t.Verdict().causes[0].sentence);
}

TEST(CausesTest, SaturationBeforeANaNIsItsOriginWhereItIsAnOverflow) {
  TestCase t = InfinityThatBecameNan();
  auto& ops = t.evidence.ops;
  ops.erase(ops.begin() + 1);
  ops[0].saturated = std::exchange(ops[0].inf, 0);
  EXPECT_EQ(t.Verdict().causes[0].origin.op, "Softmax");
  t.run.overflow_mode = OverflowMode::kSaturation;
  ExpectWords(t.Verdict().causes[0].sentence);
}

// Rule 8 speaks of a NaN whatever the scale did.
TEST(CausesTest, ANaNThatNoListedOpHoldsIsNotLaidToTheScale) {
  TestCase t = InfinityThatBecameNan();
  t.evidence.ops.clear();
  const Diagnosis nan = t.Verdict();
  const CauseVerdict* verdict = Named(nan, Cause::kScaleIndependentOp);
  ASSERT_NE(verdict, nullptr);
  ExpectWords(verdict->sentence);
  t.findings.back().numbers = {{"halvings", 6, ""}, {"nan", 0, "elements"}};
  const Diagnosis fallen = t.Verdict();
  ExpectWords(Named(fallen, Cause::kScaleIndependentOp)->sentence);
}

TEST(CausesTest, ValuesAtTheLimitAreNoSecondTroubleOfTheOpThatOverflows) {
  TestCase t;
  t.run.overflow_mode = OverflowMode::kSaturation;
  t.evidence.updates = 150;
  t.evidence.last_step = 149;
  OpEvidence& op = t.Op("MatMul", Slot::kOutput);
  op.first_bad_step = 120;
  op.last_bad_step = 149;
  op.bad_statuses = op.bad_updates = op.updates = 30;
  op.saturated = op.bad_elements_max = 4;
  t.Find(18, Family::kOp, Severity::kCritical, "MatMul");
  t.Find(25, Family::kOp, Severity::kWarning, "MatMul");
  ExpectWords(t.Verdict().headline);
  ASSERT_EQ(t.Verdict().causes.size(), 1u);
  // Another op's are.
  t.findings.back().subject.op = "Softmax";
  EXPECT_NE(Named(t.Verdict(), Cause::kUnexplained), nullptr);
}

TEST(CausesTest, ANonFiniteLossWithoutOpsIsSupported) {
  TestCase t;
  t.evidence.loss_nonfinite = 3;
  t.evidence.first_nonfinite_loss_step = 12;
  t.Find(15, Family::kLoss, Severity::kCritical);
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kNanFromForward);
  EXPECT_EQ(diagnosis.causes[0].grade, EvidenceGrade::kSupported);
}

// Every step overflows since the loss is NaN, until the scale is nothing.
TEST(CausesTest, TheScaleThatANanTakesToNothingIsItsDoing) {
  TestCase t;
  t.evidence.loss_nonfinite = 50;
  t.evidence.first_nonfinite_loss_step = 12;
  t.evidence.overflows_last_50 = t.evidence.updates_last_50 = 50;
  t.Find(15, Family::kLoss, Severity::kCritical);
  t.findings.back().opened_step = 12;
  t.Find(3, Family::kScale, Severity::kCritical);
  t.findings.back().opened_step = 162;
  const auto explained = [&] {
    return Explains(t.Verdict().causes[0], t.findings[1]);
  };
  EXPECT_FALSE(explained()) << "a NaN alone: told by itself, it outlives it";
  // It goes on, and the scale was a good one before.
  t.findings[0].numbers = {{"streak", 50, "records"}};
  t.findings[1].numbers = {{"last_usable_scale", 8192, ""}};
  EXPECT_TRUE(explained());
  t.findings[0].numbers.clear();
  EXPECT_FALSE(explained());
  t.Find(5, Family::kScale, Severity::kCritical);
  t.findings.back().opened_step = 12;
  EXPECT_TRUE(explained());
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kNanFromForward);
}

// A log that does not tell each overflow: the losses say that it is the NaN.
TEST(CausesTest, AScaleThatFallsWhileTheLossIsNanIsNoSecondTrouble) {
  TestCase t;
  RunEvidence& e = t.evidence;
  e.loss_nonfinite = 300;
  e.first_nonfinite_loss_step = 5000;
  e.scaler_dynamic = true;
  e.updates = 8000;
  e.updates_last_50 = 50;
  e.overflows = e.skipped = 1075;
  e.overflows_last_50 = e.skipped_last_50 = 5;
  e.scale_max = e.scale_worked = 8192;
  e.scale_now = 0x1p-100;
  t.Find(15, Family::kLoss, Severity::kCritical).opened_step = 5000;
  t.findings.back().numbers = {{"streak", 300, "records"}};
  t.Find(4, Family::kScale, Severity::kCritical).opened_step = 5006;
  t.Find(2, Family::kScale, Severity::kCritical).opened_step = 5012;
  ASSERT_EQ(t.Verdict().causes.size(), 1u);
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kNanFromForward);
  // Before the NaN it was trouble of its own.
  t.findings[1].opened_step = 4000;
  EXPECT_EQ(t.Verdict().causes.size(), 2u);
  // And where the loss is finite again.
  t.findings[1].opened_step = 5006;
  t.findings[0].numbers = {{"streak", 0, "records"}};
  EXPECT_EQ(t.Verdict().causes.size(), 2u);
}

TEST(CausesTest, ACollapseIsEstablishedByMeasuredUnderflow) {
  TestCase t;
  RunEvidence& e = t.evidence;
  e.scaler_dynamic = true;
  e.updates = 100;
  e.overflows = 60;
  e.overflows_last_50 = 30;
  e.scale_max = 65536;
  e.scale_now = 0.25;
  t.Find(2, Family::kScale, Severity::kCritical);
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kCollapseWithUnderflow);
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kSupported);
  EXPECT_EQ(Worst(t), Severity::kCritical);
  e.underflow_fraction = 0.4;
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kEstablished);
}

TEST(CausesTest, DivergenceWithoutOverflow) {
  TestCase t;
  t.evidence.updates = 1000;
  t.Find(27, Family::kGradient, Severity::kWarning);
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kDivergence);
  EXPECT_EQ(diagnosis.causes[0].grade, EvidenceGrade::kSupported);
  ExpectWords(diagnosis.headline);
}

// The finding with which it began is over; the incident goes on.
TEST(CausesTest, ADivergenceIsSaidToBeginWithItsIncident) {
  TestCase t;
  t.evidence.updates = 1000;
  t.Find(35, Family::kLoss, Severity::kCritical).opened_step = 304;
  t.evidence.earlier = "The loss jumped.";
  t.evidence.earlier_cause = Cause::kDivergence;
  t.evidence.earlier_from = 300;
  ExpectWords(t.Verdict().headline);
  EXPECT_EQ(t.Verdict().causes[0].step, 300);
  t.evidence.earlier_to = 302;  // another one, and over
  ExpectWords(t.Verdict().headline);
}

TEST(CausesTest, BehindANanLossTheGradientsThatAreNotFiniteAreNamed) {
  const auto verdict = [](int32_t of_rank) {
    TestCase t;
    t.evidence.world_size = 2;
    t.evidence.updates = t.evidence.last_step = 3;
    t.evidence.loss_nonfinite = 1;
    t.evidence.first_nonfinite_loss_step = 3;
    t.evidence.nonfinite_loss_rank = 1;
    OpEvidence& op = t.Op("enc.3", Slot::kGradOutput);
    op.rank = of_rank;
    op.nan = op.bad_elements_max = 4;
    op.first_bad_step = op.last_bad_step = 3;
    t.Find(18, Family::kOp, Severity::kCritical, "enc.3").subject.rank =
        of_rank;
    t.Find(15, Family::kLoss, Severity::kCritical).subject.rank = 1;
    const Diagnosis diagnosis = t.Verdict();
    for (const Finding& finding : t.findings) {
      EXPECT_EQ(FirstCause(diagnosis, finding), &diagnosis.causes[0]);
    }
    return diagnosis.causes[0];
  };
  for (const int32_t rank : {0, 1}) {
    const CauseVerdict cause = verdict(rank);
    EXPECT_EQ(cause.cause, Cause::kNanFromForward);
    EXPECT_EQ(cause.rule, RuleId::kLossNonfinite)
        << "the loss is accused, not its gradients";
    EXPECT_EQ(cause.origin.rank, 1);
    // Those of another rank came to it from this one.
    ExpectWords(EvidenceWords(cause));
  }
}

TEST(CausesTest, ADivergenceRestsOnTheLossWhoeverWasFirst) {
  TestCase t;
  t.Find(27, Family::kGradient, Severity::kWarning).opened_step = 100;
  EXPECT_EQ(t.Verdict().causes[0].rule, RuleId::kGnormSpike);
  t.Find(34, Family::kLoss, Severity::kWarning).opened_step = 103;
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(diagnosis.causes[0].rule, RuleId::kLossSpike);
  EXPECT_EQ(diagnosis.causes[0].step, 100);
  ExpectWords(diagnosis.causes[0].sentence);
  // A note of the loss is no more than a note.
  t.findings[1].severity = Severity::kInfo;
  EXPECT_EQ(t.Verdict().causes[0].rule, RuleId::kGnormSpike);
}

TEST(CausesTest, WhatADivergenceDidToTheScaleIsItsDoingWhenTheLossIsBack) {
  TestCase t;
  t.evidence.updates = t.evidence.last_step = 900;
  t.evidence.overflows = t.evidence.skipped = 4;
  t.evidence.good_steps = 896;
  t.evidence.first_good_step = 0;
  t.evidence.first_overflow_step = 220;
  t.evidence.last_overflow_step = 223;
  t.evidence.scaler_dynamic = true;
  t.evidence.scale_first = t.evidence.scale_max = 65536;
  t.evidence.scale_now = t.evidence.scale_min = 4096;
  t.Find(4, Family::kScale, Severity::kWarning).opened_step = 223;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kRangeOverflow);
  t.evidence.earlier = "The training diverges since step 220: it jumped.";
  t.evidence.earlier_cause = Cause::kDivergence;
  t.evidence.earlier_from = 220;
  t.evidence.earlier_rule = RuleId::kLossSpike;
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kDivergence);
  ExpectWords(diagnosis.causes[0].sentence);
  t.evidence.earlier_to = 400;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kRangeOverflow)
      << "that is over: another trouble";
  t.evidence.earlier_to = -1;
  t.evidence.earlier_rule = RuleId::kGnormSpike;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kRangeOverflow)
      << "a norm that is as high is the overflows' own";
}

TEST(CausesTest, WhatOutlastsADivergenceSaysNothingNewOfIt) {
  TestCase t;
  t.evidence.earlier = "The training diverges since step 220: it jumped.";
  t.evidence.earlier_cause = Cause::kDivergence;
  t.evidence.earlier_from = 220;
  t.evidence.earlier_rule = RuleId::kLossSpike;
  Finding& norm = t.Find(27, Family::kGradient, Severity::kInfo);
  norm.opened_step = 221;
  for (const Severity severity : {Severity::kInfo, Severity::kWarning}) {
    norm.severity = severity;
    const Diagnosis diagnosis = t.Verdict();
    EXPECT_EQ(diagnosis.causes[0].rule, RuleId::kNone);
    ExpectWords(diagnosis.causes[0].sentence);
  }
}

TEST(CausesTest, ALostCheckpointIsNoTrainingThatDiverges) {
  TestCase t;
  t.evidence.updates = 100;
  Finding& finding = t.Find(35, Family::kLoss, Severity::kWarning);
  finding.numbers = {{"loss", 9, ""}, {"loss_before_restart", 2.4, ""}};
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  ExpectWords(diagnosis.headline);
  ExpectWords(diagnosis.causes[0].actions[0].sentence);
}

TEST(CausesTest, TheNormOfANaNLossIsNoSecondCause) {
  TestCase t;
  t.evidence.loss_nonfinite = 1;
  t.evidence.first_nonfinite_loss_step = 12;
  t.Find(15, Family::kLoss, Severity::kCritical).opened_step = 12;
  t.Find(28, Family::kGradient, Severity::kCritical).opened_step = 12;
  ASSERT_EQ(t.Verdict().causes.size(), 1u);
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kNanFromForward);
  // What a norm brought that exploded before is its doing.
  t.findings[1].opened_step = 5;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kDivergence);
}

// The scale outlives the NaN: mending the one leaves the other.
TEST(CausesTest, AScaleThatBecameZeroIsTroubleOfItsOwn) {
  TestCase t;
  RunEvidence& e = t.evidence;
  e.scaler_dynamic = true;
  e.loss_nonfinite = 1;
  e.first_nonfinite_loss_step = 1;
  e.updates = e.updates_last_50 = 6;
  e.overflows = e.overflows_last_50 = e.overflow_streak = 5;
  e.skipped = e.skipped_last_50 = 5;
  e.last_step = 6;
  e.scale_max = e.scale_now = 0x1p-150;
  t.Find(15, Family::kLoss, Severity::kCritical);
  t.Find(3, Family::kScale, Severity::kCritical).opened_step = 4;
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 2u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kNanFromForward);
  EXPECT_EQ(FirstCause(diagnosis, t.findings[1])->cause,
            Cause::kCollapseWithUnderflow);
  // Where both were seen first at once, nobody knows better.
  t.findings[1].opened_step = t.findings[0].opened_step;
  ASSERT_EQ(t.Verdict().causes.size(), 1u);
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kNanFromForward);
}

// The loss rose, and the scale fell with it: one trouble, not two.
TEST(CausesTest, AScaleThatFallsWithASpikeIsItsConsequence) {
  TestCase t;
  t.run.framework = "megatron";
  RunEvidence& e = t.evidence;
  e.scaler_dynamic = true;
  e.updates = 26;
  e.good_steps = 26;
  e.first_good_step = 1;
  e.scale_max = 65536;
  e.scale_now = 4096;
  t.Find(34, Family::kLoss, Severity::kWarning).opened_step = 29050;
  Finding& fall = t.Find(4, Family::kScale, Severity::kWarning);
  for (const int64_t step : {29060, 29050, 29035}) {
    fall.opened_step = step;
    const Diagnosis diagnosis = t.Verdict();
    ASSERT_EQ(diagnosis.causes.size(), 1u) << step;
    const CauseVerdict& cause = diagnosis.causes[0];
    EXPECT_EQ(cause.cause, Cause::kDivergence);
    EXPECT_TRUE(Explains(cause, t.findings[0]));
    EXPECT_TRUE(Explains(cause, t.findings[1]));
    ExpectWords(cause.evidence[0].sentence);
    ExpectWords(cause.sentence);
    // A warning may pass.
    ExpectWords(cause.actions[0].sentence);
  }
  // Long before the loss it is another trouble, or the cause of this one.
  fall.opened_step = 29000;
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_NE(FirstCause(diagnosis, t.findings[1])->cause, Cause::kDivergence);
  EXPECT_NE(FirstCause(diagnosis, t.findings[1])->cause, Cause::kUnexplained);
}

TEST(CausesTest, OverflowedUpdatesThatAreAppliedAreSaid) {
  TestCase t;
  t.run.framework = "mindyolo";
  RunEvidence& e = t.evidence;
  e.scale_now = 1024;
  e.updates = 300;
  e.overflows = 3;
  e.updates_last_50 = 50;
  e.applied_overflows = 3;  // some long ago
  e.last_overflow_step = 200;
  t.Find(34, Family::kLoss, Severity::kCritical).opened_step = 300;
  const CauseVerdict cause = t.Verdict().causes[0];
  EXPECT_EQ(cause.cause, Cause::kDivergence);
  EXPECT_EQ(cause.grade, EvidenceGrade::kSupported);
  ExpectWords(cause.sentence);
  ExpectWords(cause.evidence[0].sentence);
  ExpectWords(cause.sentence);
  ExpectWords(cause.actions[0].sentence);
  ExpectWords(cause.actions.back().sentence);
}

// Nothing was found of them by themselves.
TEST(CausesTest, OverflowsThatCameWithASpikeAreNoCauseBesideIt) {
  TestCase t;
  RunEvidence& e = t.evidence;
  e.scaler_dynamic = true;
  e.updates = e.updates_last_50 = 28;
  e.good_steps = 26;
  e.first_good_step = 1;
  e.overflows = e.overflows_last_50 = e.skipped = 2;
  e.first_overflow_step = e.last_overflow_step = 45;
  e.last_step = 60;
  e.scale_max = e.scale_worked = 65536;
  e.scale_now = 4096;
  t.Find(34, Family::kLoss, Severity::kWarning).opened_step = 50;
  EXPECT_EQ(t.Verdict().causes.size(), 2u);
  t.Find(4, Family::kScale, Severity::kWarning).opened_step = 50;
  ASSERT_EQ(t.Verdict().causes.size(), 1u);
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kDivergence);
}

TEST(CausesTest, RanksThatDisagree) {
  TestCase t;
  t.run.framework = "ascend_tf";
  t.Find(13, Family::kScale, Severity::kCritical).subject.rank = 5;
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kRankDisagreement);
  EXPECT_EQ(diagnosis.causes[0].grade, EvidenceGrade::kEstablished);
  EXPECT_EQ(diagnosis.causes[0].origin.rank, 5);
  ExpectWords(diagnosis.causes[0].actions.back().sentence);
}

TEST(CausesTest, AMisusedScalerIsEstablishedOnlyWhenItWasDeclared) {
  TestCase t;
  t.evidence.scaler = "pytorch";
  t.evidence.impossible_transitions = 2;
  t.Find(14, Family::kScale, Severity::kWarning);
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kScalerMisuse);
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kEstablished);
  t.evidence.scaler_recognised = true;
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kSupported);
}

TEST(CausesTest, Silence) {
  TestCase t;
  t.evidence.ranks_lost = 1;
  t.Find(53, Family::kTelemetry, Severity::kCritical);
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kSilence);
}

TEST(CausesTest, AScheduleThatRunsAheadIsNoSilence) {
  TestCase t;
  t.Find(57, Family::kTelemetry, Severity::kInfo);
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kScalerMisuse);
  // Beside moves that a scaler cannot make, these prove the misuse.
  t.evidence.scaler = "pytorch";
  t.evidence.impossible_transitions = 2;
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kSupported);
  t.Find(14, Family::kScale, Severity::kWarning);
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kEstablished);
}

TEST(CausesTest, OnlyLargeUpdatesAreADivergence) {
  TestCase t;
  t.Find(38, Family::kWeight, Severity::kWarning).numbers = {
      {"update_to_weight", 0.3, "ratio"}};
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kDivergence);
  t.findings[0].numbers[0].value = 1e-9;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kUnexplained);
}

TEST(CausesTest, WhatNoCauseExplainsIsSaidSo) {
  TestCase t;
  t.Find(22, Family::kOp, Severity::kWarning, "Softmax");
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kUnexplained);
  EXPECT_EQ(diagnosis.causes[0].rules, RuleSet{RuleId::kOpInternalOverflow});
  EXPECT_EQ(Worst(t), Severity::kWarning);
}

TEST(CausesTest, EveryFindingHasACauseAndTheWorstComesFirst) {
  TestCase t = Cured();
  t.Find(53, Family::kTelemetry, Severity::kCritical);
  const Diagnosis diagnosis = t.Verdict();
  for (const Finding& finding : t.findings) {
    EXPECT_NE(FirstCause(diagnosis, finding), nullptr);
  }
  ASSERT_GE(diagnosis.causes.size(), 2u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kSilence);
  EXPECT_EQ(diagnosis.causes[1].cause, Cause::kHarmlessPadding);
}

}  // namespace
}  // namespace nanwatch
