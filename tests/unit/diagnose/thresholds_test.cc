// A threshold has one home, its RuleSpec: who configures the rule sees the
// diagnosis follow.

#include <gmock/gmock.h>

#include <algorithm>
#include <string_view>

#include "detect/all_rules.h"
#include "tests/unit/diagnose/case_fixture.h"

namespace nanwatch {
namespace {

RulesInForce With(RuleId rule, std::string_view threshold, double value) {
  RulesInForce rules = DefaultRules();
  const RuleSpec& spec = *FindRule(rule);
  for (size_t i = 0; i < spec.thresholds.size(); ++i) {
    if (spec.thresholds[i].name != threshold) continue;
    rules.rules.at(std::string(spec.name)).thresholds[i] = value;
    return rules;
  }
  ADD_FAILURE() << spec.name << " has no threshold " << threshold;
  return rules;
}

bool HasCause(const TestCase& t, const RulesInForce& rules, Cause cause) {
  const RuleTables tables(rules);
  const Diagnosis diagnosis =
      Diagnose(t.run, t.evidence, t.findings, tables.in_force());
  return std::any_of(
      diagnosis.causes.begin(), diagnosis.causes.end(),
      [&](const CauseVerdict& verdict) { return verdict.cause == cause; });
}

// The scale fell to a 512th of what worked, and overflows go on.
TestCase Fallen() {
  TestCase t;
  RunEvidence& e = t.evidence;
  e.updates = e.updates_last_50 = 50;
  e.overflows = e.overflows_last_50 = 20;
  e.scaler_dynamic = true;
  e.scale_max = e.scale_worked = 65536;
  e.scale_now = e.scale_min = 128;
  e.first_overflow_step = 2;
  e.last_overflow_step = e.last_step = 49;
  e.first_good_step = 0;
  t.Find(4, Family::kScale, Severity::kWarning);
  return t;
}

TEST(ThresholdsTest, ADeepFallIsWhatTheRuleOnFallsSays) {
  constexpr Cause kCollapse = Cause::kCollapseWithUnderflow;
  EXPECT_TRUE(HasCause(Fallen(), DefaultRules(), kCollapse));
  EXPECT_FALSE(HasCause(Fallen(),
                        With(RuleId::kScaleCollapse, "critical_ratio", 1024),
                        kCollapse));
}

TEST(ThresholdsTest, VanishingGradientsAreWhatTheRuleOnUnderflowSays) {
  TestCase t = Fallen();
  t.evidence.underflow_fraction = 0.2;
  const auto grade = [&](const RulesInForce& rules) {
    const RuleTables tables(rules);
    const Diagnosis diagnosis =
        Diagnose(t.run, t.evidence, t.findings, tables.in_force());
    for (const CauseVerdict& verdict : diagnosis.causes) {
      if (verdict.cause == Cause::kCollapseWithUnderflow) return verdict.grade;
    }
    ADD_FAILURE() << "no collapse";
    return EvidenceGrade::kHypothesis;
  };
  EXPECT_EQ(grade(DefaultRules()), EvidenceGrade::kEstablished);
  EXPECT_EQ(grade(With(RuleId::kUnderflowMeasured, "critical", 0.5)),
            EvidenceGrade::kHypothesis);
}

TEST(ThresholdsTest, AScaleFarBelowOneIsWhatTheRuleOnItSays) {
  TestCase t = Fallen();
  t.evidence.good_steps = 30;
  t.evidence.overflow_streak = 1;
  t.evidence.scale_now = t.evidence.scale_min = 0x1p-4;
  t.evidence.overflows_last_50 = 2;
  EXPECT_TRUE(HasCause(t, DefaultRules(), Cause::kRangeOverflow));
  EXPECT_FALSE(HasCause(t, With(RuleId::kScaleBelowOne, "critical_scale", 0.5),
                        Cause::kRangeOverflow));
}

}  // namespace
}  // namespace nanwatch
