// A scaler at its floor: what is said of it, and what is not.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagnose/scale_facts.h"
#include "tests/golden/cause_words.h"
#include "tests/golden/words.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

// 1,500 steps at scale 1, each skipped; read from a log.
TestCase Stuck() {
  TestCase t;
  t.run.framework = "megatron+deepspeed";
  RunEvidence& e = t.evidence;
  e.scaler_dynamic = true;
  e.scaler = "deepspeed";
  e.floor = 1;
  e.updates = 2576;
  e.overflows = e.skipped = 1574;
  e.good_steps = 1002;
  e.first_overflow_step = 1;
  e.first_good_step = 2;
  e.last_overflow_step = e.last_step = 2500;
  e.updates_last_50 = e.overflows_last_50 = e.skipped_last_50 = 50;
  e.overflow_streak = 50;
  e.loss_finite = e.loss_finite_while_overflow = 1500;
  e.scale_first = e.scale_max = 32768;
  e.scale_now = e.scale_min = 1;
  t.Find(1, Family::kScale, Severity::kCritical).opened_step = 2498;
  Finding& streak = t.Find(5, Family::kScale, Severity::kCritical);
  streak.opened_step = 2451;
  streak.numbers = {{"streak", 50, "updates"}};
  t.Find(6, Family::kScale, Severity::kCritical).opened_step = 2499;
  return t;
}

// A search from 2^23, training at 2^17, and then the floor.
TEST(CollapseTest, TheScaleFellFromWhereAnUpdateWasGood) {
  TestCase t = Stuck();
  t.evidence.scale_max = 8388608;
  t.evidence.scale_worked = 131072;
  ExpectWords(t.Verdict().headline);
  t.evidence.scale_worked.reset();
  ExpectWords(t.Verdict().headline);
}

// At scale 1 two of three updates overflow: no streak of three just now, and
// none of it ordinary.
TEST(CollapseTest, WhatGoesOnAtTheFloorIsOneCauseAlsoBetweenGoodUpdates) {
  TestCase t = Stuck();
  t.evidence.overflow_streak = 1;
  t.evidence.overflows_last_50 = t.evidence.skipped_last_50 = 33;
  t.Find(4, Family::kScale, Severity::kCritical).opened_step = 2451;
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kCollapseWithUnderflow);
  for (const Finding& finding : t.findings) {
    EXPECT_EQ(FirstCause(diagnosis, finding), &diagnosis.causes[0]);
  }
  ExpectWords(diagnosis.headline);
  t.findings.back().opened_step = 2440;
  ExpectWords(t.Verdict().headline);
  t.findings.back().opened_step = 2451;
  t.evidence.overflows_last_50 = t.evidence.skipped_last_50 = 48;
  ExpectWords(t.Verdict().headline);
}

// What rose only after the overflows began is none of their causes.
TEST(CollapseTest, ALossThatRoseFirstIsNamed) {
  TestCase t = Stuck();
  t.evidence.stands_out = LossRise{.from_step = 2450, .from = 4.1, .to = 6.3};
  ExpectWords(t.Verdict().headline);
  t.evidence.stands_out->from_step = 2452;
  ExpectWords(t.Verdict().headline);
}

// A discriminator stands while its generator learns.
TEST(CollapseTest, WhoseUpdatesAreNotAppliedIsSaid) {
  TestCase t = Stuck();
  ExpectWords(t.Verdict().headline);
  t.evidence.optimizer = "D";
  const Diagnosis diagnosis = t.Verdict();
  ExpectWords(diagnosis.headline);
  ExpectWords(EvidenceWords(diagnosis.causes.at(0)));
}

TEST(CollapseTest, BelowWhatAHalfHoldsEverythingIsLost) {
  TestCase t = Stuck();
  t.evidence.overflow_streak = 0;
  t.evidence.overflows_last_50 = t.evidence.skipped_last_50 = 20;
  t.evidence.floor = 0;
  for (const double scale : {4.941e-324, 4.078e-56, 1e-13}) {
    t.evidence.scale_now = t.evidence.scale_min = scale;
    ExpectWords(t.Verdict().headline);
  }
  t.evidence.scale_now = t.evidence.scale_min = 0x1p-10;
  ExpectWords(t.Verdict().headline);
}

