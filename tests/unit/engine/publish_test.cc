#include <gmock/gmock.h>

#include <map>

#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

TEST(PublishTest, SharesWhatWasNotTouched) {
  Driver driver;
  const SessionId a = driver.Open("a");
  driver.Open("b");
  const auto before = driver.Publish();
  EXPECT_FALSE(driver.engine().dirty());
  driver.Steps(a, {{.step = 3}});
  EXPECT_TRUE(driver.engine().dirty());
  const auto after = driver.Publish();
  EXPECT_NE(before->Find("a"), after->Find("a"));
  EXPECT_EQ(before->Find("b"), after->Find("b"));
  EXPECT_EQ(before->Find("a")->last_step, 0);
  EXPECT_EQ(after->Find("a")->last_step, 3);
}

TEST(PublishTest, SharesBlocksOfRanks) {
  Driver driver;
  std::vector<SessionId> ranks;
  for (int rank = 0; rank < 130; ++rank) {
    ranks.push_back(driver.Open("job", rank, 130));
  }
  const auto before = driver.Run("job");
  ASSERT_EQ(before->ranks.size(), 3u);
  EXPECT_EQ(before->ranks[2]->size(), 2u);
  driver.Steps(ranks[70], {{.step = 1}});
  const auto after = driver.Run("job");
  EXPECT_EQ(before->ranks[0], after->ranks[0]);
  EXPECT_NE(before->ranks[1], after->ranks[1]);
  EXPECT_EQ(before->ranks[2], after->ranks[2]);
  EXPECT_EQ(after->ranks[1]->at(6).last_step, 1);
}

TEST(PublishTest, ShowsTheLowestAndTheHighestScaleOfALayer) {
  Driver driver;
  const SessionId r0 = driver.Open("job", 0, 2);
  const SessionId r1 = driver.Open("job", 1, 2);
  for (const SessionId s : {r0, r1}) {
    driver.Name(s, {{.name = "embed"}, {.name = "head"}});
  }
  driver.Steps(r0, {{.step = 1, .loss = 2}});
  EXPECT_FALSE(driver.Run("job")->scaler.layers) << "not collected";
  driver.Steps(r0, {{.step = 2, .layers = {{0, 64}, {1, 1024}}}});
  driver.Steps(
      r1, {{.step = 2, .layers = {{0, 32}, {1, 512}}}, {.step = 3, .loss = 2}});
  const auto run = driver.Run("job");
  ASSERT_TRUE(run->scaler.layers);
  EXPECT_EQ(run->scaler.layers->layers, 2u);
  EXPECT_EQ(run->scaler.layers->lowest, 32);
  EXPECT_EQ(run->scaler.layers->lowest_op, "embed");
  EXPECT_EQ(run->scaler.layers->lowest_rank, 1);
  EXPECT_EQ(run->scaler.layers->highest, 1024);
  EXPECT_EQ(run->scaler.layers->highest_op, "head");
  EXPECT_EQ(run->scaler.layers->highest_rank, 0);
}

TEST(PublishTest, ARankThatCameBetweenMovesThoseBehindIt) {
  Driver driver;
  std::map<int, SessionId> ranks;
  for (int rank = 0; rank < 260; rank += 2) {
    ranks[rank] = driver.Open("job", rank, 260);
  }
  const auto before = driver.Run("job");
  ranks[129] = driver.Open("job", 129, 260);
  // Nothing was published since: it still has its old place.
  driver.Steps(ranks[256], {{.step = 7}});
  const auto after = driver.Run("job");
  EXPECT_EQ(before->ranks[0], after->ranks[0]);
  ASSERT_EQ(after->ranks.size(), 3u);
  EXPECT_EQ(after->ranks[1]->at(1).description.rank, 129);
  EXPECT_EQ(after->ranks[1]->at(2).description.rank, 130);
  EXPECT_EQ(after->ranks[2]->at(1).description.rank, 256);
  EXPECT_EQ(after->ranks[2]->at(1).last_step, 7);
  driver.Steps(ranks[0], {{.step = 8}});
  const auto later = driver.Run("job");
  EXPECT_EQ(later->ranks[0]->at(0).last_step, 8);
  EXPECT_EQ(later->ranks[1], after->ranks[1]);
}

