// NaN that is born in the backward pass.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/golden/cause_words.h"
#include "tests/golden/words.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

OpEvidence& Bad(TestCase* t, const char* name, Slot slot, int64_t step) {
  OpEvidence& op = t->Op(name, slot);
  op.first_bad_step = step;
  op.last_bad_step = op.first_kept_step = step;
  op.bad_statuses = op.bad_updates = 1;
  op.updates = 3;
  op.nan = op.kept_nan = op.bad_elements_max = 64;
  return op;
}

// fp32 without a scaler: gradients are NaN at step 130, the weights and the
// loss one step later.
TestCase Applied() {
  TestCase t;
  t.run.framework = "pytorch";
  RunEvidence& e = t.evidence;
  e.updates = e.applied = 133;
  e.updates_last_50 = e.applied_last_50 = 50;
  e.overflows = e.applied_overflows = e.overflows_last_50 = 3;
  e.first_overflow_step = 130;
  e.last_overflow_step = e.last_step = e.last_nonfinite_loss_step = 132;
  e.first_nonfinite_loss_step = e.first_kept_nonfinite_loss_step = 131;
  e.loss_finite = 131;
  e.loss_nonfinite = 2;
  e.nonfinite_loss_rank = 0;
  e.grad_norm_finite = 130;
  e.grad_norm_nonfinite = e.grad_norm_nan = 3;
  Finding& norm = t.Find(28, Family::kGradient, Severity::kCritical);
  norm.opened_step = 130;
  norm.numbers = {{"grad_norm", std::nan(""), ""}};
  t.Find(15, Family::kLoss, Severity::kCritical).opened_step = 131;
  return t;
}

void WithWeights(TestCase* t) {
  Bad(t, "0.bias", Slot::kGradInput, 130);
  Bad(t, "0.weight", Slot::kGradInput, 130);
  Bad(t, "0.bias", Slot::kParameter, 131);
  Bad(t, "0.weight", Slot::kParameter, 131);
  t->Find(16, Family::kWeight, Severity::kCritical, "0.bias").opened_step = 131;
}

// The rule on the norm may wait for more of them.
TEST(NanFromBackward, ANanNormBeforeALossThatIsNoneIsWhereItIsBorn) {
  TestCase t = Applied();
  t.findings.erase(t.findings.begin());
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kNanFromForward);
  t.evidence.nan_norm_before_loss = 130;
  const CauseVerdict cause = t.Verdict().causes[0];
  EXPECT_EQ(cause.cause, Cause::kNanFromBackward);
  EXPECT_EQ(cause.step, 130);
}

TEST(NanFromBackward, GradientsThatWereBadBeforeTheWeightsAreNamed) {
  TestCase t = Applied();
  WithWeights(&t);
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  const CauseVerdict& cause = diagnosis.causes[0];
  EXPECT_EQ(cause.cause, Cause::kNanFromBackward);
  EXPECT_EQ(cause.rule, RuleId::kWeightNonfinite);
  EXPECT_EQ(cause.grade, EvidenceGrade::kSupported);
  EXPECT_EQ(cause.step, 130);
  EXPECT_EQ(cause.origin.op, "0.bias");
  EXPECT_EQ(cause.origin.slot, Slot::kGradInput);
  ExpectWords(cause.sentence);
  ExpectWords(ActionWords(cause));
}

TEST(NanFromBackward, ItsOriginHasTypeAndDtypeOfTheSlotThatItNames) {
  TestCase t = Applied();
  WithWeights(&t);
  t.evidence.ops[0].op.type = "Parameter";
  t.evidence.ops[0].op.dtype = Dtype::kBf16;
  EXPECT_EQ(t.evidence.ops[0].slot, Slot::kGradInput);
  const CauseVerdict cause = t.Verdict().causes.at(0);
  EXPECT_EQ(cause.op_type, "Parameter");
  EXPECT_EQ(cause.op_dtype, Dtype::kBf16);
}

TEST(NanFromBackward, AnOriginWithoutAnOpHasNoTypeOfOne) {
  TestCase t = Applied();
  const CauseVerdict cause = t.Verdict().causes.at(0);
  EXPECT_EQ(cause.origin.op, "");
  EXPECT_EQ(cause.op_type, "");
  EXPECT_EQ(cause.op_dtype, Dtype::kUnknown);
}

// In the order of execution the last layer's come first.
TEST(NanFromBackward, OfSeveralTheOneThatTheBackwardPassReachesFirstIsSaid) {
  TestCase t = Applied();
  WithWeights(&t);
  ExpectWords(t.Verdict().causes.at(0).sentence);
  t.evidence.ops[0].first_bad_order = 7;
  ExpectWords(t.Verdict().causes.at(0).sentence);
  t.evidence.ops[1].first_bad_order = 8;
  ExpectWords(t.Verdict().causes.at(0).sentence);
}