TEST(CollapseTest, OverflowsThatGoOnAtTheFloorAreOneCauseAndNotOrdinary) {
  const TestCase t = Stuck();
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  const CauseVerdict& cause = diagnosis.causes[0];
  EXPECT_EQ(cause.cause, Cause::kCollapseWithUnderflow);
  EXPECT_EQ(cause.grade, EvidenceGrade::kEstablished);
  EXPECT_EQ(cause.step, 2451);  // not the probe of step 1
  for (const Finding& finding : t.findings) {
    EXPECT_EQ(FirstCause(diagnosis, finding), &cause);
  }
  ExpectWords(diagnosis.headline);
  ExpectWords(cause.actions[0].sentence);
  EXPECT_EQ(cause.actions[1].framework, "megatron");
  EXPECT_EQ(cause.actions[2].framework, "deepspeed");
}

// A log with a gap: its counter of skips jumps, and says more than its lines.
TEST(CollapseTest, AStreakLongerThanItsStepsBeganBefore) {
  TestCase t = Stuck();
  t.findings[1].numbers[0].value = 1572;
  ExpectWords(t.Verdict().headline);
}

// What supports the first cause.
void SaidOf(const TestCase& t) {
  const CauseVerdict cause = t.Verdict().causes.at(0);
  for (const Evidence& evidence : cause.evidence) {
    ExpectWords(evidence.sentence);
  }
}

// A line in fifty batches, or one of which nobody knows for how many it stands.
TEST(CollapseTest, OfStepsWithoutARecordNothingIsClaimed) {
  for (const bool counted : {false, true}) {
    TestCase t = Stuck();
    (counted ? t.evidence.steps_counted : t.evidence.steps_between) = true;
    ExpectWords(t.Verdict().headline);
    SaidOf(t);
    t.evidence.overflow_streak = 1;
    t.evidence.overflows_last_50 = t.evidence.skipped_last_50 = 33;
    t.Find(4, Family::kScale, Severity::kCritical).opened_step = 2451;
    ExpectWords(t.Verdict().headline);
    t.evidence.scale_now = t.evidence.scale_min = 0x1p-10;
    t.evidence.scale_worked = 1024;
    t.findings.clear();
    t.Find(2, Family::kScale, Severity::kWarning).opened_step = 2451;
    SaidOf(t);
  }
}

// The one that is counted began behind a good update.
TEST(CollapseTest, ARowIsToldSinceItsOwnFirst) {
  TestCase t = Stuck();
  t.findings[1].numbers = {{"streak", 380, "updates"},
                           {"streak_from", 2121, "step"}};
  t.findings[1].opened_step = 2112;
  EXPECT_EQ(t.Verdict().causes.at(0).step, 2112);
  ExpectWords(t.Verdict().headline);
}

TEST(CollapseTest, WhatOverflowsAtTheFloorIsNotTheScalesDoing) {
  const CauseVerdict cause = Stuck().Verdict().causes[0];
  ExpectWords(cause.evidence[0].sentence);
  ExpectWords(cause.evidence[1].sentence);
  ExpectWords(cause.evidence[2].sentence);
}

TEST(CollapseTest, ANaNLossIsTheBetterCause) {
  TestCase t = Stuck();
  t.evidence.loss_nonfinite = 3;
  t.evidence.first_nonfinite_loss_step = 2490;
  t.Find(15, Family::kLoss, Severity::kCritical);
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kNanFromForward);
}

TEST(CollapseTest, AnOpThatOverflowsAtEveryScaleIsTheBetterCause) {
  TestCase t = Stuck();
  OpEvidence& op = t.Op("MatMul", Slot::kOutput);
  op.updates = op.bad_updates = op.bad_statuses = 1500;
  op.inf = op.bad_elements_max = 4;
  op.last_bad_step = 2500;
  op.scale_max = 32768;
  op.scale_min = 1;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kScaleIndependentOp);
}

TEST(CollapseTest, AppliedUpdatesAreNotLost) {
  TestCase t = Stuck();
  t.evidence.applied_overflows_last_50 = 50;
  t.evidence.skipped_last_50 = 0;
  for (const CauseVerdict& cause : t.Verdict().causes) {
    ExpectWords(cause.sentence);
  }
}

