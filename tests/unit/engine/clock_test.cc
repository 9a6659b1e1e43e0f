// Clocks that jump, and silence that lasts.

#include <gmock/gmock.h>

#include <cmath>

#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Duration kYear = hours(24 * 365);

DaemonStarted Jumped(Time from) {
  return {.engine_version = "1", .alive_until = from, .clock_jumped = true};
}

TEST(ClockTest, YearsOfSilenceCostWhatHoursDo) {
  Driver driver;
  for (int i = 0; i < 10; ++i) {
    driver.Steps(driver.Open("job-" + std::to_string(i)), {{.step = 1}});
  }
  driver.Wait(26 * kYear);
  EXPECT_LT(driver.engine().stats().ticks, 10u * 12000);
  EXPECT_THAT(Firing(*driver.Run("job-3")), ElementsAre("stalled"));
}

TEST(ClockTest, WhatIsDueInALongSilenceIsNotOverslept) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Steps(s, {{.step = 1}});
  driver.Wait(hours(24 * 20));
  Annotation mute;
  mute.until = driver.now() + minutes(5);
  driver.Say({"job", 0}, mute);
  driver.Wait(seconds(2));
  EXPECT_TRUE(driver.Run("job")->incidents.at(0).muted);
  driver.Wait(minutes(5));
  EXPECT_FALSE(driver.Run("job")->incidents.at(0).muted);
  driver.Lose(s);
  driver.Wait(minutes(15) + seconds(2));
  EXPECT_THAT(driver.TakeClosing(), ElementsAre(RunKey{"job", 0}));
}

TEST(ClockTest, WhatTheClockSkippedIsNobodysSilence) {
  Driver driver;
  const SessionId s = driver.Open("job");
  const SessionId lost = driver.Open("lost");
  driver.Steps(s, {{.step = 1}});
  driver.Steps(lost, {{.step = 1}});
  driver.Lose(lost);
  driver.Wait(minutes(10));
  driver.Sleep(26 * kYear);
  driver.Say({}, Jumped(driver.alive_until()));
  EXPECT_LT(driver.engine().stats().ticks, 2000u);
  driver.Wait(minutes(4));
  EXPECT_THAT(Firing(*driver.Run("job")), IsEmpty());
  EXPECT_THAT(driver.TakeClosing(), IsEmpty());
  driver.Wait(minutes(1) + seconds(2));
  EXPECT_THAT(driver.TakeClosing(), ElementsAre(RunKey{"lost", 0}));
  driver.Wait(minutes(26));
  EXPECT_THAT(Firing(*driver.Run("job")), ElementsAre("stalled"));
}

TEST(ClockTest, ATimeFromTheFutureIsForgottenWhenADaemonStarts) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Sleep(hours(48));  // the clock is wrong
  driver.Steps(s, {{.step = 1, .loss = 1}, {.step = 2, .loss = NAN}});
  driver.Wait(seconds(2));
  ASSERT_FALSE(driver.Run("job")->incidents.empty());
  driver.Sleep(-hours(48) + seconds(5));  // and right again
  const Time right = driver.now();
  driver.Say({}, DaemonStarted{"1", driver.alive_until()});
  const auto run = driver.Run("job");
  EXPECT_LE(run->last_record, right);
  EXPECT_LE(run->incidents.at(0).opened, right);
  driver.Steps(s, {{.step = 3, .loss = 1}});
  EXPECT_EQ(driver.Run("job")->last_record, right);
  driver.Wait(minutes(31));
  EXPECT_THAT(Firing(*driver.Run("job")), testing::Contains("stalled"));
}

}  // namespace
}  // namespace nanwatch
