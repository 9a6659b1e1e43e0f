#include "rpc/quota.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kStart = seconds(1000);

TEST(QuotaTest, BeginsWithOneSecondsWorth) {
  Quota quota(1000);
  EXPECT_EQ(quota.Take(kStart, 600), Duration(0));
  // The rest, and a debt of 200.
  EXPECT_EQ(quota.Take(kStart, 600), milliseconds(200) + Duration(1));
  EXPECT_EQ(quota.Take(kStart, 100), milliseconds(300) + Duration(1));
}

TEST(QuotaTest, FillsWithTimeUpToOneSecond) {
  Quota quota(1000);
  EXPECT_EQ(quota.Take(kStart, 1000), Duration(0));
  EXPECT_GT(quota.Take(kStart, 1), Duration(0));
  EXPECT_EQ(quota.Take(kStart + milliseconds(10), 5), Duration(0));
  EXPECT_EQ(quota.Take(kStart + seconds(100), 1000), Duration(0));
  EXPECT_GT(quota.Take(kStart + seconds(100), 1), Duration(0));
}

TEST(QuotaTest, PaysADebtOfSeveralSeconds) {
  Quota quota(1000);
  EXPECT_EQ(quota.Take(kStart, 4000), seconds(3) + Duration(1));
  EXPECT_EQ(quota.Take(kStart + seconds(1), 0), seconds(2) + Duration(1));
}

TEST(QuotaTest, ARateThatNobodyReachesDoesNotOverflow) {
  Quota quota(int64_t{1} << 50);
  EXPECT_EQ(quota.Take(kStart, 1 << 30), Duration(0));
  EXPECT_EQ(quota.Take(kStart + seconds(5), 1 << 30), Duration(0));
}

TEST(QuotaTest, ALowerRateHoldsAtOnce) {
  Quota quota(1000000);
  quota.SetRate(10);
  EXPECT_EQ(quota.Take(kStart, 20), seconds(1) + Duration(1));
}

}  // namespace
}  // namespace nanwatch
