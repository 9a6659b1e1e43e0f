#include "history/history.h"

#include <gmock/gmock.h>

#include <limits>

#include "base/mailbox.h"
#include "tests/unit/history/history_fixture.h"

namespace nanwatch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using HistoryTest = HistoryFixture;

TEST_F(HistoryTest, BeginsWithAnEmptyFile) {
  EXPECT_TRUE(report_.created);
  EXPECT_FALSE(report_.degraded);
  EXPECT_EQ(history_->last_id(), 0u);
  EXPECT_THAT(ReadAll(), IsEmpty());
}

TEST_F(HistoryTest, GivesBackWhatWasAppendedInOrder) {
  Put({EventOf({}, DaemonStarted{"v1"}), Opened(Job(1)), Opened(Job(2))});
  for (int i = 0; i < 50; ++i) {
    clock_.Advance(std::chrono::milliseconds(3));
    Put({Steps(Job(1), 10 * i, 10), Steps(Job(2), 10 * i, 10, 1),
         Steps(Job(1), 10 * i, 10, 1)});
    if (i % 7 == 0) Commit();
  }
  Commit();
  ExpectAsPut(ReadAll());
  EXPECT_EQ(damaged_, 0u);
}

TEST_F(HistoryTest, NothingIsCommittedBeforeTheCommit) {
  uint64_t told = 0;
  history_->OnCommitted([&](uint64_t id) { told = id; });
  Put({Opened(Job()), Steps(Job(), 0, 3)});
  EXPECT_EQ(history_->last_id(), 2u);
  EXPECT_EQ(history_->committed(), 0u);
  EXPECT_GT(history_->stats().queue_bytes, 0u);
  Commit();
  EXPECT_EQ(history_->committed(), 2u);
  EXPECT_EQ(told, 2u);
  EXPECT_EQ(history_->stats().queue_bytes, 0u);
  EXPECT_EQ(history_->stats().events, 2u);
}

TEST_F(HistoryTest, IdsGoOnAfterReopening) {
  Put({Opened(Job()), Steps(Job(), 0, 3)});
  Open();  // the closing commits
  EXPECT_FALSE(report_.created);
  EXPECT_EQ(history_->last_id(), 2u);
  PutAndCommit(Steps(Job(), 3, 3));
  ExpectAsPut(ReadAll());
}

TEST_F(HistoryTest, ReadsFromAnyIdOn) {
  Put(Opened(Job()));
  for (int i = 0; i < 20; ++i) Put({Steps(Job(), i, 1), Steps(Job(), i, 1, 1)});
  Commit();
  for (uint64_t after = 0; after <= put_.size(); ++after) {
    const auto events = ReadAll(after);
    ASSERT_EQ(events.size(), put_.size() - after);
    ASSERT_EQ(events.empty() ? after + 1 : events.front().id, after + 1);
    EXPECT_EQ(damaged_, 0u);
  }
}

TEST_F(HistoryTest, AReaderMayStop) {
  Put({Opened(Job()), Steps(Job(), 0, 1), Steps(Job(), 1, 1)});
  Commit();
  int seen = 0;
  ASSERT_TRUE(Reader()->ForEachEvent(
      0, std::nullopt, [&](const StampedEvent&) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2);
}

TEST_F(HistoryTest, OneRunComesWithStartsAndRules) {
  Put({EventOf({}, DaemonStarted{"v1"}), Opened(Job(1)), Opened(Job(2)),
       EventOf({}, RulesLoaded{}), Steps(Job(2), 0, 5), Steps(Job(1), 0, 5)});
  Commit();
  std::vector<uint64_t> ids;
  for (const StampedEvent& e : ReadAll(0, Job(2))) ids.push_back(e.id);
  EXPECT_THAT(ids, ElementsAre(1, 3, 4, 5));
}

TEST_F(HistoryTest, AnUnknownRunIsAnErrorThatNamesIt) {
  const Status read = Reader()->ForEachEvent(
      0, Job(99), [](const StampedEvent&) { return true; });
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error(), ::testing::HasSubstr("job-99"));
}

