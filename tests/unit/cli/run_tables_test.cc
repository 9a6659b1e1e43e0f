#include "cli/run_tables.h"

#include <gmock/gmock.h>

#include <string>

namespace nanwatch {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kHour = int64_t{3600} * 1'000'000;
constexpr int64_t kNow = 1000 * kHour;

v1::RunSummary* Add(v1::ListRunsResponse* runs, const std::string& name,
                    v1::LifeState state, int64_t last) {
  runs->set_now_us(kNow);
  v1::RunSummary* run = runs->add_runs();
  run->set_run_id(name);
  run->set_state(state);
  run->set_last_record_us(last);
  return run;
}

TEST(RunsTable, OfOlderRunsItSaysTheirNumberAndTheOption) {
  v1::ListRunsResponse runs;
  Add(&runs, "ended", v1::LIFE_STATE_CLOSED, kNow - 23 * kHour);
  Add(&runs, "old", v1::LIFE_STATE_CLOSED, kNow - 25 * kHour);
  const std::string text = RunsTable(runs, Style(), false);
  EXPECT_THAT(text, HasSubstr("ended "));
  EXPECT_THAT(text, Not(HasSubstr("old ")));
  EXPECT_THAT(text, HasSubstr("1 run of more than a day ago: nanwatch runs "
                              "--all\n"));
  const std::string all = RunsTable(runs, Style(), true);
  EXPECT_THAT(all, HasSubstr("old "));
  EXPECT_THAT(all, Not(HasSubstr("--all")));
}

TEST(RunsTable, WhatGoesOnIsListedHoweverLongItIsSilent) {
  v1::ListRunsResponse runs;
  Add(&runs, "silent", v1::LIFE_STATE_OPEN, kNow - 100 * kHour);
  Add(&runs, "lost", v1::LIFE_STATE_LOST, kNow - 100 * kHour);
  const std::string text = RunsTable(runs, Style(), false);
  EXPECT_THAT(text, HasSubstr("silent "));
  EXPECT_THAT(text, HasSubstr("lost "));
  EXPECT_THAT(text, Not(HasSubstr("--all")));
}

TEST(RunsTable, WithOlderRunsAloneItSaysSo) {
  v1::ListRunsResponse runs;
  Add(&runs, "old", v1::LIFE_STATE_CLOSED, kNow - 25 * kHour);
  EXPECT_EQ(RunsTable(runs, Style(), false),
            "No run of the last day. 1 run of more than a day ago: nanwatch "
            "runs --all\n");
}

TEST(RunsTable, WhatARunWasIsExplainedWhereItStands) {
  v1::ListRunsResponse runs;
  Add(&runs, "one", v1::LIFE_STATE_CLOSED, kNow)->set_health("critical");
  EXPECT_THAT(RunsTable(runs, Style(), false),
              Not(HasSubstr("nanwatch diagnose")));
  Add(&runs, "two", v1::LIFE_STATE_CLOSED, kNow)->set_health("was critical");
  EXPECT_THAT(RunsTable(runs, Style(), false),
              HasSubstr("How such a run stood at its end: nanwatch diagnose"));
}

}  // namespace
}  // namespace nanwatch
