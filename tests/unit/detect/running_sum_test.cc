// Losses that are the sum of all so far, and others that grow.

#include "detect/running_sum.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

namespace nanwatch {
namespace {

bool IsSeen(const std::function<double(int)>& loss, int records = 12) {
  RunningSum sum;
  for (int i = 1; i <= records; ++i) sum.Add(loss(i));
  return sum.Seen();
}

TEST(RunningSum, OneThatGrowsByItsFirstIsSeen) {
  // As word2vec's: less is added as the model learns.
  const auto sums = [](int i) { return 13000.0 * i * (1 - 0.02 * i); };
  EXPECT_TRUE(IsSeen(sums));
  EXPECT_TRUE(IsSeen(sums, 4));
  EXPECT_FALSE(IsSeen(sums, 3)) << "few";
  EXPECT_TRUE(IsSeen([&](int i) { return sums(i - 1); })) << "from 0 on";
}

TEST(RunningSum, WhatDivergesAddsMoreAndMore) {
  EXPECT_FALSE(IsSeen([](int i) { return 2.3 * i * i; }));
  RunningSum sum;
  for (int i = 1; i <= 8; ++i) sum.Add(2.3 * i);
  EXPECT_TRUE(sum.Seen());
  sum.Add(100);
  EXPECT_FALSE(sum.Seen());
}

TEST(RunningSum, AMeanThatBeganWithZeroComesToRest) {
  const auto rests = [](double last) {
    RunningSum sum;
    for (int i = 1; i <= 200; ++i) sum.Add(2.3 * (1 - std::pow(0.98, i)));
    EXPECT_TRUE(sum.Seen());
    return sum.Add(last);
  };
  EXPECT_TRUE(rests(2.2));
  EXPECT_FALSE(rests(90)) << "it leaps";
}

TEST(RunningSum, LossesAreNone) {
  EXPECT_FALSE(IsSeen([](int) { return 2.3; }));
  EXPECT_FALSE(IsSeen([](int i) { return 4.0 - 4.0 / (i + 1); })) << "it rests";
  EXPECT_FALSE(IsSeen([](int i) { return 90 + 2.3 * i; })) << "it goes on";
}

}  // namespace
}  // namespace nanwatch
