#include "cli/check_report.h"

#include <gmock/gmock.h>

#include <memory>

namespace nanwatch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CheckedLog WithIncident(Severity now) {
  auto view = std::make_shared<RunView>();
  Incident& incident = view->incidents.emplace_back();
  incident.rule = RuleId::kOverflowStreak;
  incident.worst = Severity::kCritical;
  incident.severity = now;
  incident.opened_step = 12;
  CheckedLog log;
  log.path = "a.log";
  log.verdict.records = log.verdict.updates = 60;
  log.verdict.steps = 60;
  log.verdict.worst = Severity::kCritical;
  log.verdict.at_end = now;
  log.verdict.attempts.push_back(std::move(view));
  return log;
}

TEST(VerdictLine, WhatIsOnlyANoteByNowHasEased) {
  EXPECT_THAT(VerdictLine(WithIncident(Severity::kCritical), Style()),
              HasSubstr("overflow_streak from step 12 to the end"));
  EXPECT_THAT(VerdictLine(WithIncident(Severity::kInfo), Style()),
              HasSubstr("overflow_streak from step 12, eased"));
}

TEST(LogReport, WhatIsOnlyANoteByNowHasEased) {
  EXPECT_THAT(LogReport(WithIncident(Severity::kCritical), Style()),
              HasSubstr("step 12 to the end"));
  const std::string eased = LogReport(WithIncident(Severity::kInfo), Style());
  EXPECT_THAT(eased, HasSubstr("step 12, eased at the end"));
  EXPECT_THAT(eased, Not(HasSubstr("to the end")));
}

TEST(LogReport, WhatCameBackIsSaid) {
  CheckedLog log = WithIncident(Severity::kCritical);
  auto view = std::make_shared<RunView>(*log.verdict.attempts[0]);
  view->incidents[0].reopened = 4;
  log.verdict.attempts[0] = view;
  EXPECT_THAT(LogReport(log, Style()),
              HasSubstr("to the end; it came back 4 times"));
}

TEST(LogReport, StepsThatAreNotShownAreNotClaimed) {
  CheckedLog log = WithIncident(Severity::kInfo);
  auto healthy = std::make_shared<RunView>();
  healthy->diagnosis.condition = Condition::kHealthy;
  log.verdict.attempts[0] = std::move(healthy);
  log.verdict.worst = Severity::kNone;
  log.verdict.steps_between = true;
  EXPECT_THAT(VerdictLine(log, Style()), HasSubstr(": 60 recorded steps"));
  EXPECT_THAT(LogReport(log, Style()), HasSubstr("60 recorded updates"));
}

TEST(LogReport, AnAttemptOfWhichThereIsNothingToSayHasNoHeading) {
  CheckedLog log = WithIncident(Severity::kCritical);
  auto calm = std::make_shared<RunView>();
  // What a few overflows are, where nobody was alerted.
  calm->diagnosis.causes.emplace_back().cause = Cause::kRangeOverflow;
  calm->key.attempt = 1;
  log.verdict.attempts.push_back(std::move(calm));
  const std::string text = LogReport(log, Style());
  EXPECT_THAT(text, HasSubstr("Attempt 1 of 2"));
  EXPECT_THAT(text, Not(HasSubstr("Attempt 2 of 2")));
}

TEST(StepPicture, DrawsARewardAsItWasPrinted) {
  const auto text = [](bool of_reward) {
    StepPicture picture;
    for (int i = 1; i <= 8; ++i) {
      LogRecord record;
      record.step.step = i;
      const int loss = static_cast<int>(StepField::kLoss);
      record.step.present = 1u << loss;
      record.step.value[loss] = -10.0 * i;
      picture.Add(record);
    }
    if (of_reward) picture.CallLoss("Reward", true);
    return picture.Text(-1, "", Style());
  };
  EXPECT_THAT(text(true), HasSubstr("Reward\n         80"));
  EXPECT_THAT(text(false), HasSubstr("Loss\n        -10"));
}

}  // namespace
}  // namespace nanwatch
