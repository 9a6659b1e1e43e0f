// A batch unlike all others, and what it is not.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/golden/words.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

constexpr int64_t kStep = 150;

// fp16 with a dynamic scale: the update of step 150 is left out.
TestCase Skipped() {
  TestCase t;
  t.run.framework = "pytorch";
  RunEvidence& e = t.evidence;
  e.scaler_dynamic = true;
  e.scale_now = 32768;
  e.updates = 210;
  e.good_steps = 209;
  e.updates_last_50 = 50;
  e.overflows = 1;
  e.first_good_step = 0;
  e.last_step = 209;
  e.first_overflow_step = e.last_overflow_step = kStep;
  e.loss_finite = 210;
  OutlierBatches& of = e.outliers.emplace_back();
  of.rank = 0;
  of.count = of.overflows = 1;
  of.first_step = of.steps[0] = kStep;
  of.loss = 5;
  of.usual = 0.01;
  of.gradients = OutlierBatches::Gradients::kOverflowed;
  of.skipped = true;
  return t;
}

OpEvidence& Gradient(TestCase* t, const char* name, const char* type) {
  OpEvidence& op = t->Op(name, Slot::kGradInput);
  op.op.type = type;
  op.first_bad_step = op.last_bad_step = kStep;
  op.bad_statuses = op.bad_updates = op.updates = op.inf = 1;
  op.clean_statuses = 5;
  return op;
}

Finding& Then(TestCase* t, int rule, Family family, Severity severity) {
  Finding& finding = t->Find(rule, family, severity);
  finding.opened_step = kStep;
  return finding;
}

const CauseVerdict& First(const Diagnosis& diagnosis) {
  EXPECT_FALSE(diagnosis.causes.empty());
  return diagnosis.causes.at(0);
}

TEST(OutlierBatch, IsToldThoughItIsOver) {
  const Diagnosis diagnosis = Skipped().Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  const CauseVerdict& cause = First(diagnosis);
  EXPECT_EQ(cause.cause, Cause::kOutlierBatch);
  EXPECT_EQ(cause.step, kStep);
  EXPECT_EQ(cause.origin.rank, 0);
  EXPECT_EQ(cause.origin.op, "");
  EXPECT_EQ(cause.ceiling, Severity::kInfo);
  ExpectWords(cause.sentence);
}

TEST(OutlierBatch, WhatIsNotToldIsNotSaid) {
  TestCase t = Skipped();
  t.evidence.outliers[0].gradients = OutlierBatches::Gradients::kNotTold;
  t.evidence.outliers[0].skipped = false;
  ExpectWords(First(t.Verdict()).sentence);
}

TEST(OutlierBatch, SeveralAreCounted) {
  TestCase t = Skipped();
  t.evidence.outliers[0].count = 3;
  t.evidence.outliers[0].steps = {200, 180, kStep, -1};
  ExpectWords(First(t.Verdict()).sentence);
}

TEST(OutlierBatch, OtherOverflowsHaveTheirOwnCause) {
  TestCase t = Skipped();
  t.evidence.overflows = 2;
  t.evidence.first_overflow_step = 20;
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 2u);
  EXPECT_EQ(diagnosis.causes[1].cause, Cause::kRangeOverflow);
}

TEST(OutlierBatch, WhatTheNormDidThenIsItsDoing) {
  TestCase t = Skipped();
  Finding& norm = Then(&t, 28, Family::kGradient, Severity::kWarning);
  norm.numbers = {{"grad_norm", 300, ""}};
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(UnderCeiling(diagnosis, norm), Severity::kInfo);
  EXPECT_EQ(First(diagnosis).cause, Cause::kOutlierBatch);
}

TEST(OutlierBatch, ANormThatWasNotFiniteOrStaysIsNot) {
  for (const bool stays : {false, true}) {
    TestCase t = Skipped();
    Finding& norm = Then(&t, 28, Family::kGradient,
                         stays ? Severity::kCritical : Severity::kWarning);
    norm.numbers = {{"grad_norm", stays ? 300 : INFINITY, ""}};
    EXPECT_EQ(UnderCeiling(t.Verdict(), norm), norm.severity) << stays;
  }
}

TEST(OutlierBatch, WhatGoesOnIsNotItsDoing) {
  TestCase t = Skipped();
  t.evidence.outliers[0].other_norm_steps[0] = kStep + 6;
  Finding& norm = Then(&t, 28, Family::kGradient, Severity::kWarning);
  EXPECT_EQ(UnderCeiling(t.Verdict(), norm), Severity::kWarning);
}

TEST(OutlierBatch, WhatOpensLaterIsNot) {
  TestCase t = Skipped();
  Finding& norm = Then(&t, 28, Family::kGradient, Severity::kWarning);
  norm.opened_step = kStep + 5000;
  norm.subject.rank = 1;
  EXPECT_EQ(UnderCeiling(t.Verdict(), norm), Severity::kWarning);
}

TEST(OutlierBatch, AnotherLossIsNoNorm) {
  TestCase t = Skipped();
  t.evidence.outliers[0].other_loss_step = kStep + 6;
  Finding& norm = Then(&t, 28, Family::kGradient, Severity::kWarning);
  EXPECT_EQ(UnderCeiling(t.Verdict(), norm), Severity::kInfo);
}

