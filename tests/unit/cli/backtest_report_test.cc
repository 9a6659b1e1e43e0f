#include <gmock/gmock.h>

#include "cli/backtest.h"

namespace nanwatch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ToldIncident Told(int rule) {
  ToldIncident told;
  told.run.run_id = "r";
  told.incident.rule = RuleIdOf(rule);
  told.incident.worst = Severity::kWarning;
  told.incident.opened_step = told.told_step = 40;
  return told;
}

BacktestedFile Recording(std::string path, double after) {
  BacktestedFile file;
  file.path = std::move(path);
  file.outcome.changes = {{"overflow_streak", "warning", 5, after}};
  return file;
}

std::string Text(const std::vector<BacktestedFile>& files) {
  Style wide;
  wide.columns = 200;
  return BacktestText({}, files, wide);
}

TEST(BacktestText, WhatHoldsForAllRecordingsIsSaidOnce) {
  const std::string same =
      Text({Recording("a", 3), Recording("b", 3), Recording("c", 3)});
  EXPECT_THAT(same, HasSubstr("All 3 recordings: overflow_streak.warning 3 "
                              "instead of 5.\n"));
  EXPECT_THAT(same, Not(HasSubstr("a:")));
  const std::string some =
      Text({Recording("a", 3), Recording("b", 9), Recording("c", 3)});
  EXPECT_THAT(some, HasSubstr("a, c: overflow_streak.warning 3"));
  EXPECT_THAT(some, HasSubstr("b: overflow_streak.warning 9"));
  EXPECT_THAT(Text({Recording("a", 3)}),
              HasSubstr("a: overflow_streak.warning 3"));
}

TEST(BacktestText, AnIncidentOfAnotherNameIsCounted) {
  BacktestedFile file = Recording("a", 3);
  file.outcome.runs.emplace_back().key.run_id = "r";
  file.outcome.before = {Told(5)};
  file.outcome.after = {Told(4)};
  EXPECT_THAT(Text({file}),
              HasSubstr("0 the same, 0 appear, 0 vanish, 0 earlier, 0 later, 0 "
                        "of another severity, 1 changed otherwise"));
}

}  // namespace
}  // namespace nanwatch
