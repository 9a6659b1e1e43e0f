#include "cli/tail_ranks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nanwatch {
namespace {

using Paths = std::vector<std::string>;
using Ranks = std::vector<int32_t>;

TEST(RankOfLog, IsTheNumberAfterTheWord) {
  EXPECT_EQ(RankOfLog("/logs/rank_3.log"), 3);
  EXPECT_EQ(RankOfLog("Rank-12/train.log"), 12);
  EXPECT_EQ(RankOfLog("train.rank=7"), 7);
  EXPECT_EQ(RankOfLog("rank0/attempt_1/rank5.txt"), 5);
}

// One log's number may be a date, a try, a rotation.
TEST(RankOfLog, IsNoOtherNumber) {
  EXPECT_EQ(RankOfLog("train.3.log"), std::nullopt);
  EXPECT_EQ(RankOfLog("2024/train.log"), std::nullopt);
  EXPECT_EQ(RankOfLog("rank.log"), std::nullopt);
  EXPECT_EQ(RankOfLog("-"), std::nullopt);
  EXPECT_EQ(RankOfLog(""), std::nullopt);
  EXPECT_EQ(RankOfLog("rank_99999999999999999999.log"), std::nullopt);
}

TEST(RanksOfLogs, FindsTheNumberThatTellsThemApart) {
  EXPECT_EQ(RanksOfLogs(Paths{"rank_3.log", "rank_0.log"}), (Ranks{3, 0}));
  EXPECT_EQ(RanksOfLogs(Paths{"worker_8.log", "worker_10.log"}),
            (Ranks{8, 10}));
  EXPECT_EQ(RanksOfLogs(Paths{"train.4.log", "train.5.log"}), (Ranks{4, 5}));
  EXPECT_EQ(RanksOfLogs(Paths{"a-20240102-1", "a-20240102-2"}), (Ranks{1, 2}));
  // torchrun's folders.
  EXPECT_EQ(RanksOfLogs(Paths{"/t/none_x/attempt_0/0/stderr.log",
                              "/t/none_x/attempt_0/1/stderr.log"}),
            (Ranks{0, 1}));
  // The word comes before other numbers.
  EXPECT_EQ(RanksOfLogs(Paths{"rank1.7.log", "rank0.8.log"}), (Ranks{1, 0}));
}

TEST(RanksOfLogs, IsTheOrderWhereNothingTellsThemApart) {
  EXPECT_EQ(RanksOfLogs(Paths{"a.log", "b.log", "c.log"}), (Ranks{0, 1, 2}));
  EXPECT_EQ(RanksOfLogs(Paths{"rank_0.log", "other.log"}), (Ranks{0, 1}));
  // Two nodes' rank 0.
  EXPECT_EQ(RanksOfLogs(Paths{"n/local_rank_0.log", "m/local_rank_0.log"}),
            (Ranks{0, 1}));
}

}  // namespace
}  // namespace nanwatch
