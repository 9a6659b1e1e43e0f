// Causes of lost gradients, of FP8 scales, and of what devices and links spoil.

#include <gmock/gmock.h>

#include "diagnose/actions.h"
#include "tests/golden/cause_words.h"
#include "tests/golden/words.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

TestCase Underflowing() {
  TestCase t;
  t.run.framework = "pytorch";
  t.run.scaler.kind = ScalingKind::kStatic;
  t.evidence.updates = 500;
  t.evidence.scale_now = t.evidence.scale_first = 128.0;
  t.evidence.underflow_fraction = 0.04;
  Finding& f = t.Find(31, Family::kGradient, Severity::kWarning);
  f.numbers = {{"headroom", 9.5, "bits"}, {"recommended_scale", 32768, ""}};
  return t;
}

TEST(GradientCauses, UnderflowWithRoomNamesTheScaleToTake) {
  const TestCase t = Underflowing();
  const CauseVerdict cause = t.Verdict().causes.at(0);
  EXPECT_EQ(cause.cause, Cause::kUnderflow);
  EXPECT_EQ(cause.grade, EvidenceGrade::kEstablished);
  ExpectWords(cause.sentence);
  ExpectWords(ActionWords(cause));
  ExpectWords(t.Verdict().headline);
}

TEST(GradientCauses, WhatIsOnlyPredictedOrOnlyZerosIsSupportedAtMost) {
  TestCase t = Underflowing();
  t.evidence.underflow_fraction.reset();
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kSupported);
  t.findings[0].numbers.clear();
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kHypothesis);
  ExpectWords(ActionWords(t.Verdict().causes[0]));
  TestCase tight = Underflowing();
  tight.findings[0].numbers = {{"headroom", 0.5, "bits"}};
  EXPECT_EQ(tight.Verdict().causes[0].grade, EvidenceGrade::kSupported);
}

TEST(GradientCauses, WithoutAScalerItSaysSo) {
  TestCase t = Underflowing();
  t.run.scaler.kind = ScalingKind::kNone;
  t.evidence.scale_now.reset();
  ExpectWords(t.Verdict().causes[0].sentence);
}

TEST(GradientCauses, WhereNothingIsScaledNoScaleIsAtFault) {
  TestCase t;
  t.run.framework = "pytorch";
  t.evidence.updates = 500;
  Finding& f = t.Find(31, Family::kGradient, Severity::kWarning, "2.bias");
  f.numbers = {{"zeroed_tensors", 2, "tensors"}};
  for (const bool layer : {true, false}) {
    if (!layer) f.numbers.clear();
    const CauseVerdict cause = t.Verdict().causes.at(0);
    EXPECT_EQ(cause.cause, Cause::kUnderflow);
    ExpectWords(cause.sentence);
    ExpectWords(ActionWords(cause));
  }
  t.run.precision = "fp16";
  ExpectWords(ActionWords(t.Verdict().causes.at(0)));
}

TEST(GradientCauses, WhatDiedInItsFirstStepsBeginsAnew) {
  TestCase t;
  t.evidence.updates = 500;
  Finding& f = t.Find(31, Family::kGradient, Severity::kWarning, "2.bias");
  f.numbers = {{"first_loss", 2.3, ""}, {"zeroed_tensors", 5, "tensors"}};
  // What the same rate did on the way there.
  t.Find(35, Family::kLoss, Severity::kInfo);
  const CauseVerdict cause = t.Verdict().causes.at(0);
  EXPECT_EQ(cause.cause, Cause::kUnderflow);
  EXPECT_EQ(cause.grade, EvidenceGrade::kSupported);
  ExpectWords(cause.sentence);
  ExpectWords(ActionWords(cause));
}

TEST(GradientCauses, ACollapseIsTheBetterCause) {
  TestCase t = Underflowing();
  t.run.scaler.kind = ScalingKind::kDynamic;
  t.evidence.scaler_dynamic = true;
  t.evidence.scale_max = 65536.0;
  t.evidence.scale_now = 1.0;
  t.evidence.underflow_fraction = 0.4;
  for (const CauseVerdict& cause : t.Verdict().causes) {
    EXPECT_NE(cause.cause, Cause::kUnderflow);
  }
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kCollapseWithUnderflow);
}

TEST(GradientCauses, NoSingleScaleGoesBeforeALowScale) {
  TestCase t = Underflowing();
  t.Find(33, Family::kGradient, Severity::kWarning);
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kNoSingleScale);
  EXPECT_EQ(diagnosis.causes[0].grade, EvidenceGrade::kEstablished);
  ExpectWords(ActionWords(diagnosis.causes[0]));
  t.evidence.underflow_fraction.reset();
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kSupported);
}

