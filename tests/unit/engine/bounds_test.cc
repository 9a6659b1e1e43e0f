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

OpenSessionMessage RunOf(const std::string& run, int32_t rank = 0) {
  OpenSessionMessage open;
  open.run_id = run;
  open.rank.rank = rank;
  return open;
}

class QuotaTest : public testing::Test {
 protected:
  QuotaTest() {
    quotas_.each.runs = 2;
    quotas_.each.sessions = 3;
    driver_.engine().SetQuotas(quotas_);
  }
  // The limit that was hit; empty: it is open.
  std::string Open(const std::string& run, const std::string& user,
                   int32_t rank = 0) {
    OpenSessionMessage open = RunOf(run, rank);
    open.session = ++session_;
    const Admitted admitted = driver_.Send(
        {.session = open.session, .body = open, .caller = {.name = user}});
    return admitted.refused ? admitted.refused->limit : "";
  }

  Driver driver_;
  UserQuotas quotas_;
  SessionId session_ = 100;
};

TEST_F(QuotaTest, RunsAndRanksCountForTheirOwner) {
  EXPECT_EQ(Open("a", "bob"), "");
  EXPECT_EQ(Open("b", "bob"), "");
  EXPECT_EQ(Open("c", "bob"), "user_runs");
  EXPECT_EQ(Open("c", "ann"), "");
  EXPECT_EQ(Open("d", ""), "");  // callers without a name are one user
  EXPECT_EQ(Open("e", ""), "");
  EXPECT_EQ(Open("f", ""), "user_runs");
  EXPECT_EQ(Open("a", "bob", 1), "");
  EXPECT_EQ(Open("a", "bob", 2), "user_sessions");
  EXPECT_EQ(Open("c", "ann", 1), "");
}

TEST_F(QuotaTest, WhoLeavesMakesRoomAndACheckpointCountsAgain) {
  EXPECT_EQ(Open("a", "bob"), "");
  EXPECT_EQ(Open("b", "bob"), "");
  driver_.Send({.session = session_,
                .sequence = 1,
                .body = CloseMessage{},
                .caller = {.name = "bob"}});
  EXPECT_EQ(Open("c", "bob"), "user_runs");
  driver_.Wait(std::chrono::hours(2));
  EXPECT_EQ(Open("c", "bob"), "");
  // Loaded over what is there, a run counts once.
  const auto checkpoint = driver_.engine().Checkpoint({"a", 0});
  ASSERT_TRUE(checkpoint);
  Effects effects;
  driver_.engine().Apply(driver_.now(), *checkpoint, &effects);
  EXPECT_EQ(Open("d", "bob"), "user_runs");
  Engine other;
  other.SetQuotas(quotas_);
  other.Apply(driver_.now(), *checkpoint, &effects);
  for (const auto& [run, limit] :
       {std::pair("x", ""), std::pair("y", "user_runs")}) {
    OpenSessionMessage open = RunOf(run);
    open.session = ++session_;
    const Admitted admitted = other.Admit(
        driver_.now(),
        {.session = session_, .body = open, .caller = {.name = "bob"}},
        "fresh");
    EXPECT_EQ(admitted.refused ? admitted.refused->limit : "", limit);
    for (const Event& event : admitted.events) {
      other.Apply(driver_.now(), event, &effects);
    }
  }
}

TEST_F(QuotaTest, AnAttemptThatGoesForTheNextOneIsNoRunMore) {
  quotas_.each.runs = limits::kAttemptsHeld;
  driver_.engine().SetQuotas(quotas_);
  const SessionId s = driver_.Open("job");
  for (int64_t step = 100; step > 0; --step) {
    EXPECT_FALSE(driver_.Steps(s, {{.step = step}}).refused) << step;
  }
}

}  // namespace
}  // namespace nanwatch
