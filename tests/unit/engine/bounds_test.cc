// What one client may make the engine hold, and what it may claim.

#include <gmock/gmock.h>

#include "model/limits.h"
#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

TEST(BoundsTest, WhatOnlyTheClientSaysWasAcknowledgedIsNoDuplicate) {
  Driver driver;
  OpenSessionMessage open;
  open.session = 9;
  open.run_id = "job";
  open.acked = 41;
  driver.Open(open);
  const Admitted admitted =
      driver.Send({.session = 9,
                   .sequence = 41,
                   .body = StepBatch{Columns({{.step = 1}}, driver.now())}});
  EXPECT_FALSE(admitted.duplicate);
  ASSERT_TRUE(admitted.refused);
  EXPECT_EQ(admitted.refused->reason, RefusalReason::kOutOfSequence);
  EXPECT_EQ(admitted.refused->expected_sequence, 42u);
}

TEST(BoundsTest, OfARunThatBeginsAgainAndAgainTheNewestAttemptsAreHeld) {
  Driver driver;
  const SessionId s = driver.Open("job");
  for (int64_t step = 100; step > 0; --step) {
    driver.Steps(s, {{.step = step}});
  }
  EXPECT_EQ(driver.engine().stats().runs, limits::kAttemptsHeld);
  EXPECT_EQ(driver.Run("job", 0), nullptr);
  const auto newest = driver.Run("job");
  EXPECT_EQ(newest->key.attempt, 99);
  EXPECT_EQ(newest->state, LifeState::kOpen);
  EXPECT_NE(driver.Run("job", 100 - limits::kAttemptsHeld), nullptr);
}

TEST(BoundsTest, WhatRunsSayOfThemselvesHasABudget) {
  Driver driver;
  OpenSessionMessage open;
  open.run.settings["key"] = std::string(limits::kRunBytes / 2, 'x');
  open.run_id = "one";
  const SessionId one = driver.Open(open);
  open.run_id = "two";
  open.session = 77;
  const Admitted refused = driver.Send({.session = 77, .body = open});
  ASSERT_TRUE(refused.refused);
  EXPECT_EQ(refused.refused->limit, "run_bytes");
  driver.Open("small");
  EXPECT_NE(driver.Run("small"), nullptr);
  // It comes back when the run leaves.
  driver.Close(one);
  driver.Wait(std::chrono::hours(2));
  EXPECT_FALSE(driver.Send({.session = 77, .body = open}).refused);
}

}  // namespace
}  // namespace nanwatch