TEST_F(HistoryTest, RefusesWhatDoesNotFitTheQueue) {
  options_.queue_bytes = 10'000;
  Open();
  Put(Opened(Job()));
  const Event big = Steps(Job(), 0, 1000);
  ASSERT_FALSE(history_->Append(clock_.Now(), std::span(&big, 1)));
  EXPECT_EQ(history_->last_id(), 1u);
  Commit();
  // Alone, it is taken whatever it weighs.
  EXPECT_TRUE(history_->Append(clock_.Now(), std::span(&big, 1)));
  Commit();
  EXPECT_EQ(history_->committed(), 2u);
}

TEST_F(HistoryTest, RestartBeginsAtTheNewestUsableCheckpoint) {
  Put({EventOf({}, RulesLoaded{}), Opened(Job(1)), Opened(Job(2))});    // 1 2 3
  Put({Steps(Job(1), 0, 5), Checkpoint(Job(1)), Steps(Job(1), 5, 5)});  // 4 5 6
  Put({Checkpoint(Job(1), "v2"), Steps(Job(2), 0, 5)});                 // 7 8
  Put({Steps(Job(1), 10, 5)});                                          // 9
  Commit();
  EXPECT_THAT(IdsForRestart("v1"), ElementsAre(1, 3, 5, 6, 7, 8, 9));
  EXPECT_THAT(IdsForRestart("v2"), ElementsAre(1, 3, 7, 8, 9));
  EXPECT_THAT(IdsForRestart("v3"), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST_F(HistoryTest, RestartLeavesOutRunsThatEndedLongAgo) {
  Put({Opened(Job(1)), Opened(Job(2)), Steps(Job(1), 0, 5),
       EventOf(Job(1), RunClosed{"all ranks closed"}), Steps(Job(2), 0, 5)});
  Commit();
  // People still look at it.
  EXPECT_THAT(IdsForRestart("v1"), ElementsAre(1, 2, 3, 4, 5));
  clock_.Advance(std::chrono::hours(2));
  PutAndCommit(Opened(Job(3)));
  EXPECT_THAT(IdsForRestart("v1"), ElementsAre(2, 5, 6));
}

TEST_F(HistoryTest, RunsAreListedWithTheirEnds) {
  Put({Opened(Job(1)), Opened(Job(2)), Steps(Job(1), 0, 5),
       Steps(Job(2), 0, 9)});
  Commit();
  clock_.Advance(std::chrono::seconds(5));
  PutAndCommit(EventOf(Job(1), RunClosed{"lost"}));
  const auto runs = Reader()->Runs();
  ASSERT_TRUE(runs.ok());
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ((*runs)[0].key, Job(1));
  EXPECT_EQ((*runs)[0].description.job, "word2vec");
  EXPECT_EQ((*runs)[0].opened, kStart);
  EXPECT_EQ((*runs)[0].ended, kStart + std::chrono::seconds(5));
  EXPECT_EQ((*runs)[0].end_reason, "lost");
  EXPECT_EQ((*runs)[0].last_step, 4);
  EXPECT_FALSE((*runs)[1].ended.has_value());
  EXPECT_EQ((*runs)[1].last_step, 8);
}

TEST_F(HistoryTest, IncidentsAreKeptAsLastSent) {
  Incident incident;
  incident.id = 0xfedcba9876543210;
  incident.rule = RuleId::kOverflowNotScaleDependent;
  incident.cause = Cause::kHarmlessPadding;
  incident.subject = {3, "adam", "loss/Log", Slot::kGradInput};
  incident.host = "node-3";
  incident.state = AlertState::kFiring;
  incident.severity = Severity::kWarning;
  incident.fired = kStart;
  Finding finding;
  finding.rule = RuleId::kOverflowNotScaleDependent;
  finding.sentence = "the scale fell";
  finding.numbers = {{"scale_before", 2.0, ""},
                     {"nan", std::numeric_limits<double>::quiet_NaN(), "x"}};
  incident.findings = {finding};
  Put(Opened(Job()));
  history_->SaveSent(Job(), incident);
  Commit();
  incident.state = AlertState::kResolved;
  incident.resolved = kStart + std::chrono::seconds(9);
  incident.resolved_step = -3;
  history_->SaveSent(Job(), incident);
  Commit();
  const auto sent = Reader()->Sent();
  ASSERT_TRUE(sent.ok());
  ASSERT_EQ(sent->size(), 1u);
  EXPECT_EQ(sent->front().first, Job());
  const Incident& read = sent->front().second;
  EXPECT_EQ(read.id, incident.id);
  EXPECT_EQ(read.subject, incident.subject);
  EXPECT_EQ(read.state, AlertState::kResolved);
  EXPECT_EQ(read.cause, Cause::kHarmlessPadding);
  EXPECT_EQ(read.resolved, incident.resolved);
  EXPECT_EQ(read.resolved_step, -3);
  ASSERT_EQ(read.findings.size(), 1u);
  EXPECT_EQ(read.findings[0].sentence, "the scale fell");
  EXPECT_EQ(read.findings[0].numbers[0].value, 2.0);
}

TEST_F(HistoryTest, ItsOwnThreadCommitsAndClosingCommitsTheRest) {
  options_.own_thread = true;
  options_.commit_interval = std::chrono::milliseconds(1);
  history_.reset();
  auto opened = History::Open(options_, SystemClock(), &report_);
  ASSERT_TRUE(opened.ok());
  history_ = std::move(*opened);
  Mailbox<uint64_t> told(1000, 1000);
  history_->OnCommitted([&](uint64_t id) { told.TryPush(std::move(id), 1); });
  const Event event = Opened(Job());
  ASSERT_TRUE(history_->Append(kStart, std::span(&event, 1)));
  std::vector<uint64_t> ids;
  told.PopAll(std::chrono::seconds(10), &ids);
  EXPECT_THAT(ids, ElementsAre(1));
  ASSERT_TRUE(history_->Append(kStart, std::span(&event, 1)));
  history_->Close();
  EXPECT_EQ(history_->committed(), 2u);
  EXPECT_EQ(ReadAll().size(), 2u);
}

TEST_F(HistoryTest, ACheckpointOfManyRanksWaitsForItsShareOfWhatCame) {
  constexpr uint64_t kLeast = 4 << 20;
  constexpr int kRanks = 48;
  constexpr uint64_t kShare = 16 * kRanks * (8 << 10);
  static_assert(kShare > kLeast);
  Put({Opened(Job(1)), Opened(Job(2))});
  for (int rank = 0; rank < kRanks; ++rank) {
    Put(EventOf(Job(2), RankOpened{}, rank));
  }
  uint64_t bytes = 0;
  const auto bring = [&](uint64_t more_than) {
    for (int64_t step = 0; bytes <= more_than; step += 4096) {
      bytes += BytesOf(Steps(Job(1), step, 4096)).size();
      Put(Steps(Job(1), step, 4096));
      PutAndCommit(Steps(Job(2), step, 4096));
    }
  };
  bring(kLeast);
  EXPECT_THAT(history_->NeedCheckpoint(), ElementsAre(Job(1)));
  bring(kShare);
  EXPECT_THAT(history_->NeedCheckpoint(), ElementsAre(Job(1), Job(2)));
  PutAndCommit(Checkpoint(Job(2)));
  EXPECT_THAT(history_->NeedCheckpoint(), ElementsAre(Job(1)));
}

TEST_F(HistoryTest, AReaderBesideTheWriterSeesWholePrefixes) {
  Put(Opened(Job()));
  Commit();
  const auto reader = Reader();
  uint64_t seen = 0;
  for (int i = 0; i < 30; ++i) {
    PutAndCommit(Steps(Job(), i * 10, 10));
    uint64_t expected = seen;
    ASSERT_TRUE(
        reader->ForEachEvent(seen, std::nullopt, [&](const StampedEvent& e) {
          EXPECT_EQ(e.id, ++expected);
          return true;
        }));
    EXPECT_EQ(expected, history_->committed());
    seen = expected;
  }
}

}  // namespace
}  // namespace nanwatch
