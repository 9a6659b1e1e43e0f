// Of a loss that is back where it began, and of one that stands still after.

#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

TestCase LossAt(int64_t step, const char* number) {
  TestCase t;
  t.evidence.updates = t.evidence.loss_finite = 400;
  t.evidence.first_step = 0;
  t.evidence.last_step = 400;
  Finding& loss = t.Find(34, Family::kLoss, Severity::kWarning);
  loss.opened_step = step;
  loss.numbers = {{number, 2.4, ""}};
  return t;
}

TEST(WeightsLostTest, IsNoTrainingThatDiverges) {
  const auto cause = [](const TestCase& t) { return t.Verdict().causes[0]; };
  EXPECT_EQ(cause(LossAt(150, "anew")).cause, Cause::kWeightsLost);
  EXPECT_EQ(cause(LossAt(150, "peak")).cause, Cause::kDivergence);
  // Its gradients come with it. Those that rose before led there.
  TestCase t = LossAt(150, "anew");
  t.Find(27, Family::kGradient, Severity::kWarning).opened_step = 150;
  EXPECT_EQ(t.Verdict().causes.size(), 1u);
  EXPECT_EQ(cause(t).cause, Cause::kWeightsLost);
  t.findings[1].opened_step = 120;
  EXPECT_EQ(cause(t).cause, Cause::kDivergence);
  // Nor do fresh weights settle far below where they began.
  t.findings[1].opened_step = 150;
  t.findings[0].numbers.push_back({"settles", 1, ""});
  EXPECT_EQ(cause(t).cause, Cause::kDivergence);
  // A restart is one whatever was before.
  t.findings[0].numbers[0].name = "loss_before_restart";
  EXPECT_EQ(cause(t).cause, Cause::kWeightsLost);
}

TEST(WeightsLostTest, ALossThatNoBatchMovesIsToldSinceItRose) {
  const auto told = [](int64_t since) {
    TestCase t = LossAt(150, "peak");
    t.evidence.frozen = FrozenLoss{87.3365, since};
    return t.Verdict().causes[0].evidence.size();
  };
  EXPECT_EQ(told(160), 1u);
  EXPECT_EQ(told(100), 0u) << "it stood so before";
}

TEST(WeightsLostTest, GradientsThatAddUpSayMoreThanALossThatRises) {
  TestCase t = LossAt(150, "peak");
  Finding& norm = t.Find(27, Family::kGradient, Severity::kWarning);
  norm.opened_step = 1;
  norm.numbers = {{"grown_from", 0.5, ""}};
  EXPECT_EQ(t.Verdict().causes[0].quoted_rule, RuleId::kGnormSpike);
  t.findings[0].severity = Severity::kCritical;
  EXPECT_EQ(t.Verdict().causes[0].quoted_rule, RuleId::kLossSpike);
}

TEST(WeightsLostTest, OverflowsWithoutEndCameBeforeTheNan) {
  TestCase t;
  t.evidence.loss_finite_while_overflow = 20;
  t.evidence.loss_finite = t.evidence.loss_nonfinite = 100;
  t.evidence.first_nonfinite_loss_step = 120;
  Finding& loss = t.Find(15, Family::kLoss, Severity::kCritical);
  loss.opened_step = 120;
  loss.numbers = {{"streak", 100, "records"}};
  EXPECT_EQ(t.Verdict().causes[0].step, 120);
  t.Find(5, Family::kScale, Severity::kCritical).opened_step = 90;
  const Diagnosis with = t.Verdict();
  EXPECT_EQ(with.causes[0].cause, Cause::kNanFromForward);
  EXPECT_EQ(with.causes[0].step, 90);
}

}  // namespace
}  // namespace nanwatch
