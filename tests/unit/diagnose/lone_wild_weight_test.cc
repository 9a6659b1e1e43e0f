// A bit of one weight flips: 6.6e37, and finite.
#include <gmock/gmock.h>

#include "tests/golden/words.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

Finding& FindWeight(TestCase* t, const std::string& op, bool alone) {
  Finding& found = t->Find(60, Family::kWeight, Severity::kCritical, op);
  found.subject.slot = Slot::kParameter;
  found.opened_step = 224;
  found.numbers = {{"abs_max", 6.6e37, ""},
                   {"abs_max_before", 0.5, ""},
                   {"alone", alone ? 1.0 : 0.0, ""},
                   {"flipped", 1, ""},
                   {"abs_max_of_others", alone ? 0.25 : 1e19, ""}};
  return found;
}

// The loss left its way at step 200, and the weights were looked at 24 steps
// later.
TestCase Flipped() {
  TestCase t;
  RunEvidence& e = t.evidence;
  e.updates = e.applied = e.loss_finite = 300;
  e.last_step = 299;
  e.ops_collected = true;
  t.Find(35, Family::kLoss, Severity::kCritical).opened_step = 200;
  t.Find(28, Family::kGradient, Severity::kCritical).opened_step = 201;
  FindWeight(&t, "fc.weight", true);
  return t;
}

TEST(LoneWildWeightTest, ExplainsWhatCameSinceTheLookBefore) {
  const Diagnosis diagnosis = Flipped().Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u) << "one trouble";
  const CauseVerdict& first = diagnosis.causes[0];
  EXPECT_EQ(first.cause, Cause::kSilentCorruption);
  EXPECT_EQ(first.grade, EvidenceGrade::kEstablished);
  EXPECT_EQ(first.origin.op, "fc.weight");
  EXPECT_EQ(first.step, 224);
  EXPECT_EQ(first.rule, RuleId::kWeightOutOfRange);
  ExpectWords(first.sentence);
}

TEST(LoneWildWeightTest, ANaNThatItMadeIsItsDoing) {
  TestCase t = Flipped();
  t.evidence.loss_nonfinite = 70;
  t.evidence.first_nonfinite_loss_step = 230;
  t.evidence.last_nonfinite_loss_step = 299;
  t.Find(15, Family::kLoss, Severity::kCritical).opened_step = 230;
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].origin.op, "fc.weight");
}

TEST(LoneWildWeightTest, WhatIsOlderIsNotItsDoing) {
  TestCase t = Flipped();
  t.findings[0].opened_step = 192;  // the look before was at that step
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 2u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kSilentCorruption);
  EXPECT_EQ(diagnosis.causes[1].cause, Cause::kDivergence);
}

TEST(LoneWildWeightTest, ManyAreATrainingThatDiverges) {
  TestCase t = Flipped();
  t.findings.pop_back();
  FindWeight(&t, "fc.weight", false);
  FindWeight(&t, "out.weight", false);
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kDivergence);
}

TEST(LoneWildWeightTest, WhatGrewAloneIsATrainingThatDiverges) {
  TestCase t = Flipped();
  t.findings.back().numbers[3].value = 0;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kDivergence);
}

TEST(LoneWildWeightTest, NorOneOfSeveralRanks) {
  TestCase t = Flipped();
  t.evidence.world_size = 8;
  FindWeight(&t, "fc.weight", true).subject.rank = 3;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kDivergence);
}

TEST(LoneWildWeightTest, NamesTheRankWhereThereAreMany) {
  TestCase t = Flipped();
  t.evidence.world_size = 8;
  t.findings.back().subject.rank = 3;
  ExpectWords(t.Verdict().causes[0].sentence);
}

}  // namespace
}  // namespace nanwatch
