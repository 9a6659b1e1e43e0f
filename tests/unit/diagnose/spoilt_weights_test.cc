// A NaN whose update was applied: everything is NaN a step later.
#include <gmock/gmock.h>

#include "tests/golden/cause_words.h"
#include "tests/golden/words.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

// The loss is NaN from step 200 on, nothing skips an update, and weights are
// looked at from step 201 on.
TestCase Spoilt(int weights) {
  TestCase t;
  RunEvidence& e = t.evidence;
  e.updates = e.applied = 300;
  e.loss_finite = 200;
  e.loss_nonfinite = 100;
  e.first_nonfinite_loss_step = 200;
  e.last_nonfinite_loss_step = e.last_step = 299;
  for (int i = 0; i < weights; ++i) {
    OpEvidence& op =
        t.Op("layer" + std::to_string(i) + ".weight", Slot::kParameter);
    op.first_bad_step = 201;
    op.last_bad_step = 299;
    op.bad_statuses = op.bad_updates = op.updates = 99;
    op.nan = op.bad_elements_max = 64;
    t.Find(16, Family::kOp, Severity::kCritical, op.op.name);
  }
  t.Find(15, Family::kLoss, Severity::kCritical);
  return t;
}

TEST(SpoiltWeightsTest, NoneOfManyIsAccused) {
  const Diagnosis diagnosis = Spoilt(3).Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u) << "one trouble";
  const CauseVerdict& first = diagnosis.causes[0];
  EXPECT_EQ(first.cause, Cause::kNanFromForward);
  EXPECT_EQ(first.origin.op, "");
  EXPECT_EQ(first.grade, EvidenceGrade::kEstablished) << "but where is open";
  EXPECT_EQ(first.step, 200);
  ExpectWords(first.sentence);
  ExpectWords(EvidenceWords(first));
  ExpectWords(ActionWords(first));
}

TEST(SpoiltWeightsTest, OneAloneIsNamed) {
  const Diagnosis diagnosis = Spoilt(1).Verdict();
  EXPECT_EQ(diagnosis.causes[0].origin.op, "layer0.weight");
  EXPECT_EQ(diagnosis.causes[0].step, 201);
}

TEST(SpoiltWeightsTest, AnOpThatWasBadAtThatStepIsNamed) {
  TestCase t = Spoilt(3);
  OpEvidence& op = *t.evidence.ops.insert(t.evidence.ops.begin(), {});
  op.op.name = op.op.type = "log";
  op.slot = Slot::kOutput;
  op.first_bad_step = 200;
  op.last_bad_step = 299;
  op.first_inputs_clean = true;
  op.bad_statuses = op.bad_updates = op.updates = 100;
  op.nan = op.bad_elements_max = 64;
  t.Find(17, Family::kOp, Severity::kCritical, "log");
  const Diagnosis diagnosis = t.Verdict();
  EXPECT_EQ(diagnosis.causes[0].origin.op, "log");
  EXPECT_EQ(diagnosis.causes[0].grade, EvidenceGrade::kEstablished);
}

}  // namespace
}  // namespace nanwatch
