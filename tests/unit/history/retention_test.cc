#include "history/retention.h"

#include <gmock/gmock.h>

#include "tests/unit/history/history_fixture.h"

namespace nanwatch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RetentionTest : public HistoryFixture {
 protected:
  // Upkeep rounds until nothing more goes.
  void Settle() {
    uint64_t before = 0;
    do {
      before = history_->stats().removed_events;
      for (int i = 0; i < 3; ++i) {
        clock_.Advance(std::chrono::seconds(2));
        history_->RunOnce(Duration(0));
      }
    } while (history_->stats().removed_events != before);
  }
  std::vector<size_t> KindsLeft() {
    std::vector<size_t> kinds;
    for (const auto& event : ReadAll())
      kinds.push_back(event.event.body.index());
    return kinds;
  }
};

TEST_F(RetentionTest, NothingGoesBeforeItsAge) {
  Put({Opened(Job()), Steps(Job(), 0, 10),
       EventOf(Job(), RunClosed{"all ranks closed"})});
  Commit();
  clock_.Advance(std::chrono::hours(24 * 29));
  Settle();
  EXPECT_EQ(history_->stats().removed_events, 0u);
}

TEST_F(RetentionTest, AnEndedRunGoesWholeWithItsAge) {
  Put({EventOf({}, RulesLoaded{}), Opened(Job(1)), Steps(Job(1), 0, 5000),
       EventOf(Job(1), RunClosed{"all ranks closed"})});
  Commit();
  clock_.Advance(std::chrono::hours(24 * 31));
  PutAndCommit(Opened(Job(2)));
  Settle();
  std::vector<uint64_t> ids;
  for (const auto& event : ReadAll()) ids.push_back(event.id);
  EXPECT_THAT(ids, ElementsAre(1, 5));  // rules in force stay
  EXPECT_EQ(damaged_, 0u);
  const auto runs = Reader()->Runs();
  ASSERT_TRUE(runs.ok());
  ASSERT_EQ(runs->size(), 1u);
  EXPECT_EQ(runs->front().key, Job(2));
  Open();
  EXPECT_EQ(history_->last_id(), 5u);
}

TEST_F(RetentionTest, ALiveRunIsNamedFirstAndLosesNothingBefore) {
  Put({Opened(Job()), Steps(Job(), 0, 10), Steps(Job(), 10, 10)});
  Commit();
  EXPECT_THAT(history_->NeedCheckpoint(), IsEmpty());
  clock_.Advance(std::chrono::hours(24 * 31));
  Settle();
  EXPECT_THAT(history_->NeedCheckpoint(), ElementsAre(Job()));
  EXPECT_EQ(ReadAll().size(), 3u);
  EXPECT_THAT(IdsForRestart("v1"), ElementsAre(1, 2, 3));

  PutAndCommit(Checkpoint(Job()));
  EXPECT_THAT(history_->NeedCheckpoint(), IsEmpty());
  Settle();
  EXPECT_EQ(history_->stats().removed_events, 2u);
  EXPECT_THAT(IdsForRestart("v1"), ElementsAre(4));
  // For a successor that cannot use the checkpoint, what says what the run is.
  EXPECT_THAT(IdsForRestart("v2"), ElementsAre(1, 4));
  EXPECT_THAT(history_->NeedCheckpoint(), IsEmpty());
}

// A checkpoint of the process before this one is all that a run has, and of an
// age to go: it goes when there is another, and not before.
TEST_F(RetentionTest, ALiveRunLosesItsLastCheckpointOnlyForANewerOne) {
  Put({Opened(Job()), Steps(Job(), 0, 10), Checkpoint(Job()),
       Steps(Job(), 10, 10)});
  Commit();
  Open();
  clock_.Advance(std::chrono::hours(24 * 31));
  Settle();
  EXPECT_THAT(history_->NeedCheckpoint(), ElementsAre(Job()));
  EXPECT_THAT(IdsForRestart("v1"), ElementsAre(3, 4));
  PutAndCommit(Checkpoint(Job()));
  Settle();
  EXPECT_THAT(IdsForRestart("v1"), ElementsAre(5));
  EXPECT_EQ(history_->stats().removed_events, 3u);
  // And that one stays, whatever its age.
  clock_.Advance(std::chrono::hours(24 * 31));
  Settle();
  EXPECT_THAT(IdsForRestart("v1"), ElementsAre(5));
  EXPECT_THAT(history_->NeedCheckpoint(), IsEmpty());
}

TEST_F(RetentionTest, ARestartIsKeptShort) {
  Put(Opened(Job()));
  int64_t step = 0;
  while (history_->NeedCheckpoint().empty()) {
    ASSERT_LT(step, 10'000'000);
    PutAndCommit(Steps(Job(), step, 4000));
    put_.clear();
    step += 4000;
  }
  PutAndCommit(Checkpoint(Job()));
  EXPECT_THAT(history_->NeedCheckpoint(), IsEmpty());
}

TEST_F(RetentionTest, TheFileStaysBelowItsBound) {
  options_.keep_bytes = 2 << 20;
  Open();
  Put({Opened(Job(1)), Opened(Job(2))});
  uint64_t largest = 0;
  for (int64_t step = 0; step < 400'000; step += 1000) {
    for (int n : {1, 2}) PutAndCommit(Steps(Job(n), step, 1000));
    put_.clear();
    clock_.Advance(std::chrono::seconds(1));
    for (const RunKey& run : history_->NeedCheckpoint()) {
      PutAndCommit(Checkpoint(run));
    }
    history_->RunOnce(Duration(0));
    if (step > 200'000) {
      largest = std::max<uint64_t>(
          largest, std::filesystem::file_size(options_.path) +
                       std::filesystem::file_size(options_.path + "-wal"));
    }
  }
  EXPECT_GT(history_->stats().removed_events, 0u);
  EXPECT_LT(largest, options_.keep_bytes * 2);  // its log and all
  // Still there: what the runs are, and a restart for each.
  EXPECT_EQ(Reader()->Runs()->size(), 2u);
  const auto kinds = KindsLeft();
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), 2u), 2);
  EXPECT_EQ(damaged_, 0u);
}

TEST_F(RetentionTest, RulesThatWereReplacedGoWithTheirAge) {
  for (int i = 0; i < 5; ++i) Put(EventOf({}, RulesLoaded{}));
  Commit();
  clock_.Advance(std::chrono::hours(24 * 31));
  PutAndCommit(EventOf({}, RulesLoaded{}));
  Settle();
  std::vector<uint64_t> ids;
  for (const auto& event : ReadAll()) ids.push_back(event.id);
  EXPECT_THAT(ids, ElementsAre(5, 6));
}

TEST_F(RetentionTest, ReopeningAsksForFreshCheckpoints) {
  Put({Opened(Job(1)), Checkpoint(Job(1)), Opened(Job(2)),
       EventOf(Job(2), RunClosed{"lost"})});
  Open();
  EXPECT_THAT(history_->NeedCheckpoint(), ElementsAre(Job(1)));
}

}  // namespace
}  // namespace nanwatch
