#include "rpc/quota.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Time kStart = Time(seconds(1000));

TEST(QuotaTest, BeginsWithOneSecondsWorth) {
  Quota quota(1000);
  EXPECT_TRUE(quota.Take(kStart, 600));
  EXPECT_TRUE(quota.Take(kStart, 600));  // the rest, and a debt of 200
  EXPECT_FALSE(quota.Take(kStart, 1));
  EXPECT_EQ(quota.Wait(), milliseconds(200) + Duration(1));
}

TEST(QuotaTest, FillsWithTimeUpToOneSecond) {
  Quota quota(1000);
  quota.Take(kStart, 1000);
  EXPECT_FALSE(quota.Take(kStart, 1));
  EXPECT_TRUE(quota.Take(kStart + milliseconds(10), 5));
  EXPECT_EQ(quota.Wait(), Duration(0));
  EXPECT_TRUE(quota.Take(kStart + seconds(100), 1000));
  EXPECT_FALSE(quota.Take(kStart + seconds(100), 1));
}

TEST(QuotaTest, GivesNothingForAClockThatGoesBack) {
  Quota quota(1000);
  quota.Take(kStart, 1000);
  EXPECT_FALSE(quota.Take(kStart - seconds(5), 1));
}

}  // namespace
}  // namespace nanwatch