// Three overflows at the floor are support; eight leave no other explanation.
TEST(CollapseTest, ItsGradeGrowsWithTheStreak) {
  TestCase t = Stuck();
  t.evidence.overflow_streak = 3;
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kSupported);
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kCollapseWithUnderflow);
  t.evidence.overflow_streak = 8;
  EXPECT_EQ(t.Verdict().causes[0].grade, EvidenceGrade::kEstablished);
}

TEST(CollapseTest, ASearchThatEndsBelowTheFloorIsNoCalibration) {
  TestCase t = Stuck();
  RunEvidence& e = t.evidence;
  e.in_grace = true;
  e.good_steps = 0;
  e.first_good_step = -1;
  e.updates = e.overflows = e.skipped = 17;
  e.overflow_streak = e.updates_last_50 = e.overflows_last_50 = 17;
  e.skipped_last_50 = 17;
  e.floor = 0;
  e.scale_now = 0.5;
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kCollapseWithUnderflow);
  // Without a streak's own finding it began with the first overflow.
  t.findings.resize(1);
  EXPECT_EQ(t.Verdict().causes[0].step, 1);
}

// One overflow an epoch at scale 1 is survived.
TEST(CollapseTest, AnIsolatedOverflowAtTheFloorIsNoEnd) {
  TestCase t = Stuck();
  t.evidence.overflow_streak = 1;
  t.evidence.overflows_last_50 = t.evidence.skipped_last_50 = 1;
  t.findings.clear();
  t.Find(1, Family::kScale, Severity::kWarning);
  ExpectWords(t.Verdict().headline);
}

// No gradient is a hundred million: two overflows there are not ordinary.
TEST(CollapseTest, AnOverflowAtATinyScaleIsNotOrdinary) {
  TestCase t = Stuck();
  RunEvidence& e = t.evidence;
  e.floor = 0;
  e.scale_max = e.scale_first = 0x1p-16;
  e.scale_now = 0x1p-17;
  e.overflow_streak = 1;
  e.overflows_last_50 = e.skipped_last_50 = 2;
  t.findings.clear();
  t.Find(2, Family::kScale, Severity::kCritical);
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kCollapseWithUnderflow);
}

// Halving leads to no negative number: the scaler has not collapsed.
TEST(CollapseTest, ANegativeOrNonFiniteScaleIsAMisusedScaler) {
  for (const double scale : {-1024.0, -HUGE_VAL, HUGE_VAL,
                             std::numeric_limits<double>::quiet_NaN()}) {
    TestCase t = Stuck();
    t.evidence.scale_now = scale;
    t.evidence.underflow_fraction = 0;
    t.Find(3, Family::kScale, Severity::kCritical).opened_step = 77;
    const Diagnosis diagnosis = t.Verdict();
    ASSERT_EQ(diagnosis.causes.size(), 1u) << scale;
    EXPECT_EQ(diagnosis.causes[0].cause, Cause::kScalerMisuse);
    EXPECT_EQ(diagnosis.causes[0].step, 77);
    ExpectWords(diagnosis.headline);
    for (const Action& action : diagnosis.causes[0].actions) {
      ExpectWords(action.sentence);
    }
  }
}

TEST(CollapseTest, NextToNoUnderflowIsNoEvidenceForIt) {
  TestCase t = Stuck();
  t.evidence.underflow_fraction = 0;
  ExpectWords(EvidenceWords(t.Verdict().causes[0]));
  t.evidence.underflow_fraction = 0.07;
  ExpectWords(EvidenceWords(t.Verdict().causes[0]));
}

