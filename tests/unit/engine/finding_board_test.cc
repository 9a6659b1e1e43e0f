#include "engine/finding_board.h"

#include <gtest/gtest.h>

#include "model/limits.h"

namespace nanwatch {
namespace {

FindingKey Of(FindingKey::List list, uint32_t place) {
  return {list, /*rank=*/0, place, /*rule=*/0};
}

TEST(FindingBoardTest, OpsLeaveRoomForTheRun) {
  FindingBoard board;
  constexpr uint32_t kMost = limits::kFindingsPerRun;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < kMost; ++i) {
    kept += board.Put(Of(FindingKey::List::kOp, i), Finding());
  }
  EXPECT_EQ(kept, limits::kOpFindingsPerRun);
  EXPECT_TRUE(board.Put(Of(FindingKey::List::kOp, 0), Finding())) << "held";
  for (uint32_t i = 0; i < kMost - kept; ++i) {
    EXPECT_TRUE(board.Put(Of(FindingKey::List::kStep, i), Finding()));
  }
  EXPECT_FALSE(board.Put(Of(FindingKey::List::kStep, kMost), Finding()));
}

}  // namespace
}  // namespace nanwatch
