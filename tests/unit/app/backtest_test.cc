#include "app/backtest.h"

#include <gmock/gmock.h>

#include "detect/all_rules.h"
#include "tests/unit/app/recorded_events.h"

namespace nanwatch {
namespace {

const RunKey kRun{"job", 0};

Time At(int64_t step) {
  return Time(std::chrono::seconds(1'000'000'000 + step));
}

RulesInForce With(const char* rule, const char* threshold, double value) {
  RulesInForce rules = DefaultRules();
  const RuleSpec* spec = FindRule(rule);
  for (size_t i = 0; i < spec->thresholds.size(); ++i) {
    if (spec->thresholds[i].name == threshold) {
      rules.rules[rule].thresholds[i] = value;
    }
  }
  return rules;
}

// 300 good updates, then so many overflows in a row, then good ones again.
void Feed(Backtest* backtest, int overflows, int good_after,
          const RulesInForce& recorded = DefaultRules()) {
  RulesLoaded loaded;
  loaded.rules = recorded;
  backtest->Take(At(0), OfRun({}, loaded));
  RunOpened opened;
  opened.description.scaler.kind = ScalingKind::kDynamic;
  opened.description.scaler.name = "keras";
  backtest->Take(At(0), OfRun(kRun, opened));
  backtest->Take(At(0), RankOpens(kRun));
  double scale = 65536;
  for (int64_t step = 0; step < 300 + overflows + good_after; ++step) {
    const bool overflow = step >= 300 && step < 300 + overflows;
    backtest->Take(At(step), Rows().Add(step, scale, overflow).Of(kRun));
    if (overflow) scale /= 2;
  }
}

const ToldIncident* Find(const std::vector<ToldIncident>& incidents,
                         std::string_view rule) {
  for (const ToldIncident& told : incidents) {
    for (const Finding& finding : told.incident.findings) {
      if (FindRule(finding.rule)->name == rule) return &told;
    }
  }
  return nullptr;
}

TEST(BacktestTest, TheSameThresholdsSayTheSame) {
  Backtest backtest(DefaultRules());
  Feed(&backtest, 12, 100);
  const BacktestOutcome outcome = backtest.Finish();
  EXPECT_TRUE(outcome.changes.empty());
  ASSERT_FALSE(outcome.before.empty());
  ASSERT_EQ(outcome.before.size(), outcome.after.size());
  for (size_t i = 0; i < outcome.before.size(); ++i) {
    EXPECT_EQ(outcome.before[i].incident.id, outcome.after[i].incident.id);
    EXPECT_EQ(outcome.before[i].incident.worst,
              outcome.after[i].incident.worst);
    EXPECT_EQ(outcome.before[i].told_step, outcome.after[i].told_step);
  }
  EXPECT_EQ(outcome.steps, 412u);
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_EQ(outcome.runs[0].updates, 412u);
  EXPECT_FALSE(outcome.runs[0].lost_from);
}

TEST(BacktestTest, AThresholdMovesTheStepAtWhichItIsTold) {
  Backtest backtest(With("overflow_streak", "warning", 3));
  Feed(&backtest, 12, 100);
  const BacktestOutcome outcome = backtest.Finish();
  ASSERT_EQ(outcome.changes.size(), 1u);
  EXPECT_EQ(outcome.changes[0].rule, "overflow_streak");
  EXPECT_EQ(outcome.changes[0].threshold, "warning");
  EXPECT_EQ(outcome.changes[0].after, 3);
  const ToldIncident* before = Find(outcome.before, "overflow_streak");
  const ToldIncident* after = Find(outcome.after, "overflow_streak");
  ASSERT_NE(before, nullptr);
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(after->told_step, 302);
  EXPECT_EQ(before->told_step - after->told_step,
            outcome.changes[0].before - 3);
}

TEST(BacktestTest, WhatWasRecordedIsTheOtherSide) {
  Backtest backtest(DefaultRules());
  Feed(&backtest, 12, 100, With("overflow_streak", "warning", 3));
  const BacktestOutcome outcome = backtest.Finish();
  ASSERT_EQ(outcome.changes.size(), 1u);
  EXPECT_EQ(outcome.changes[0].before, 3);
  EXPECT_EQ(Find(outcome.before, "overflow_streak")->told_step, 302);
}

TEST(BacktestTest, ARuleThatIsOffSaysNothing) {
  RulesInForce rules = DefaultRules();
  for (auto& [name, settings] : rules.rules) settings.enabled = false;
  Backtest backtest(rules);
  Feed(&backtest, 60, 0);
  const BacktestOutcome outcome = backtest.Finish();
  EXPECT_FALSE(outcome.before.empty());
  EXPECT_TRUE(outcome.after.empty());
  EXPECT_EQ(outcome.changes.size(), AllRules().size());
}

TEST(BacktestTest, ARunThatEndsInVainIsLost) {
  Backtest lost(DefaultRules());
  Feed(&lost, 50, 0);
  EXPECT_EQ(lost.Finish().runs[0].lost_from, 300);
  Backtest not_yet(DefaultRules());
  Feed(&not_yet, 49, 0);
  EXPECT_FALSE(not_yet.Finish().runs[0].lost_from);
  Backtest over(DefaultRules());
  Feed(&over, 80, 1);
  EXPECT_FALSE(over.Finish().runs[0].lost_from);
}

}  // namespace
}  // namespace nanwatch
