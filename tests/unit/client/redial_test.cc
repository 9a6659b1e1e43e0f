#include "client_lib/src/redial.h"

#include <gtest/gtest.h>

namespace nanwatch_client {
namespace {

using std::chrono::milliseconds;

const SteadyTime kNow{std::chrono::hours(1)};

TEST(RedialTest, TriesEachAddressAndThenPauses) {
  Redial redial({"a", "b"}, 1);
  EXPECT_EQ(redial.address(), "a");
  EXPECT_TRUE(redial.Due(kNow));
  EXPECT_FALSE(redial.Next(kNow, /*was_open=*/false, /*hurry=*/false));
  EXPECT_EQ(redial.address(), "b");
  EXPECT_TRUE(redial.Due(kNow)) << "the next one at once";
  EXPECT_TRUE(redial.Next(kNow, false, false));
  EXPECT_EQ(redial.address(), "a");
  EXPECT_FALSE(redial.Due(kNow + milliseconds(49)));
  EXPECT_TRUE(redial.Due(kNow + milliseconds(150)));
}

TEST(RedialTest, ABrokenStreamBeginsWithTheBestAddress) {
  Redial redial({"a", "b"}, 1);
  redial.Next(kNow, false, false);
  EXPECT_TRUE(redial.Next(kNow, /*was_open=*/true, false));
  EXPECT_EQ(redial.address(), "a");
}

TEST(RedialTest, PausesDoubleUpToTenSecondsUntilSomethingWasHeard) {
  Redial redial({"a"}, 1);
  for (int round = 0; round < 20; ++round) redial.Next(kNow, false, false);
  EXPECT_GE(redial.not_before(), kNow + milliseconds(5000));
  EXPECT_LE(redial.not_before(), kNow + milliseconds(15000));
  redial.Reset();
  const SteadyTime later = kNow + std::chrono::minutes(1);
  redial.Next(later, false, false);
  EXPECT_LE(redial.not_before(), later + milliseconds(150));
}

TEST(RedialTest, WhoLeavesWaitsShortly) {
  Redial redial({"a"}, 1);
  for (int round = 0; round < 20; ++round) redial.Next(kNow, false, false);
  const SteadyTime later = kNow + std::chrono::minutes(1);
  redial.Next(later, false, /*hurry=*/true);
  EXPECT_LE(redial.not_before(), later + milliseconds(150));
}

TEST(RedialTest, APauseThatTheDaemonAskedForHolds) {
  Redial redial({"a"}, 1);
  redial.WaitUntil(kNow + std::chrono::seconds(30));
  redial.Next(kNow, true, true);
  EXPECT_EQ(redial.not_before(), kNow + std::chrono::seconds(30));
}

}  // namespace
}  // namespace nanwatch_client
