// While the file cannot be written, runs open, go on and end; it comes back.

#include <gmock/gmock.h>

#include "tests/unit/history/history_fixture.h"

namespace nanwatch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const char* const kParts[] = {"", "-wal", "-shm"};

class GapTest : public HistoryFixture {
 protected:
  GapTest() {
    Put({Opened(Job()), Steps(Job(), 0, 50)});  // 1 2
    Commit();
  }
  // A path that cannot be made is one that SQLite cannot open, whoever asks.
  void TakeAway() {
    for (const char* part : kParts) {
      std::filesystem::rename(options_.path + part, Away(part));
    }
    std::filesystem::create_symlink(directory_ + "/none/x", options_.path);
    PutAndCommit(Steps(Job(), 50, 10));  // 3
    ASSERT_TRUE(history_->stats().degraded);
  }
  void BringBack() {
    std::filesystem::remove(options_.path);
    for (const char* part : kParts) {
      std::filesystem::rename(Away(part), options_.path + part);
    }
    clock_.Advance(std::chrono::seconds(61));
    Commit();
    ASSERT_FALSE(history_->stats().degraded);
  }
  std::string Away(const char* part) { return directory_ + "/away.db" + part; }
  RunRow RowOf(const RunKey& run) {
    const auto rows = Reader()->Runs();
    EXPECT_TRUE(rows.ok());
    for (const RunRow& row : *rows) {
      if (row.key == run) return row;
    }
    ADD_FAILURE() << "no row of " << run.run_id;
    return {};
  }
  const Event kClosed = EventOf(Job(), RunClosed{"all ranks closed"});
};

// The reviewer's: a restart took its last events for all there were, waited for
// it, and said that it broke off.
TEST_F(GapTest, ARunThatEndedMeanwhileHasEnded) {
  TakeAway();
  const Time end = clock_.Now();
  Put({Steps(Job(), 60, 5), kClosed});  // 4 5
  Commit();
  BringBack();
  const RunRow row = RowOf(Job());
  EXPECT_EQ(row.ended, end);
  EXPECT_EQ(row.end_reason, "all ranks closed");
  EXPECT_EQ(row.last_step, 64);
  EXPECT_THAT(IdsForRestart("v1"), ElementsAre(1, 2, 5));
  EXPECT_EQ(BytesOf(ReadAll().back().event), BytesOf(kClosed));
  EXPECT_EQ(ReadAll().back().now, end);
  EXPECT_EQ(damaged_, 0u);
}

TEST_F(GapTest, ItIsAskedForACheckpointThatHoldsWhatTheFileLacks) {
  TakeAway();
  PutAndCommit(kClosed);  // 4
  EXPECT_THAT(history_->NeedCheckpoint(), IsEmpty());
  BringBack();
  EXPECT_THAT(history_->NeedCheckpoint(), ElementsAre(Job()));
  PutAndCommit(Checkpoint(Job()));  // 5
  EXPECT_THAT(history_->NeedCheckpoint(), IsEmpty());
  EXPECT_THAT(IdsForRestart("v1"), ElementsAre(5));
  EXPECT_TRUE(RowOf(Job()).ended.has_value());
}

TEST_F(GapTest, ACheckpointThatNeverComesIsNotWaitedFor) {
  TakeAway();
  PutAndCommit(kClosed);
  BringBack();
  clock_.Advance(std::chrono::minutes(5));
  Commit();
  EXPECT_THAT(history_->NeedCheckpoint(), IsEmpty());
}

TEST_F(GapTest, ARunThatOpenedAndEndedMeanwhileIsKnown) {
  TakeAway();
  Put({Opened(Job(2)), Steps(Job(2), 0, 9),
       EventOf(Job(2), RunClosed{"lost"})});  // 4 5 6
  Commit();
  BringBack();
  EXPECT_EQ(RowOf(Job(2)).description.job, "word2vec");
  EXPECT_EQ(RowOf(Job(2)).end_reason, "lost");
  EXPECT_THAT(history_->NeedCheckpoint(), ElementsAre(Job(2), Job()));
  EXPECT_THAT(IdsForRestart("v1"), ElementsAre(1, 2, 4, 6));
  // And again, with another process.
  Open();
  EXPECT_EQ(history_->last_id(), 6u);
  EXPECT_THAT(history_->NeedCheckpoint(), ElementsAre(Job()));
}

TEST_F(GapTest, ARunThatEndedAndWentOnMeanwhileLives) {
  TakeAway();
  Put({kClosed, Opened(Job()), Steps(Job(), 60, 5)});  // 4 5 6
  Commit();
  BringBack();
  EXPECT_FALSE(RowOf(Job()).ended.has_value());
  EXPECT_THAT(IdsForRestart("v1"), ElementsAre(1, 2, 5));
  EXPECT_THAT(history_->NeedCheckpoint(), ElementsAre(Job()));
}

TEST_F(GapTest, TheLastRulesAreKept) {
  TakeAway();
  RulesLoaded rules;
  Put({EventOf({}, rules), EventOf({}, rules)});  // 4 5
  Commit();
  BringBack();
  EXPECT_THAT(IdsForRestart("v1"), ElementsAre(1, 2, 5));
}

TEST_F(GapTest, WhatIsMissingIsSaidByEveryReader) {
  EXPECT_EQ(Reader()->missing(), "");
  TakeAway();
  Put({Steps(Job(), 60, 5), kClosed});
  Commit();
  BringBack();
  const std::string said = Reader()->missing();
  EXPECT_THAT(said, HasSubstr("lacks events 3 to 5"));
  EXPECT_THAT(said, HasSubstr("was removed while"));
  EXPECT_THAT(said,
              HasSubstr("15 step records of job-7 attempt 0 (steps 50 to 64)"));
  // A second gap says what it lacks itself.
  TakeAway();  // step records of an ended run, 6
  BringBack();
  EXPECT_THAT(Reader()->missing(), HasSubstr("lacks events 6 to 6"));
  EXPECT_THAT(Reader()->missing(),
              HasSubstr("10 step records of job-7 attempt 0 (steps 50 to 59)"));
}

TEST_F(GapTest, AnEndThatWasStoredNeedsNothingMore) {
  PutAndCommit(kClosed);
  EXPECT_THAT(history_->NeedCheckpoint(), IsEmpty());
  // A rank came late.
  PutAndCommit(Opened(Job()));
  EXPECT_FALSE(RowOf(Job()).ended.has_value());
  EXPECT_THAT(RowOf(Job()).end_reason, IsEmpty());
  Open();
  EXPECT_THAT(history_->NeedCheckpoint(), ElementsAre(Job()));
}

}  // namespace
}  // namespace nanwatch
