#include "app/log_judge.h"

#include <gmock/gmock.h>

#include <memory>

namespace nanwatch {
namespace {

// Of a log whose program gave up while `severities` were firing.
LogVerdict GaveUp(std::initializer_list<Severity> severities) {
  auto view = std::make_shared<RunView>();
  for (const Severity severity : severities) {
    Incident& incident = view->incidents.emplace_back();
    incident.state = AlertState::kFiring;
    incident.severity = incident.worst = severity;
  }
  LogVerdict verdict;
  verdict.records = 17;
  verdict.worst = verdict.at_end = Severity::kWarning;
  verdict.stopped = LogStopped{18, "loss scale already at minimum"};
  verdict.attempts.push_back(std::move(view));
  return verdict;
}

TEST(JudgeStopTest, WhatItGaveUpOverIsAsBadAsTheVerdict) {
  LogVerdict verdict =
      GaveUp({Severity::kInfo, Severity::kWarning, Severity::kWarning});
  JudgeStop(/*went_on=*/false, &verdict);
  EXPECT_EQ(verdict.worst, Severity::kCritical);
  EXPECT_EQ(verdict.at_end, Severity::kCritical);
  const RunView& view = *verdict.attempts[0];
  EXPECT_EQ(view.severity, Severity::kCritical);
  EXPECT_EQ(view.incidents[0].severity, Severity::kInfo);
  EXPECT_EQ(view.incidents[1].severity, Severity::kCritical);
  EXPECT_EQ(view.incidents[1].worst, Severity::kCritical);
  EXPECT_EQ(view.incidents[2].severity, Severity::kWarning);
}

TEST(JudgeStopTest, WhatIsCriticalAlreadyStaysTheOnlyOne) {
  LogVerdict verdict = GaveUp({Severity::kWarning, Severity::kCritical});
  JudgeStop(/*went_on=*/false, &verdict);
  EXPECT_EQ(verdict.attempts[0]->incidents[0].severity, Severity::kWarning);
}

TEST(JudgeStopTest, AProgramThatWentOnWasInNoSuchTroubleAtTheEnd) {
  LogVerdict verdict = GaveUp({Severity::kWarning});
  JudgeStop(/*went_on=*/true, &verdict);
  EXPECT_EQ(verdict.worst, Severity::kCritical);
  EXPECT_EQ(verdict.at_end, Severity::kWarning);
  EXPECT_EQ(verdict.attempts[0]->incidents[0].severity, Severity::kWarning);
}

}  // namespace
}  // namespace nanwatch