TEST(NanFromBackward, AModuleThatMadeItOfAFiniteGradientGoesBefore) {
  TestCase t = Applied();
  Bad(&t, "0.bias", Slot::kGradInput, 130);
  Bad(&t, "2", Slot::kGradInput, 130).first_inputs_clean = true;
  const CauseVerdict cause = t.Verdict().causes.at(0);
  EXPECT_EQ(cause.origin.op, "2");
  EXPECT_EQ(cause.grade, EvidenceGrade::kEstablished);
  ExpectWords(cause.sentence);
}

TEST(NanFromBackward, TheNormAloneTellsTheStep) {
  const TestCase t = Applied();
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u) << "no divergence beside it";
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kNanFromBackward);
  EXPECT_EQ(diagnosis.causes[0].step, 130);
  ExpectWords(diagnosis.causes[0].sentence);
}

// bf16 with a guard of the program's own: no update of NaN is applied.
TEST(NanFromBackward, UpdatesThatTheProgramLeavesOutAreOfIt) {
  TestCase t = Applied();
  t.evidence.loss_nonfinite = t.evidence.applied_overflows = 0;
  t.evidence.first_kept_nonfinite_loss_step = -1;
  t.findings.clear();
  t.Find(5, Family::kScale, Severity::kWarning).opened_step = 130;
  const CauseVerdict cause = t.Verdict().causes.at(0);
  EXPECT_EQ(cause.cause, Cause::kNanFromBackward);
  EXPECT_EQ(cause.step, 130);
  EXPECT_EQ(cause.grade, EvidenceGrade::kHypothesis);
  TestCase untold = t;  // nobody told the norm
  untold.evidence.grad_norm_nonfinite = untold.evidence.grad_norm_nan = 0;
  TestCase inf = t;  // what is infinite may have left a range
  inf.evidence.grad_norm_nan = 2;
  TestCase grown = t;
  grown.Find(27, Family::kGradient, Severity::kWarning).opened_step = 120;
  TestCase infinite = t;
  OpEvidence& op = Bad(&infinite, "0.bias", Slot::kGradInput, 130);
  op.inf = std::exchange(op.nan, 0);
  op.kept_nan = 0;
  op.first_kept_step = -1;
  for (const TestCase* other : {&untold, &inf, &grown, &infinite}) {
    for (const CauseVerdict& verdict : other->Verdict().causes) {
      EXPECT_NE(verdict.cause, Cause::kNanFromBackward);
    }
  }
}

// Programs without a scaler print a scale of 1.
TEST(NanFromBackward, AFixedScaleOfOneIsNone) {
  TestCase t = Applied();
  t.evidence.loss_nonfinite = t.evidence.applied_overflows = 0;
  t.evidence.first_kept_nonfinite_loss_step = -1;
  t.evidence.scale_first = t.evidence.scale_now = 1;
  t.evidence.scale_min = t.evidence.scale_max = 1;
  t.findings.clear();
  Finding& row = t.Find(5, Family::kScale, Severity::kCritical);
  row.opened_step = 130;
  row.numbers = {{"streak", 167, "updates"}};
  const CauseVerdict cause = t.Verdict().causes.at(0);
  EXPECT_EQ(cause.cause, Cause::kNanFromBackward);
  ExpectWords(cause.sentence);
  TestCase half = t;
  half.run.precision = "fp16";
  TestCase fell = t;
  fell.evidence.scale_max = 2;
  fell.evidence.scaler_dynamic = true;
  for (const TestCase* other : {&half, &fell}) {
    for (const CauseVerdict& verdict : other->Verdict().causes) {
      EXPECT_NE(verdict.cause, Cause::kNanFromBackward);
    }
  }
}