TEST(PublishTest, RanksStandInOrderHoweverTheyOpened) {
  Driver driver;
  for (const int rank : {3, 0, 2, 1}) driver.Open("job", rank, 4);
  const auto run = driver.Run("job");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(run->ranks[0]->at(rank).description.rank, rank);
  }
}

TEST(PublishTest, LatestKeepsTheLastFiniteValue) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Steps(s, {{.step = 1, .loss = 2.5}, {.step = 2, .loss = NAN}});
  const auto run = driver.Run("job");
  const int loss = static_cast<int>(StepField::kLoss);
  EXPECT_TRUE(std::isnan(*run->latest.last[loss]));
  EXPECT_EQ(run->latest.last_finite[loss], 2.5);
  EXPECT_EQ(run->latest.nonfinite[loss], 1u);
  EXPECT_EQ(run->updates, 2u);
}

TEST(PublishTest, NonFiniteValuesAreThoseOfAllRanks) {
  Driver driver;
  const SessionId r0 = driver.Open("job", 0, 2);
  const SessionId r1 = driver.Open("job", 1, 2);
  driver.Steps(r0, {{.step = 1, .loss = 2.5}, {.step = 2, .loss = NAN}});
  driver.Steps(r1, {{.step = 1, .loss = NAN}, {.step = 2, .loss = NAN}});
  const auto run = driver.Run("job");
  const int loss = static_cast<int>(StepField::kLoss);
  EXPECT_EQ(run->latest.nonfinite[loss], 3u);
  EXPECT_EQ(run->latest.last_finite[loss], 2.5);
}

// 0 applied would say that nothing was learned.
TEST(PublishTest, WhatNothingSaysIsCountedAsUnknown) {
  Driver driver;
  OpenSessionMessage open;
  open.run_id = "job";
  open.run.scaler.kind = ScalingKind::kDynamic;
  const SessionId s = driver.Open(open);
  driver.Steps(s, {{.step = 1, .scale = 8}, {.step = 2, .scale = 8}});
  auto run = driver.Run("job");
  EXPECT_EQ(run->fate_unknown, 2u);
  EXPECT_EQ(run->totals.fate_unknown, 2u);
  EXPECT_EQ(run->totals.overflow_unknown, 2u);
  driver.Steps(s, {{.step = 3, .scale = 8, .overflow = false}});
  run = driver.Run("job");
  EXPECT_EQ(run->updates, 3u);
  EXPECT_EQ(run->applied, 1u);
  EXPECT_EQ(run->fate_unknown, 2u);
  EXPECT_EQ(run->totals.overflow_unknown, 2u);
}

TEST(PublishTest, AnOverflowUnderADynamicScalerIsNotApplied) {
  Driver driver;
  OpenSessionMessage open;
  open.run_id = "job";
  open.run.scaler.kind = ScalingKind::kDynamic;
  const SessionId s = driver.Open(open);
  driver.Steps(s, {{.step = 1, .scale = 8, .overflow = true},
                   {.step = 2, .scale = 4, .overflow = false}});
  const auto run = driver.Run("job");
  EXPECT_EQ(run->updates, 2u);
  EXPECT_EQ(run->applied, 1u);
  EXPECT_EQ(run->totals.skipped, 1u);
}

TEST(PublishTest, UpdatesAreOfAllOptimizersAlsoOfOneThatComesLate) {
  Driver driver;
  const SessionId s = driver.Open("gan");
  const auto send = [&](Sequence sequence, const std::vector<Row>& rows,
                        std::vector<uint8_t> optimizer) {
    StepColumns columns = Columns(rows, driver.now());
    columns.optimizers = {"d", "g"};
    columns.optimizers.resize(optimizer.empty() ? 1 : 2);
    columns.optimizer = std::move(optimizer);
    driver.Send({.session = s,
                 .sequence = sequence,
                 .body = StepBatch{std::move(columns)}});
  };
  send(1, {{.step = 1, .skipped = false}, {.step = 2, .skipped = true}}, {});
  EXPECT_EQ(driver.Run("gan")->updates, 2u);
  EXPECT_EQ(driver.Run("gan")->applied, 1u);
  send(2,
       {{.step = 3, .skipped = false},
        {.step = 1, .skipped = false},
        {.step = 2, .skipped = true}},
       {0, 1, 1});
  EXPECT_EQ(driver.Run("gan")->updates, 5u);
  EXPECT_EQ(driver.Run("gan")->applied, 3u);
}

}  // namespace
}  // namespace nanwatch
