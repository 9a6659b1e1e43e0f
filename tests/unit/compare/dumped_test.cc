// Runs of which statistics alone are known, or no order.

#include <gmock/gmock.h>

#include <cmath>

#include "compare/comparison.h"
#include "compare/tensor_statistics.h"
#include "tests/unit/compare/recording.h"

namespace nanwatch {
namespace {

// A healthy run as a dump of statistics has it, without data and losses.
ComparedRun Dumped(double share = 0, uint32_t op = Recording::kFc,
                   Slot slot = Slot::kOutput) {
  Recording recording = Healthy();
  ComparedRun run = recording.run;
  run.steps.clear();
  std::erase_if(run.tensors, [](const ComparedTensor& t) {
    return t.op == Recording::kBatch;
  });
  bool moved = false;
  for (ComparedTensor& tensor : run.tensors) {
    moved = moved || (share != 0 && tensor.op == op && tensor.slot == slot);
    tensor.digest.reset();
    tensor.sketch.reset();
    // Each op makes other numbers.
    const double norm = 4 + tensor.op + (tensor.slot == Slot::kOutput ? .5 : 0);
    tensor.statistics = {.min = -1, .max = 1, .mean = 0.1, .norm = norm};
    if (moved) *tensor.statistics->norm *= 1 + share;
  }
  return run;
}

TEST(DumpedTest, EqualStatisticsAgree) {
  const Comparison c = Compare(Dumped(), Dumped());
  EXPECT_FALSE(c.first);
  EXPECT_FALSE(c.bits);
  EXPECT_GT(c.tensors, 0u);
  EXPECT_EQ(c.by_statistics, c.tensors);
}

TEST(DumpedTest, TheFirstOpWithOtherStatisticsIsNamed) {
  const Comparison c = Compare(Dumped(), Dumped(1e-3));
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->kind, DivergenceClass::kDivergentOp);
  EXPECT_EQ(c.first->op, "fc");
  EXPECT_TRUE(c.first->by_statistics);
  EXPECT_NEAR(*c.first->distance, 1e-3, 1e-9);
}

TEST(DumpedTest, RoundingsAreNoDivergence) {
  const Comparison c = Compare(Dumped(), Dumped(1e-7));
  EXPECT_FALSE(c.first);
  EXPECT_TRUE(c.bits);
}

TEST(DumpedTest, WhatTheFirstOpGetsIsTheData) {
  const Comparison c =
      Compare(Dumped(), Dumped(1e-2, Recording::kFc, Slot::kInput));
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->kind, DivergenceClass::kOtherData);
}

TEST(DumpedTest, WhatNothingMadeIsAnotherInput) {
  const Comparison c =
      Compare(Dumped(), Dumped(1e-2, Recording::kHead, Slot::kInput));
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->kind, DivergenceClass::kOtherInput);
  EXPECT_EQ(c.first->op, "head");
}

TEST(DumpedTest, NaNInOneAloneIsFound) {
  ComparedRun b = Dumped();
  b.tensors[4].statistics->max = std::nan("");
  b.tensors[4].nan = 1;
  ComparedRun a = Dumped();
  a.tensors[4].nan = 0;
  const Comparison c = Compare(a, b);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->nan_b, 1u);
  EXPECT_EQ(c.first->nan_a, 0u);
}

TEST(DumpedTest, NumbersOfOtherKindsAreNotCompared) {
  ComparedRun b = Dumped();
  for (ComparedTensor& tensor : b.tensors) {
    tensor.statistics = TensorStatistics{.checksum = 7};
  }
  const Comparison c = Compare(Dumped(), b);
  EXPECT_FALSE(c.comparable());
  EXPECT_EQ(c.incomparable, b.tensors.size());
}

TEST(DumpedTest, WithoutAnOrderTheFarthestIsNamedAndAllAreCounted) {
  Recording a = Healthy(), b = Healthy();
  a.run.ordered = b.run.ordered = false;
  b.Move(0, Recording::kDrop, Slot::kOutput, 1e-3);
  b.Move(0, Recording::kHead, Slot::kOutput, 0.5);
  const Comparison c = Compare(a.run, b.run);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->kind, DivergenceClass::kUnordered);
  EXPECT_EQ(c.first->op, "head");
  EXPECT_GT(c.first->beyond, 2u);
}

TEST(DumpedTest, WithoutAnOrderRoundingsAreNoDivergence) {
  Recording a = Healthy(), b = Healthy(1e-6);
  a.run.ordered = b.run.ordered = false;
  EXPECT_FALSE(Compare(a.run, b.run).first);
}

TEST(TensorStatisticsTest, TheDifferenceIsALowerBound) {
  const TensorStatistics a{.min = -1, .max = 2, .mean = 0.5, .norm = 10};
  TensorStatistics b = a;
  EXPECT_EQ(LeastDifference(a, b, 100), 0);
  b.norm = 13;
  EXPECT_EQ(LeastDifference(a, b, 100), 3);
  b.mean = 1;  // 0.5 of each of 100 elements
  EXPECT_EQ(LeastDifference(a, b, 100), 5);
  b.max = 9;
  EXPECT_EQ(LeastDifference(a, b, 100), 7);
}

TEST(TensorStatisticsTest, WhatPrintingRoundsIsNoDifference) {
  TensorStatistics a{.max = 1.2346, .rounded_by = 5e-5};
  TensorStatistics b{.max = 1.2347, .rounded_by = 5e-5};
  EXPECT_NEAR(*LeastDifference(a, b, 4), 0, 1e-9);
  b.max = 1.3;
  EXPECT_NEAR(*LeastDifference(a, b, 4), 0.0653, 1e-9);
}

TEST(TensorStatisticsTest, NothingIsSaidOfWhatOneAloneHas) {
  const TensorStatistics a{.max = 1}, b{.norm = 1};
  EXPECT_FALSE(AreEqual(a, b));
  EXPECT_FALSE(LeastDifference(a, b, 4));
}

}  // namespace
}  // namespace nanwatch