// What was left out, and was survived, is not the cause of what came later.
TEST(NanFromBackward, AnUpdateThatWasLeftOutIsNoneOfLaterTrouble) {
  TestCase t = Applied();
  Bad(&t, "2.weight", Slot::kGradInput, 50).first_kept_step = -1;
  EXPECT_EQ(t.Verdict().causes.at(0).step, 130) << "by the norm";
  Bad(&t, "0.weight", Slot::kGradInput, 40).first_kept_step = 130;
  const CauseVerdict cause = t.Verdict().causes.at(0);
  EXPECT_EQ(cause.cause, Cause::kNanFromBackward);
  EXPECT_EQ(cause.step, 130);
  EXPECT_EQ(cause.origin.op, "0.weight");
  ExpectWords(cause.sentence);
  // Nor is a batch of NaN that was left out.
  TestCase earlier = t;
  earlier.evidence.first_nonfinite_loss_step = 20;
  const CauseVerdict said = earlier.Verdict().causes.at(0);
  EXPECT_EQ(said.step, 130);
  for (const Evidence& evidence : said.evidence) {
    ExpectWords(evidence.sentence);
  }
  // One that was left out is no cause of losses that were left out later.
  TestCase guarded = Applied();
  guarded.findings.clear();
  guarded.Find(15, Family::kLoss, Severity::kCritical).opened_step = 131;
  Bad(&guarded, "2.weight", Slot::kGradInput, 50).first_kept_step = -1;
  guarded.evidence.first_kept_nonfinite_loss_step = -1;
  for (const CauseVerdict& verdict : guarded.Verdict().causes) {
    EXPECT_NE(verdict.cause, Cause::kNanFromBackward);
  }
  TestCase batch = t;
  batch.evidence.ops.pop_back();
  batch.evidence.first_nonfinite_loss_step = 130;
  batch.evidence.first_kept_nonfinite_loss_step = 130;
  for (const CauseVerdict& verdict : batch.Verdict().causes) {
    EXPECT_NE(verdict.cause, Cause::kNanFromBackward);
  }
}

// One NaN batch was left out long before each update was, for a gradient's.
TEST(NanFromBackward, ABatchThatWasLeftOutBeforeHidesNothing) {
  TestCase t = Applied();
  t.findings.clear();
  t.Find(8, Family::kScale, Severity::kCritical).opened_step = 130;
  Bad(&t, "2.weight", Slot::kGradInput, 130).first_kept_step = -1;
  RunEvidence& e = t.evidence;
  e.loss_nonfinite = 1;
  e.first_nonfinite_loss_step = e.last_nonfinite_loss_step = 20;
  e.first_kept_nonfinite_loss_step = -1;
  Bad(&t, "loss", Slot::kOutput, 20).first_kept_step = -1;
  const CauseVerdict cause = t.Verdict().causes.at(0);
  EXPECT_EQ(cause.cause, Cause::kNanFromBackward);
  EXPECT_EQ(cause.step, 130);
  EXPECT_EQ(cause.origin.op, "2.weight");
  e.last_nonfinite_loss_step = 130;
  for (const CauseVerdict& verdict : t.Verdict().causes) {
    EXPECT_NE(verdict.cause, Cause::kNanFromBackward) << "it came with a loss";
  }
}

TEST(NanFromBackward, AnInfinityThatWasAppliedIsNamedAsOne) {
  TestCase t = Applied();
  t.findings[0].numbers[0].value = INFINITY;
  OpEvidence& op = Bad(&t, "2.weight", Slot::kGradInput, 130);
  op.inf = std::exchange(op.nan, 0);
  op.kept_nan = 0;
  op.op.dtype = Dtype::kFp32;
  const CauseVerdict cause = t.Verdict().causes.at(0);
  EXPECT_EQ(cause.cause, Cause::kNanFromBackward);
  EXPECT_EQ(cause.origin.op, "2.weight");
  ExpectWords(cause.sentence);
  op.op.dtype = Dtype::kFp16;
  TestCase grown = t;
  grown.evidence.ops[0].op.dtype = Dtype::kFp32;
  grown.Find(27, Family::kGradient, Severity::kWarning).opened_step = 120;
  for (const TestCase* other : {&t, &grown}) {
    for (const CauseVerdict& verdict : other->Verdict().causes) {
      EXPECT_NE(verdict.cause, Cause::kNanFromBackward);
    }
  }
}

TEST(NanFromBackward, NotWhereTheLossWasNanFirstOrIsScaledOrHadJumped) {
  TestCase first = Applied();
  WithWeights(&first);
  first.evidence.first_nonfinite_loss_step = 130;
  first.evidence.first_kept_nonfinite_loss_step = 130;
  TestCase scaled = Applied();
  WithWeights(&scaled);
  scaled.evidence.scale_now = 1024;
  TestCase jumped = Applied();
  WithWeights(&jumped);
  jumped.Find(34, Family::kLoss, Severity::kCritical).opened_step = 120;
  TestCase infinite = Applied();
  infinite.findings[0].numbers[0].value = INFINITY;
  for (const TestCase* t : {&first, &scaled, &jumped, &infinite}) {
    for (const CauseVerdict& cause : t->Verdict().causes) {
      EXPECT_NE(cause.cause, Cause::kNanFromBackward);
      ExpectWords(cause.sentence);
    }
  }
}