TEST(GradientCauses, Fp8) {
  TestCase t;
  t.run.framework = "megatron";
  t.Find(41, Family::kFp8, Severity::kWarning, "fc1");
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kFp8Scaling);
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kSupported);
  EXPECT_EQ(t.Verdict().causes[0].origin.op, "fc1");
  ExpectWords(ActionWords(t.Verdict().causes[0]));
  t.Find(43, Family::kFp8, Severity::kWarning, "fc1");
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kEstablished);
  ExpectWords(t.Verdict().causes[0].sentence);
  TestCase zeros;
  zeros.Find(42, Family::kFp8, Severity::kWarning, "fc2");
  EXPECT_EQ(zeros.Verdict().causes[0].grade, EvidenceGrade::kHypothesis);
  ExpectWords(zeros.Verdict().causes[0].sentence);
}

TEST(GradientCauses, SuspectedCorruptionNamesHostAndDevice) {
  TestCase t;
  t.evidence.world_size = 64;
  t.evidence.suspect_rank = 17;
  t.evidence.suspect_place = "node-2, npu1";
  t.Find(51, Family::kRank, Severity::kWarning).subject.rank = 17;
  CauseVerdict cause = t.Verdict().causes.at(0);
  EXPECT_EQ(cause.cause, Cause::kSilentCorruption);
  EXPECT_EQ(cause.grade, EvidenceGrade::kHypothesis)
      << "it may be the rank's data";
  ExpectWords(cause.sentence);
  EXPECT_EQ(cause.origin.rank, 17);
  // A replica that differs on the same rank is a second, independent sign.
  t.Find(49, Family::kRank, Severity::kCritical).subject.rank = 17;
  for (const CauseVerdict& c : t.Verdict().causes) {
    if (c.cause != Cause::kSilentCorruption) continue;
    EXPECT_EQ(c.grade, EvidenceGrade::kSupported);
    ASSERT_EQ(c.evidence.size(), 1u);
  }
  t.findings.back().subject.rank = 3;
  for (const CauseVerdict& c : t.Verdict().causes) {
    if (c.cause != Cause::kSilentCorruption) continue;
    EXPECT_EQ(c.grade, EvidenceGrade::kHypothesis);
  }
}

TEST(GradientCauses, AnAccusedRanksOwnNormIsNoDivergence) {
  TestCase t;
  t.Find(28, Family::kGradient, Severity::kWarning).subject.rank = 5;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kDivergence);
  t.Find(51, Family::kRank, Severity::kWarning).subject.rank = 5;
  ASSERT_EQ(t.Verdict().causes.size(), 1u);
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kSilentCorruption);
  // Another rank diverges too: that is what is better supported.
  t.Find(28, Family::kGradient, Severity::kWarning).subject.rank = 2;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kDivergence);
}

TEST(GradientCauses, ACollectiveIsSuspectedOnlyWhereAllRanksWereSeen) {
  TestCase t;
  t.evidence.suspect_rank = 1;
  t.evidence.suspect_place = "node-0, npu1";
  Finding& f = t.Find(24, Family::kOp, Severity::kCritical);
  f.subject.rank = 1;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kSilentCorruption);
  ExpectWords(t.Verdict().causes[0].sentence);
  t.findings[0].severity = Severity::kInfo;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kUnexplained);
}

TEST(GradientCauses, ReplicasThatDifferAreARankDisagreement) {
  TestCase t;
  t.Find(49, Family::kRank, Severity::kCritical).subject.rank = 2;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kRankDisagreement);
  EXPECT_EQ(t.Verdict().causes[0].origin.rank, 2);
  ExpectWords(t.Verdict().headline);
  ExpectWords(ActionWords(t.Verdict().causes[0]));
  TestCase steps;
  steps.Find(56, Family::kRank, Severity::kWarning).subject.rank = 2;
  EXPECT_EQ(steps.Verdict().causes[0].cause, Cause::kRankDisagreement);
  ExpectWords(steps.Verdict().headline);
}

TEST(GradientCauses, NewRulesLeaveNoFindingUnexplained) {
  for (const int rule : {26, 29, 31, 32, 33, 41, 42, 43, 49, 51, 56}) {
    SCOPED_TRACE(rule);
    TestCase t;
    const Family family = rule >= 49   ? Family::kRank
                          : rule >= 41 ? Family::kFp8
                                       : Family::kGradient;
    t.Find(rule, family, Severity::kWarning);
    EXPECT_NE(t.Verdict().causes[0].cause, Cause::kUnexplained);
  }
}

}  // namespace
}  // namespace nanwatch
