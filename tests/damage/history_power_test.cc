// The power goes at any write: what was said to be committed is there
// afterwards, and nothing else than what was appended.

#include <gmock/gmock.h>

#include <bit>
#include <random>

#include "tests/damage/losing_vfs.h"
#include "tests/unit/history/history_fixture.h"

namespace nanwatch {
namespace {

class HistoryPowerTest : public HistoryFixture {
 protected:
  HistoryPowerTest() {
    history_.reset();
    before_ = directory_ + "/before";
    after_ = directory_ + "/after";
  }

  // Works until the power goes at write `n`, or to the end. Returns the newest
  // id that was committed then.
  uint64_t WorkUntil(int64_t n) {
    for (const std::string& d : {before_, after_}) {
      std::filesystem::remove_all(d);
      std::filesystem::create_directory(d);
    }
    LosingVfs vfs;
    vfs.LosePowerAt(n);
    options_.path = before_ + "/history.db";
    options_.vfs = LosingVfs::kName;
    Open();
    put_.clear();
    uint64_t committed = 0;
    Put(Opened(Job()));
    for (int i = 0; i < 24 && !vfs.dead(); ++i) {
      Put(Noise(i));
      if (i == 10) Put(Checkpoint(Job()));
      Commit();
      if (!history_->stats().degraded) committed = history_->committed();
    }
    EXPECT_TRUE(!vfs.dead() || history_->stats().degraded);
    history_.reset();  // moves the log into the database
    writes_ = vfs.writes();
    vfs.WriteSurvivors(after_, n % 3 / 2.0, n);
    options_.vfs.clear();
    return committed;
  }

  // Large and not compressible.
  static Event Noise(int i) {
    Event event = Steps(Job(), i * 400, 400);
    std::mt19937_64 random(i);
    for (double& loss :
         std::get<StepBatch>(event.body).columns.field[0]->values)
      loss = std::bit_cast<double>(random() >> 2);
    return event;
  }

  std::string before_;
  std::string after_;
  int64_t writes_ = 0;
};

TEST_F(HistoryPowerTest, WhatIsCommittedSurvivesAnyCut) {
  WorkUntil(INT64_MAX);
  const int64_t writes = writes_;
  ASSERT_GT(writes, 100);
  for (int64_t n = 1; n < writes; n += 1 + n / 16) {
    SCOPED_TRACE(n);
    const uint64_t committed = WorkUntil(n);
    options_.path = after_ + "/history.db";
    Open();
    EXPECT_FALSE(report_.degraded);
    EXPECT_TRUE(report_.set_aside.empty()) << report_.message;
    const auto events = ReadAll();
    EXPECT_EQ(damaged_, 0u);
    ASSERT_GE(events.size(), committed);
    ASSERT_LE(events.size(), put_.size());
    for (size_t i = 0; i < events.size(); ++i) {
      ASSERT_EQ(events[i].id, i + 1);
      ASSERT_EQ(BytesOf(events[i].event), BytesOf(put_[i].event));
    }
    history_.reset();
  }
}

TEST_F(HistoryPowerTest, AFullDiskIsACountedGapAndNoMore) {
  std::filesystem::create_directory(before_);
  LosingVfs vfs;
  options_.path = before_ + "/history.db";
  options_.vfs = LosingVfs::kName;
  Open();
  Put(Opened(Job()));
  Commit();
  vfs.set_full(true);
  for (int i = 0; i < 5; ++i) {
    PutAndCommit(Noise(i));
    clock_.Advance(std::chrono::seconds(30));
  }
  EXPECT_TRUE(history_->stats().degraded);
  EXPECT_GE(history_->stats().failures, 1u);
  EXPECT_EQ(history_->committed(), 6u);
  EXPECT_TRUE(history_->Stored(1));
  EXPECT_FALSE(history_->Stored(2));
  EXPECT_FALSE(history_->Stored(6));
  vfs.set_full(false);
  clock_.Advance(std::chrono::seconds(61));
  history_->RunOnce(Duration(0));
  EXPECT_FALSE(history_->stats().degraded);
  EXPECT_EQ(history_->stats().lost_events, 5u);
  EXPECT_THAT(history_->NeedCheckpoint(), ::testing::ElementsAre(Job()));
  Put(Checkpoint(Job()));
  PutAndCommit(Noise(9));
  EXPECT_FALSE(history_->Stored(6));
  EXPECT_TRUE(history_->Stored(8));
  history_.reset();
  options_.vfs.clear();
  std::vector<uint64_t> ids;
  for (const auto& event : ReadAll()) ids.push_back(event.id);
  EXPECT_THAT(ids, ::testing::ElementsAre(1, 7, 8));
  EXPECT_EQ(damaged_, 0u);
}

}  // namespace
}  // namespace nanwatch
