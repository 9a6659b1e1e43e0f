// A wall clock that people and NTP set.

#include "base/clock.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Time kStart{seconds(1'700'000'000)};

class ClockTest : public testing::Test {
 protected:
  ClockTest() { clock_.Now(); }
  ManualClock wall_{kStart};
  MonotonicClock clock_{wall_};
};

TEST_F(ClockTest, TimeThatPassesIsNoJump) {
  wall_.Advance(hours(30));
  EXPECT_EQ(clock_.Now(), kStart + hours(30));
  EXPECT_FALSE(clock_.TakeJump());
  EXPECT_EQ(clock_.jumps(), 0u);
}

TEST_F(ClockTest, AJumpForwardSaysFromWhere) {
  wall_.Advance(seconds(7));
  wall_.Set(kStart + hours(24));
  EXPECT_EQ(clock_.Now(), kStart + hours(24));
  const auto jump = clock_.TakeJump();
  ASSERT_TRUE(jump);
  EXPECT_EQ(jump->from, kStart + seconds(7));
  EXPECT_EQ(jump->by, hours(24) - seconds(7));
  EXPECT_FALSE(clock_.TakeJump());
  EXPECT_EQ(clock_.jumps(), 1u);
}

TEST_F(ClockTest, ASmallStepIsLivedThrough) {
  wall_.Set(kStart + seconds(9));
  EXPECT_EQ(clock_.Now(), kStart + seconds(9));
  EXPECT_FALSE(clock_.TakeJump());
}

TEST_F(ClockTest, SetBackItNeitherFallsNorStands) {
  wall_.Set(kStart - minutes(1));
  EXPECT_EQ(clock_.Now(), kStart);
  EXPECT_EQ(clock_.ahead(), minutes(1));
  wall_.Advance(minutes(8));
  EXPECT_EQ(clock_.Now(), kStart + minutes(7) + seconds(30));
  EXPECT_EQ(clock_.ahead(), seconds(30));
  wall_.Advance(minutes(8));
  clock_.Now();
  EXPECT_EQ(clock_.ahead(), Duration(0));
  wall_.Advance(minutes(1));
  EXPECT_EQ(clock_.Now(), kStart + minutes(16));
  ASSERT_TRUE(clock_.TakeJump());
  EXPECT_EQ(clock_.jumps(), 1u);
}

}  // namespace
}  // namespace nanwatch