// Of a loss that rose long before nothing is known that would have made it.
TEST(NanFromBackward, ALossThatRoseLongBeforeDidNotMakeIt) {
  TestCase t = Applied();
  WithWeights(&t);
  Finding& loss = t.Find(34, Family::kLoss, Severity::kWarning);
  loss.opened_step = 100;
  const auto is_told = [&t] {
    const Diagnosis diagnosis = t.Verdict();
    return std::ranges::any_of(diagnosis.causes, [](const CauseVerdict& it) {
      return it.cause == Cause::kNanFromBackward && it.step == 130;
    });
  };
  EXPECT_TRUE(is_told());
  loss.opened_step = 120;
  EXPECT_FALSE(is_told()) << "it had just risen";
}

// Nor is it said of such a weight that nothing was bad before it.
TEST(NanFromBackward, AWeightThatGradientsSpoiltIsToldAsThat) {
  TestCase t = Applied();
  WithWeights(&t);
  t.Find(34, Family::kLoss, Severity::kCritical).opened_step = 120;
  for (const CauseVerdict& cause : t.Verdict().causes) {
    ExpectWords(cause.sentence);
  }
}

// A loss that grew out of the range, which its op was seen to leave.
TEST(NanFromBackward, WhatGrewIntoAnInfinityDiverges) {
  TestCase t = Applied();
  OpEvidence& loss = t.Op("loss", Slot::kOutput);
  loss.first_bad_step = loss.last_bad_step = 131;
  loss.inf = loss.bad_elements_max = loss.bad_updates = loss.updates = 1;
  loss.first_inputs_clean = true;
  t.Find(18, Family::kOp, Severity::kCritical, "loss").opened_step = 132;
  EXPECT_EQ(t.Verdict().causes.at(0).cause, Cause::kNanFromBackward);
  t.findings[1].numbers = {{"grown_from", 14.6, ""}};
  t.findings[1].sentence = "The loss is NaN. It had grown.";
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kDivergence);
  ExpectWords(diagnosis.headline);
}

// With a scaler it goes on at every scale.
TEST(NanFromBackward, AtEveryScaleTheModuleGoesBeforeItsParameters) {
  TestCase t;
  RunEvidence& e = t.evidence;
  e.updates = e.last_step = 300;
  e.scaler_dynamic = true;
  e.scale_now = 1;
  OpEvidence& bias = Bad(&t, "0.bias", Slot::kGradInput, 130);
  bias.last_bad_step = 300;
  bias.bad_updates = bias.updates = 170;
  bias.scale_max = 65536;
  bias.scale_min = 1;
  OpEvidence& module = Bad(&t, "2", Slot::kGradInput, 133);
  module.clean_statuses = 5;  // where the gradients that reach it are 0
  module.first_inputs_clean = true;
  Bad(&t, "0", Slot::kGradInput, 135).last_bad_step = 300;
  t.Find(20, Family::kOp, Severity::kCritical, "0");
  t.Find(20, Family::kOp, Severity::kCritical, "0.bias");
  t.Find(18, Family::kOp, Severity::kCritical, "2");
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kNanFromBackward);
  EXPECT_EQ(diagnosis.causes[0].origin.op, "2");
  EXPECT_EQ(diagnosis.causes[0].step, 130);
  ExpectWords(diagnosis.causes[0].sentence);
}

// No module was looked at: what a scale that is too high makes are infinities.
TEST(NanFromBackward, AtEveryScaleWithoutAnInfinityIsNoOverflow) {
  TestCase t;
  t.run.framework = "pytorch";
  RunEvidence& e = t.evidence;
  e.updates = e.last_step = 180;
  e.scaler_dynamic = true;
  e.scale_now = 64;
  OpEvidence& bias = Bad(&t, "2.bias", Slot::kGradInput, 170);
  bias.last_bad_step = 180;
  bias.bad_updates = bias.updates = 11;
  bias.scale_max = 65536;
  bias.scale_min = 64;
  Bad(&t, "2", Slot::kGradOutput, 172);
  t.Find(4, Family::kScale, Severity::kCritical);
  t.Find(8, Family::kScale, Severity::kCritical, "2.bias");
  t.Find(8, Family::kScale, Severity::kCritical, "2");
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kNanFromBackward);
  EXPECT_EQ(diagnosis.causes[0].origin.op, "2.bias");
  EXPECT_EQ(diagnosis.causes[0].step, 170);
  ExpectWords(diagnosis.headline);
  ExpectWords(ActionWords(diagnosis.causes[0]));
  t.evidence.ops[1].inf = 1;
  t.evidence.ops[1].last_beyond_step = 2;
  EXPECT_EQ(t.Verdict().causes.at(0).cause, Cause::kNanFromBackward)
      << "the scaler's search, long over";
  t.evidence.ops[1].last_beyond_step = 172;
  EXPECT_EQ(t.Verdict().causes.at(0).cause, Cause::kScaleIndependentOp);
}

}  // namespace
}  // namespace nanwatch
