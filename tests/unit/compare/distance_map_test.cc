#include "compare/distance_map.h"

#include <gmock/gmock.h>

#include "tests/unit/compare/recording.h"

namespace nanwatch {
namespace {

DistanceMap MapOf(const ComparedRun& b, const MapSize& size = {}) {
  const Recording a = Healthy(0, static_cast<int64_t>(b.steps.size()));
  return MapDistances(a.run, b, nullptr, size);
}

const MapRow* RowOf(const DistanceMap& map, const std::string& op, Slot slot) {
  for (const MapRow& row : map.rows) {
    if (row.op == op && row.slot == slot) return &row;
  }
  return nullptr;
}

TEST(DistanceMapTest, HasARowATensorInTheOrderOfCauses) {
  const DistanceMap map = MapOf(Healthy().run);
  EXPECT_THAT(map.steps, testing::ElementsAre(0, 1, 2));
  ASSERT_EQ(map.rows.size(), 12u);
  EXPECT_EQ(map.rows.front().op, "fc.weight");
  EXPECT_EQ(map.rows.front().phase, Phase::kWeights);
  EXPECT_EQ(map.rows.back().phase, Phase::kGradients);
  for (const MapRow& row : map.rows) {
    ASSERT_EQ(row.cells.size(), 3u);
    for (const auto& cell : row.cells) {
      ASSERT_TRUE(cell);
      EXPECT_EQ(cell->standing, Standing::kEqual) << row.op;
      EXPECT_FALSE(cell->decades);
    }
  }
}

TEST(DistanceMapTest, RoundingsAreWithin) {
  const DistanceMap map = MapOf(Healthy(1e-7).run);
  const MapRow* head = RowOf(map, "head", Slot::kOutput);
  ASSERT_NE(head, nullptr);
  EXPECT_EQ(head->cells[0]->standing, Standing::kWithin);
  EXPECT_LT(*head->cells[0]->decades, 0);
}

TEST(DistanceMapTest, WhatPartsAndAllThatFollowsIsBeyond) {
  Recording b = Healthy(1e-7);
  // After an update 2 % and less are not told.
  b.Move(1, Recording::kDrop, Slot::kOutput, 0.5);
  const DistanceMap map = MapOf(b.run);
  const auto standing = [&](const char* op, Slot slot, size_t step) {
    const MapRow* row = RowOf(map, op, slot);
    return row == nullptr ? Standing::kUnknown : row->cells[step]->standing;
  };
  EXPECT_EQ(standing("drop", Slot::kInput, 1), Standing::kWithin);
  EXPECT_EQ(standing("drop", Slot::kOutput, 0), Standing::kWithin);
  EXPECT_EQ(standing("drop", Slot::kOutput, 1), Standing::kBeyond);
  EXPECT_EQ(standing("head", Slot::kOutput, 1), Standing::kBeyond);
  EXPECT_GT(*RowOf(map, "head", Slot::kOutput)->cells[1]->decades, 0);
}

TEST(DistanceMapTest, WhatOneRunAloneHasHasNoCell) {
  Recording b = Healthy();
  std::erase_if(b.run.tensors, [](const ComparedTensor& tensor) {
    return tensor.step == 1 && tensor.op == Recording::kHead;
  });
  const DistanceMap map = MapOf(b.run);
  const MapRow* head = RowOf(map, "head", Slot::kOutput);
  ASSERT_NE(head, nullptr);
  EXPECT_TRUE(head->cells[0]);
  EXPECT_FALSE(head->cells[1]);
  EXPECT_TRUE(head->cells[2]);
}

TEST(DistanceMapTest, KeepsWhatLiesFarthestApartAndStepsFromFirstToLast) {
  Recording b = Healthy(0, 40);
  b.Move(3, Recording::kHead, Slot::kOutput, 1e-2);
  const DistanceMap map = MapOf(b.run, {.steps = 40, .rows = 3});
  EXPECT_EQ(map.rows_left_out, 9u);
  ASSERT_EQ(map.rows.size(), 3u);
  EXPECT_EQ(map.rows.front().op, "head");
  const DistanceMap thin = MapOf(b.run, {.steps = 10, .rows = 64});
  EXPECT_EQ(thin.steps_left_out, 30u);
  ASSERT_EQ(thin.steps.size(), 10u);
  EXPECT_EQ(thin.steps.back(), 39);
  for (const MapRow& row : thin.rows) EXPECT_EQ(row.cells.size(), 10u);
}

}  // namespace
}  // namespace nanwatch
