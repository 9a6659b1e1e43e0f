#include "alert/transition.h"

#include <gmock/gmock.h>

#include "tests/unit/alert/book_fixture.h"

namespace nanwatch {
namespace {

TEST(TransitionTest, FiresAtOnceAndResolvesAfterTheHold) {
  const AlertPolicy policy;
  AlertPhase phase = NewPhase(At(0));
  EXPECT_EQ(Move(policy, At(0), true, &phase), AlertChange::kFired);
  EXPECT_EQ(Move(policy, At(1), false, &phase), AlertChange::kNone);
  EXPECT_EQ(NextTimer(phase), At(45));
  EXPECT_EQ(Move(policy, At(44), false, &phase), AlertChange::kNone);
  EXPECT_EQ(Move(policy, At(45), false, &phase), AlertChange::kResolved);
  EXPECT_EQ(NextTimer(phase), std::nullopt);
}

TEST(TransitionTest, FlappingMustLastBeforeItFiresAgain) {
  const AlertPolicy policy;
  AlertPhase phase = NewPhase(At(0));
  Move(policy, At(0), true, &phase);
  int64_t t = 0;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Move(policy, At(t += 60), false, &phase), AlertChange::kResolved);
    EXPECT_EQ(Move(policy, At(t += 1), true, &phase), AlertChange::kReopened);
  }
  EXPECT_EQ(Move(policy, At(t += 60), false, &phase), AlertChange::kResolved);
  EXPECT_EQ(Move(policy, At(t += 1), true, &phase), AlertChange::kNone);
  EXPECT_EQ(phase.state, AlertState::kPending);
  EXPECT_EQ(Move(policy, At(t + 44), true, &phase), AlertChange::kNone);
  EXPECT_EQ(Move(policy, At(t + 45), true, &phase), AlertChange::kReopened);
}

TEST(TransitionTest, PendingThatGoesIsForgotten) {
  const AlertPolicy policy;
  AlertPhase phase = NewPhase(At(0));
  EXPECT_EQ(Move(policy, At(0), false, &phase), AlertChange::kForgotten);
}

// Every sequence of present and absent, at steps of 1 s, 20 s, 50 s and
// 16 min.
void Walk(const AlertPhase& before, Time now, Time fired, int depth,
          int64_t* moves) {
  const AlertPolicy policy;
  if (depth == 0) return;
  for (const int64_t seconds : {1, 20, 50, 960}) {
    for (const bool present : {false, true}) {
      const Time t = now + std::chrono::seconds(seconds);
      AlertPhase phase = before;
      ++*moves;
      const AlertChange change = Move(policy, t, present, &phase);
      if (change == AlertChange::kForgotten) {
        ASSERT_FALSE(before.fired_once);
        continue;
      }
      if (change == AlertChange::kResolved) {
        ASSERT_EQ(before.state, AlertState::kFiring);
        ASSERT_GE(t - fired, policy.hold);
      }
      if (phase.state == AlertState::kResolved) {
        ASSERT_TRUE(phase.fired_once);
        ASSERT_FALSE(phase.present);
      }
      const bool fires =
          change == AlertChange::kFired || change == AlertChange::kReopened;
      if (fires) {
        ASSERT_TRUE(present);
        ASSERT_EQ(phase.due, t + policy.hold);
      }
      Walk(phase, t, fires ? t : fired, depth - 1, moves);
    }
  }
}

TEST(TransitionTest, NothingResolvesThatNeverFiredAndTheHoldIsKept) {
  int64_t moves = 0;
  Walk(NewPhase(At(0)), At(0), Time{}, 7, &moves);
  EXPECT_GT(moves, 1'000'000);
}

}  // namespace
}  // namespace nanwatch