TEST(OutlierBatch, AnOpThatGoesOnIsNotItsDoing) {
  for (const int64_t last : {kStep, kStep + 6}) {
    TestCase t = Skipped();
    OpEvidence& op = Gradient(&t, "head", "Linear");
    op.last_bad_step = last;
    Finding& finding = Then(&t, 20, Family::kOp, Severity::kWarning);
    finding.subject.op = op.op.name;
    finding.subject.slot = op.slot;
    EXPECT_EQ(UnderCeiling(t.Verdict(), finding),
              last == kStep ? Severity::kInfo : Severity::kWarning)
        << last;
  }
}

TEST(OutlierBatch, OfAnotherRankTheGradientsAreItsDoing) {
  TestCase t = Skipped();
  Finding& norm = Then(&t, 28, Family::kGradient, Severity::kWarning);
  norm.subject.rank = 1;
  EXPECT_EQ(UnderCeiling(t.Verdict(), norm), Severity::kInfo);
}

TEST(OutlierBatch, OfAnotherRankTheLossIsNot) {
  TestCase t = Skipped();
  Finding& loss = Then(&t, 34, Family::kLoss, Severity::kWarning);
  loss.subject.rank = 1;
  EXPECT_EQ(UnderCeiling(t.Verdict(), loss), Severity::kWarning);
}

TEST(OutlierBatch, EachRankHasItsOwn) {
  TestCase t = Skipped();
  t.evidence.outliers.push_back(t.evidence.outliers[0]);
  OutlierBatches& other = t.evidence.outliers[1];
  other.rank = 1;
  other.first_step = other.steps[0] = 180;
  for (const int rank : {0, 1}) {
    Finding& norm = t.Find(28, Family::kGradient, Severity::kWarning);
    norm.subject.rank = rank;
    norm.opened_step = rank == 0 ? kStep : 180;
  }
  const Diagnosis diagnosis = t.Verdict();
  for (const Finding& norm : t.findings) {
    EXPECT_EQ(UnderCeiling(diagnosis, norm), Severity::kInfo);
  }
}

TEST(OutlierBatch, GivesWayToADeviceThatIsSuspected) {
  TestCase t = Skipped();
  Then(&t, 27, Family::kGradient, Severity::kInfo);
  Then(&t, 51, Family::kRank, Severity::kWarning);
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(First(diagnosis).cause, Cause::kSilentCorruption);
}

TEST(OutlierBatch, AnAlertThatIsHeldIsNotRepeated) {
  TestCase t = Skipped();
  t.evidence.earlier = "The training diverges since step 150.";
  t.evidence.earlier_cause = Cause::kDivergence;
  t.evidence.earlier_rule = RuleId::kGnormSpike;
  t.evidence.earlier_from = kStep;
  Then(&t, 27, Family::kGradient, Severity::kInfo);
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  ExpectWords(diagnosis.headline);
}

// Three and more that no data have: something is wrong with these.
TEST(OutlierBatch, WildOnesAreAWarning) {
  TestCase t = Skipped();
  Then(&t, 34, Family::kLoss, Severity::kWarning);
  EXPECT_EQ(Worst(t), Severity::kInfo);
  t.evidence.outliers[0].wild = true;
  EXPECT_EQ(Worst(t), Severity::kWarning);
  EXPECT_EQ(First(t.Verdict()).cause, Cause::kOutlierBatch);
}

// ------------------------------------------------------- where it was first

TEST(OutlierBatch, TheFirstParameterIsNamed) {
  TestCase t = Skipped();
  Gradient(&t, "body", "Conv2dBackward");  // a module, sampled
  Gradient(&t, "head.weight", "Parameter");
  Gradient(&t, "body.weight", "Parameter");
  EXPECT_EQ(First(t.Verdict()).origin.op, "head.weight");
}

TEST(OutlierBatch, AModuleThatMadeItIsNamed) {
  TestCase t = Skipped();
  Gradient(&t, "log", "LogBackward").first_inputs_clean = true;
  Gradient(&t, "body.weight", "Parameter");
  EXPECT_EQ(First(t.Verdict()).origin.op, "log");
}

TEST(OutlierBatch, AModuleThatMadeItTooComesAfterALaterLayer) {
  TestCase t = Skipped();
  Gradient(&t, "body", "Conv2dBackward").first_inputs_clean = true;
  Gradient(&t, "head.weight", "Parameter");
  Gradient(&t, "body.weight", "Parameter");
  EXPECT_EQ(First(t.Verdict()).origin.op, "head.weight");
}

TEST(OutlierBatch, OfAnOpThatWasBadBeforeAndAfterNothingIsKnown) {
  TestCase t = Skipped();
  OpEvidence& op = Gradient(&t, "head.weight", "Parameter");
  op.first_bad_step = 3;
  op.last_bad_step = 200;
  Gradient(&t, "body.weight", "Parameter");
  const Diagnosis diagnosis = t.Verdict();
  const auto it = std::find_if(
      diagnosis.causes.begin(), diagnosis.causes.end(),
      [](const CauseVerdict& v) { return v.cause == Cause::kOutlierBatch; });
  ASSERT_NE(it, diagnosis.causes.end());
  EXPECT_EQ(it->origin.op, "");
}

}  // namespace
}  // namespace nanwatch
