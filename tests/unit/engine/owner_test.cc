// Whose a run is, and who may open it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

using testing::HasSubstr;

const Caller kAnn{"ann", "uid 1000", false};
const Caller kBob{"bob", "uid 1001", false};
const Caller kRoot{"root", "uid 0", true};

OpenSessionMessage Opening(int32_t rank = 0) {
  OpenSessionMessage open;
  open.run_id = "job";
  open.run.world_size = 2;
  open.rank.rank = rank;
  return open;
}

Admitted Try(Driver& driver, const Caller& caller, SessionId session,
             OpenSessionMessage open = Opening()) {
  open.session = session;
  // As rpc/ has it.
  open.run.owner = caller.name;
  Admitted admitted = driver.Send(
      {.session = session, .body = std::move(open), .caller = caller});
  if (admitted.opened) driver.last_opened = *admitted.opened;
  return admitted;
}

bool Opens(Driver& driver, const Caller& caller, SessionId session,
           int32_t rank = 0) {
  return !Try(driver, caller, session, Opening(rank)).refused;
}

// As its first message.
Admitted Close(Driver& driver, const Caller& caller, SessionId session) {
  return driver.Send({.session = session,
                      .sequence = 1,
                      .body = CloseMessage(),
                      .caller = caller});
}

TEST(OwnerTest, WhoOpensARunOwnsIt) {
  Driver driver;
  EXPECT_TRUE(Opens(driver, kAnn, 1));
  EXPECT_EQ(driver.Run("job")->description.owner, "ann");
  EXPECT_TRUE(Opens(driver, kAnn, 2, 1));
  EXPECT_EQ(driver.Run("job")->ranks_open, 2u);
}

TEST(OwnerTest, AnotherOpensNoRank) {
  Driver driver;
  Opens(driver, kAnn, 1);
  for (const Caller& other : {kBob, Caller()}) {
    const Admitted refused = Try(driver, other, 90, Opening(1));
    ASSERT_TRUE(refused.refused);
    EXPECT_EQ(refused.refused->reason, RefusalReason::kForbidden);
    EXPECT_THAT(refused.refused->message, HasSubstr("belongs to ann"));
    EXPECT_TRUE(refused.events.empty());
  }
  EXPECT_EQ(driver.Run("job")->ranks_open, 1u);
}

TEST(OwnerTest, AnotherSaysNothingInASession) {
  Driver driver;
  Opens(driver, kAnn, 1);
  for (const Caller& other : {kBob, Caller()}) {
    const Admitted refused = Close(driver, other, 1);
    ASSERT_TRUE(refused.refused);
    EXPECT_EQ(refused.refused->reason, RefusalReason::kForbidden);
    EXPECT_TRUE(refused.events.empty());
  }
  EXPECT_EQ(driver.Run("job")->state, LifeState::kOpen);
  EXPECT_FALSE(Close(driver, kAnn, 1).refused);
  EXPECT_EQ(driver.Run("job")->state, LifeState::kClosed);
}

TEST(OwnerTest, AnotherTakesNoSessionOverAndNoNextAttempt) {
  Driver driver;
  Opens(driver, kAnn, 1);
  EXPECT_FALSE(Opens(driver, kBob, 1));
  driver.Lose(1);
  EXPECT_FALSE(Opens(driver, kBob, 1));
  EXPECT_FALSE(Opens(driver, kBob, 90));
  OpenSessionMessage later = Opening();
  later.attempt = 7;
  EXPECT_TRUE(Try(driver, kBob, 90, later).refused);
  EXPECT_TRUE(Opens(driver, kAnn, 1));
}

TEST(OwnerTest, AnAdminGoesOnWithItAndItStaysTheOwners) {
  Driver driver;
  Opens(driver, kAnn, 1);
  Close(driver, kAnn, 1);
  EXPECT_TRUE(Opens(driver, kRoot, 2));
  EXPECT_EQ(driver.last_opened.run.attempt, 1);
  EXPECT_EQ(driver.Run("job", 1)->description.owner, "ann");
  EXPECT_TRUE(Opens(driver, kAnn, 90, 1));
}

TEST(OwnerTest, WithoutAnOwnerItIsEverybodysAndTheNextAttemptIsTheirs) {
  Driver driver;
  Opens(driver, Caller(), 1);
  EXPECT_TRUE(Opens(driver, kBob, 2, 1));
  EXPECT_FALSE(Close(driver, kBob, 2).refused);
  EXPECT_EQ(driver.Run("job")->description.owner, "");
  EXPECT_TRUE(Opens(driver, kAnn, 3, 1));
  EXPECT_EQ(driver.last_opened.run.attempt, 1);
  EXPECT_EQ(driver.Run("job", 1)->description.owner, "ann");
  EXPECT_FALSE(Opens(driver, kBob, 90));
}

TEST(OwnerTest, TheNextAttemptOfARunOfHistoryIsItsOwners) {
  Driver driver;
  driver.engine().KnowAttempt({"job", 2}, "ann");
  driver.engine().KnowAttempt({"job", 1}, "");
  EXPECT_FALSE(Opens(driver, kBob, 90));
  EXPECT_TRUE(Opens(driver, kAnn, 1));
  EXPECT_EQ(driver.last_opened.run.attempt, 3);
}

TEST(OwnerTest, ACheckpointKnowsTheOwner) {
  Driver driver;
  Opens(driver, kAnn, 1);
  const auto checkpoint = driver.engine().Checkpoint({"job", 0});
  ASSERT_TRUE(checkpoint);
  Driver other;
  other.Apply(*checkpoint);
  EXPECT_EQ(other.Run("job")->description.owner, "ann");
  EXPECT_FALSE(Opens(other, kBob, 90, 1));
}

TEST(OwnerTest, WhoHadNoAccountIsKnownByNumber) {
  Driver driver;
  Opens(driver, {"uid 1000", "uid 1000", false}, 1);
  EXPECT_TRUE(Opens(driver, kAnn, 90, 1));
}

}  // namespace
}  // namespace nanwatch
