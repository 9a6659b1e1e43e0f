#include "cli/standing.h"

#include <gmock/gmock.h>

#include <memory>

#include "cli/commands.h"

namespace nanwatch {
namespace {

CheckedLog LogOf(std::initializer_list<Condition> attempts, Severity worst) {
  CheckedLog log;
  log.verdict.worst = log.verdict.stands = worst;
  for (const Condition condition : attempts) {
    auto view = std::make_shared<RunView>();
    view->diagnosis.condition = condition;
    view->key.attempt = static_cast<int32_t>(log.verdict.attempts.size());
    log.verdict.attempts.push_back(std::move(view));
  }
  return log;
}

TEST(StandingTest, OnlyWhatIsHealthyExitsWithNothing) {
  for (int i = 0; i <= static_cast<int>(Last(Condition())); ++i) {
    for (const Severity worst : {Severity::kNone, Severity::kInfo,
                                 Severity::kWarning, Severity::kCritical}) {
      const LogStanding standing =
          StandingOf(LogOf({static_cast<Condition>(i)}, worst));
      const bool calm = IsHealthy(standing.condition) ||
                        standing.condition == Condition::kNothingApplied;
      EXPECT_EQ(standing.status == 0, calm && worst < Severity::kWarning);
      EXPECT_EQ(standing.status == 2, worst == Severity::kCritical);
      EXPECT_EQ(standing.word == "healthy" || standing.word == "info",
                IsHealthy(standing.condition));
    }
  }
}

TEST(StandingTest, ATroubleOfAnAttemptBeforeIsOver) {
  const LogStanding standing = StandingOf(
      LogOf({Condition::kTrouble, Condition::kHealthy}, Severity::kCritical));
  EXPECT_EQ(standing.condition, Condition::kHealed);
  EXPECT_EQ(standing.status, 2);
  EXPECT_EQ(standing.word, "critical");
}

TEST(StandingTest, WhatWasNotReadIsNotHealthy) {
  CheckedLog log = LogOf({Condition::kHealthy}, Severity::kNone);
  log.verdict.cut = "the rest is damaged";
  EXPECT_EQ(StandingOf(log).condition, Condition::kNotRead);
  EXPECT_EQ(StandingOf(log).status, 1);
  log.nothing = "it is empty.";
  EXPECT_EQ(StandingOf(log).status, kExitFailed);
  EXPECT_EQ(StandingOf(log).word, "nothing");
}

}  // namespace
}  // namespace nanwatch