// Recovered, at scale 1 ever since: what was earlier comes first, with what
// spares it the next run, and nobody is told to stop.
TEST(CollapseTest, OneThatIsOverTellsWhatToDoNextTime) {
  TestCase t = Stuck();
  t.run.framework = "hf_trainer+deepspeed";
  RunEvidence& e = t.evidence;
  t.findings.clear();
  e.overflow_streak = 0;
  e.updates = 2000;
  e.overflows = e.skipped = 35;
  e.overflows_last_50 = e.skipped_last_50 = 0;
  e.last_overflow_step = 50;
  e.first_good_step = 40;
  e.earlier = "The loss scale fell from 4294967296 to 1.";
  e.earlier_cause = Cause::kCollapseWithUnderflow;
  e.earlier_from = 33;
  e.earlier_to = 245;
  const Diagnosis diagnosis = t.Verdict();
  ExpectWords(diagnosis.headline);
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kCollapseWithUnderflow);
  EXPECT_EQ(diagnosis.causes[0].step, 33);
  ExpectWords(diagnosis.causes[0].actions[0].sentence);
  bool deepspeed = false;
  for (const Action& action : diagnosis.causes[0].actions) {
    deepspeed = deepspeed || action.framework == "deepspeed";
    ExpectWords(action.sentence);
  }
  EXPECT_TRUE(deepspeed);
}

// A log that shows one overflow, and the scale that it left.
TEST(CollapseTest, AnOverflowFarBelowOneIsOneBeforeTheScaleWasSeenToMove) {
  TestCase t;
  RunEvidence& e = t.evidence;
  e.updates = e.updates_last_50 = 50;
  e.overflows = e.overflows_last_50 = 1;
  e.first_good_step = 1;
  e.scale_max = e.scale_now = 0x1p-16;
  t.Find(2, Family::kScale, Severity::kCritical);
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kCollapseWithUnderflow);
  ExpectWords(diagnosis.headline);
}

// NVIDIA's BERT shows a counter of skipped steps, and no scale.
TestCase Unseen(uint64_t streak) {
  TestCase t;
  t.run.framework = "nvidia_bert";
  RunEvidence& e = t.evidence;
  e.updates = 9953;
  e.overflows = e.skipped = 3 + streak;
  e.good_steps = e.applied = e.updates - e.overflows;
  e.first_overflow_step = 1;
  e.first_good_step = 4;
  e.last_overflow_step = e.last_step = 5997;
  e.updates_last_50 = 50;
  e.overflow_streak = std::min<uint64_t>(streak, 50);
  e.overflows_last_50 = e.skipped_last_50 = e.overflow_streak;
  e.applied_last_50 = 50 - e.overflow_streak;
  e.loss_finite = 200;
  e.loss_finite_while_overflow = 79;
  Finding& finding = t.Find(5, Family::kScale, Severity::kCritical);
  finding.opened_step = 5998;
  finding.numbers = {{"streak", static_cast<double>(streak), "updates"}};
  return t;
}

TEST(CollapseTest, ARowThatNoScalerSurvivesIsOneWhereNoScaleIsShown) {
  TestCase t = Unseen(3950);
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  const CauseVerdict& cause = diagnosis.causes[0];
  EXPECT_EQ(cause.cause, Cause::kCollapseWithUnderflow);
  EXPECT_EQ(cause.grade, EvidenceGrade::kSupported);
  ExpectWords(diagnosis.headline);
  ExpectWords(cause.actions.at(0).sentence);
  // Where ops were looked at they say more, and a loss that is NaN does.
  t.evidence.loss_nonfinite = 10;
  t.evidence.first_nonfinite_loss_step = 5990;
  for (const CauseVerdict& other : t.Verdict().causes) {
    EXPECT_NE(other.cause, Cause::kCollapseWithUnderflow);
  }
}

TEST(CollapseTest, AShorterRowIsARangeThatWasLeftAlsoWhereNoScaleIsShown) {
  const Diagnosis diagnosis = Unseen(20).Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kRangeOverflow);
  ExpectWords(diagnosis.headline);
  for (const Action& action : diagnosis.causes[0].actions) {
    ExpectWords(action.sentence);
  }
}

// Far above its lowest, near its highest, after few updates that were lost.
TEST(ScaleFactsTest, AScaleIsBackWhereItWentWell) {
  RunEvidence e;
  e.scaler_dynamic = true;
  e.scale_worked = 32;
  e.scale_min = 0x1p-8;
  e.scale_now = 32;
  e.overflows = 13;
  EXPECT_TRUE(IsScaleBack(e));
  e.overflows = 2500;
  EXPECT_FALSE(IsScaleBack(e));
  e.overflows = 13;
  e.scale_now = 0x1p-6;
  EXPECT_FALSE(IsScaleBack(e)) << "it rose a little";
}

}  // namespace
}  // namespace nanwatch
