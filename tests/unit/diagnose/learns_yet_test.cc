// What stood or rose, of a model that learns all the same.

#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

TestCase Found(RuleId rule, int64_t step) {
  TestCase t;
  t.evidence.updates = t.evidence.loss_finite = 400;
  t.evidence.last_step = 400;
  Finding& finding =
      t.Find(static_cast<int>(rule), Family::kLoss, Severity::kCritical);
  finding.opened_step = step;
  return t;
}

TEST(LearnsYetTest, ALateStartIsANote) {
  TestCase t = Found(RuleId::kLossNotDecreasing, 0);
  EXPECT_NE(t.Verdict().causes[0].cause, Cause::kLearnsYet);
  t.findings[0].numbers = {{"stood", 2.303, ""}};
  const Diagnosis noted = t.Verdict();
  EXPECT_EQ(noted.causes[0].cause, Cause::kLearnsYet);
  EXPECT_EQ(noted.condition, Condition::kNoted) << noted.headline;
}

// A queue of negatives that fills: the loss rises, and so does the accuracy.
TEST(LearnsYetTest, ALossWhoseScoreGrowsAfterItsRiseIsANote) {
  const auto cause = [](const char* score, int64_t rises_at) {
    TestCase t = Found(RuleId::kLossSpike, rises_at);
    t.run.settings["score_best"] = score;
    return t.Verdict().causes[0].cause;
  };
  EXPECT_EQ(cause("400 20 79 0.5", 10), Cause::kLearnsYet);
  EXPECT_EQ(cause("300 20 79 0.5", 390), Cause::kDivergence) << "before it";
  EXPECT_EQ(cause("400 20 21 0.5", 10), Cause::kDivergence) << "it stood";
  EXPECT_EQ(cause("400 -9 9 12", 10), Cause::kDivergence) << "noise";
}

TEST(LearnsYetTest, ARiseThatCameBackThriceIsANote) {
  TestCase t = Found(RuleId::kLossSpike, 10);
  t.findings[0].numbers = {{"returns", 3, ""}};
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kLearnsYet);
  t.Find(static_cast<int>(RuleId::kLossSpike), Family::kLoss,
         Severity::kCritical)
      .subject.rank = 1;
  EXPECT_EQ(t.Verdict().causes[0].cause, Cause::kDivergence)
      << "another rank's did not";
}

TEST(LearnsYetTest, ARiseThatComesByAClockIsANote) {
  TestCase t = Found(RuleId::kLossSpike, 10);
  t.findings[0].severity = Severity::kWarning;
  t.findings[0].numbers = {{"every", 300, "records"}, {"returns", 0, ""}};
  const Diagnosis noted = t.Verdict();
  EXPECT_EQ(noted.causes[0].cause, Cause::kLearnsYet);
  EXPECT_EQ(noted.condition, Condition::kNoted) << noted.headline;
}

// A title holds these.
TEST(LearnsYetTest, ANoteOfALossIsNamedAsWhatIsFound) {
  TestCase t;
  t.Find(34, Family::kLoss, Severity::kInfo);
  const Diagnosis diagnosis = t.Verdict();
  ASSERT_EQ(diagnosis.causes.size(), 1u);
  EXPECT_EQ(diagnosis.causes[0].cause, Cause::kUnexplained);
  EXPECT_EQ(diagnosis.causes[0].rules, RuleSet{RuleId::kLossSpike});
}

}  // namespace
}  // namespace nanwatch
