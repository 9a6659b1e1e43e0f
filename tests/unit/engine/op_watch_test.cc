#include "engine/op_watch.h"

#include <gmock/gmock.h>

#include "model/limits.h"
#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

class OpWatchTest : public ::testing::Test {
 protected:
  OpWatchTest() {
    for (int op = 0; op < 4; ++op) watch_.AddName(op, Dtype::kFp16);
  }
  uint64_t Take(const std::vector<OpCell>& cells, int64_t last = INT64_MIN) {
    return watch_.Take(OpRows(cells, kStart), saturation_, last, &marks_);
  }
  OpWatch watch_;
  RowMarks marks_;
  bool saturation_ = false;
};

TEST_F(OpWatchTest, HealthyRowsLeaveNothing) {
  Take({{.step = 1, .op = 0}, {.step = 1, .op = 1, .abs_max = 32000}});
  EXPECT_FALSE(watch_.pending());
}

TEST_F(OpWatchTest, KeepsBadFlaggedAndNearRows) {
  Take({{.step = 1, .op = 0, .nan = 1},
        {.step = 1, .op = 1, .flag = true},
        {.step = 1, .op = 2, .abs_max = 40000},
        {.step = 1, .op = 3, .saturated = 9}});
  const auto kept = watch_.UpTo(1);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_TRUE(kept[0].bad);
  EXPECT_TRUE(kept[1].bad);
  EXPECT_EQ(kept[1].bad_elements, 0u);
  EXPECT_FALSE(kept[2].bad);
  EXPECT_TRUE(kept[2].interesting);
}

TEST_F(OpWatchTest, SaturatedIsBadOnlyInSaturationMode) {
  saturation_ = true;
  Take({{.step = 1, .op = 3, .saturated = 9}});
  ASSERT_TRUE(watch_.pending());
  EXPECT_EQ(watch_.oldest().bad_elements, 9u);
}

TEST_F(OpWatchTest, CleanRowsOfAWatchedOpAreKept) {
  Take({{.step = 1, .op = 0, .inf = 1}});
  Take({{.step = 2, .op = 0}, {.step = 2, .op = 1}});
  EXPECT_EQ(watch_.UpTo(2).size(), 2u);
}

TEST_F(OpWatchTest, InputsAreThoseOfTheSameOpAndTry) {
  Take({{.step = 1, .op = 0, .slot = Slot::kInput},
        {.step = 1, .op = 0, .nan = 1},
        {.step = 1, .op = 1, .slot = Slot::kInput, .nan = 1},
        {.step = 1, .op = 1, .nan = 1},
        {.step = 1, .op = 2, .nan = 1},
        // Another try of the step.
        {.step = 1, .op = 1, .slot = Slot::kInput},
        {.step = 1, .op = 1, .nan = 1}});
  const auto kept = watch_.UpTo(1);
  ASSERT_EQ(kept.size(), 6u);
  EXPECT_EQ(kept[0].inputs, InputState::kClean);
  EXPECT_EQ(kept[2].inputs, InputState::kBad);
  EXPECT_EQ(kept[3].inputs, InputState::kNotCollected);
  EXPECT_EQ(kept[5].inputs, InputState::kClean);
}

TEST_F(OpWatchTest, OriginIsTheFirstBadOutputOfGoodInputs) {
  Take({{.step = 1, .op = 1, .slot = Slot::kInput, .nan = 1},
        {.step = 1, .op = 1, .nan = 1},
        {.step = 1, .op = 2, .slot = Slot::kInput},
        {.step = 1, .op = 2, .inf = 3}});
  const StepOps sum = watch_.Sum(watch_.UpTo(1), 1);
  EXPECT_EQ(sum.bad_ops, 2u);
  EXPECT_EQ(sum.origin, 2);
  EXPECT_TRUE(sum.forward_nonfinite);
  EXPECT_EQ(watch_.Forward(1).clean, 1u);
}

TEST_F(OpWatchTest, StepsAreJudgedOneByOneHoweverTheyCame) {
  Take({{.step = 1, .op = 0, .nan = 1}, {.step = 2, .op = 0, .nan = 1}});
  EXPECT_EQ(watch_.UpTo(1).size(), 1u);
  watch_.Drop(1);
  EXPECT_EQ(watch_.UpTo(2).size(), 1u);
  EXPECT_EQ(watch_.Forward(2).bad, 1u);
}

TEST_F(OpWatchTest, WithoutTheCountASaturatingDeviceProvesNoStatusClean) {
  OpColumns columns =
      OpRows({{.step = 1, .op = 0, .nan = 1}, {.step = 1, .op = 1}}, kStart);
  RowMarks marks;
  watch_.Take(columns, /*saturation=*/true, INT64_MIN, &marks);
  EXPECT_EQ(watch_.Forward(1).clean, 1u);
  columns.groups = {{.step = 2, .time = kStart, .end = 2}};
  columns.count[static_cast<int>(OpCount::kSaturated)].reset();
  watch_.Take(columns, /*saturation=*/true, INT64_MIN, &marks);
  EXPECT_EQ(watch_.Forward(2).clean, 0u);
  EXPECT_EQ(watch_.Forward(2).bad, 1u);
}

TEST_F(OpWatchTest, CountsLateRows) {
  EXPECT_EQ(Take({{.step = 3, .op = 0}, {.step = 5, .op = 0}}, 5), 1u);
}

TEST_F(OpWatchTest, GradientsLeavePlacesForOthers) {
  for (uint32_t i = watch_.names(); i < limits::kWatchedOpsPerRank; ++i) {
    watch_.AddName(i, Dtype::kFp16);
  }
  int gradients = 0;
  for (int i = 0; i < limits::kWatchedOpsPerRank; ++i) {
    gradients += watch_.Watched(i, Slot::kGradInput, true) != nullptr;
  }
  EXPECT_EQ(gradients, limits::kWatchedGradientsPerRank);
  EXPECT_NE(watch_.Watched(0, Slot::kParameter, true), nullptr);
  EXPECT_NE(watch_.Watched(0, Slot::kOutput, true), nullptr);
  EXPECT_NE(watch_.Watched(0, Slot::kGradInput, true), nullptr) << "had one";
}

TEST_F(OpWatchTest, CleanRowsLeaveRoomForBadOnes) {
  Take({{.step = 1, .op = 0, .inf = 1}});
  watch_.Drop(1);
  const OpCell clean{.step = 2, .op = 0};
  Take(std::vector<OpCell>(limits::kPendingOpsPerRank, clean));
  EXPECT_EQ(watch_.UpTo(2).size(), limits::kPendingOpsPerRank / 2);
  EXPECT_EQ(watch_.not_kept(), 0u);
  Take({{.step = 2, .op = 1, .nan = 1}});
  EXPECT_TRUE(watch_.UpTo(2).back().bad);
}

TEST_F(OpWatchTest, WhatDoesNotFitIsCounted) {
  for (int i = 0; i <= limits::kPendingOpsPerRank; ++i) {
    Take({{.step = 1, .op = 0, .nan = 1}});
  }
  EXPECT_EQ(watch_.not_kept(), 1u);
}

}  // namespace
}  // namespace nanwatch
