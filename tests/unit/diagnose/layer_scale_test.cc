// Layer-wise scaling: a layer whose own scale has fallen.

#include <gmock/gmock.h>

#include "tests/golden/words.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Every step of a run without a scale of its own overflows; layer fc2's scale
// is below 1.
TestCase Fallen() {
  TestCase t;
  t.run.framework = "mindspore";
  t.run.scaler.kind = ScalingKind::kLayerwise;
  RunEvidence& e = t.evidence;
  e.scaler_dynamic = true;
  e.updates = 200;
  e.overflows = e.skipped = 199;
  e.updates_last_50 = e.overflows_last_50 = e.skipped_last_50 = 50;
  e.overflow_streak = 50;
  e.first_overflow_step = 1;
  e.first_good_step = 0;
  e.last_overflow_step = e.last_step = 199;
  e.loss_finite = 200;
  e.loss_finite_while_overflow = 199;
  t.Find(5, Family::kScale, Severity::kCritical);
  Finding& layer = t.Find(2, Family::kScale, Severity::kCritical, "fc2");
  layer.numbers = {{"layer_scale", 0.25, ""}};
  return t;
}

TEST(LayerScale, OneCauseForTheLayerAndItsOverflows) {
  const Diagnosis diagnosis = Fallen().Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  const CauseVerdict& cause = diagnosis.causes[0];
  EXPECT_EQ(cause.cause, Cause::kCollapseWithUnderflow);
  EXPECT_EQ(cause.grade, EvidenceGrade::kEstablished);
  EXPECT_EQ(cause.origin.op, "fc2");
  EXPECT_THAT(cause.ops, ElementsAre("fc2"));
  ExpectWords(cause.sentence);
  ASSERT_EQ(cause.evidence.size(), 2u);
  ExpectWords(cause.evidence[0].sentence);
  ExpectWords(cause.evidence[1].sentence);
}

TEST(LayerScale, WithoutOverflowsItSpeaksOfTheLayerAlone) {
  TestCase t = Fallen();
  t.findings.erase(t.findings.begin());
  t.evidence.overflow_streak = t.evidence.overflows_last_50 = 0;
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_FALSE(diagnosis.causes.empty());
  EXPECT_EQ(diagnosis.causes[0].origin.op, "fc2");
  EXPECT_EQ(diagnosis.causes[0].grade, EvidenceGrade::kSupported);
  EXPECT_THAT(diagnosis.causes[0].evidence, IsEmpty());
}

TEST(LayerScale, WhereAllHaveAScaleItsOwnCollapseIsTold) {
  TestCase t = Fallen();
  t.evidence.scale_first = t.evidence.scale_max = 65536;
  t.evidence.scale_now = t.evidence.scale_min = 1024;
  for (const CauseVerdict& cause : t.Verdict().causes) {
    EXPECT_EQ(cause.origin.op, "");
  }
}

}  // namespace
}  // namespace nanwatch
