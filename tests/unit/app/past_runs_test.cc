// Runs judged again from a real history.

#include "app/past_runs.h"

#include "app/replay.h"
#include "tests/unit/history/history_fixture.h"

namespace nanwatch {
namespace {

using testing::HasSubstr;

class PastRunsTest : public HistoryFixture {
 protected:
  // An attempt of one rank and a hundred steps, from its first event to its
  // last.
  void PutRun(const RunKey& run) {
    RankOpened rank;
    rank.rank.rank = 0;
    Put(Opened(run));
    Put(EventOf(run, rank, 0));
    Put(Steps(run, 0, 100));
    Put(EventOf(run, RankClosed{}, 0));
    Put(EventOf(run, RunClosed{"all ranks closed"}));
    Commit();
  }
};

TEST_F(PastRunsTest, FindsTheNewestAttemptOrTheOneAskedFor) {
  PutRun({"job", 0});
  PutRun({"other", 5});
  PutRun({"job", 1});
  PastRuns past(options_.path, EngineOptions{});
  const auto newest = past.Find("job", {});
  ASSERT_TRUE(newest.ok()) << newest.error();
  ASSERT_NE(*newest, nullptr);
  EXPECT_EQ((*newest)->key, (RunKey{"job", 1}));
  EXPECT_EQ((*newest)->state, LifeState::kClosed);
  EXPECT_EQ((*newest)->end_reason, "all ranks closed");
  EXPECT_EQ((*newest)->last_step, 99);
  EXPECT_EQ((*newest)->totals.steps, 100u);
  EXPECT_EQ((*past.Find("job", 0))->key, (RunKey{"job", 0}));
  // Remembered.
  EXPECT_EQ(*past.Find("job", 1), *newest);
}

TEST_F(PastRunsTest, KnowsNoneThatHistoryDoesNotKnow) {
  PutRun({"job", 0});
  PastRuns past(options_.path, EngineOptions{});
  EXPECT_EQ(*past.Find("job", 1), nullptr);
  EXPECT_EQ(*past.Find("nobody", {}), nullptr);
}

TEST_F(PastRunsTest, BeginsAtACheckpoint) {
  const RunKey run{"job", 0};
  PutRun(run);
  const RunKey again{"again", 0};
  Put(Opened(again));
  RankOpened rank;
  rank.rank.rank = 0;
  Put(EventOf(again, rank, 0));
  Put(Steps(again, 0, 100));
  Engine engine{EngineOptions{}};
  Effects effects;
  for (size_t i = put_.size() - 3; i < put_.size(); ++i) {
    engine.Apply(put_[i].now, put_[i].event, &effects);
  }
  Put(*engine.Checkpoint(again));
  Put(EventOf(again, RunClosed{"all ranks closed"}));
  Commit();
  const auto reader = Reader();
  // Nothing is left to judge after the checkpoint, everything without one.
  const auto view = ReplayRun(reader.get(), again, EngineOptions{}, 50);
  ASSERT_TRUE(view.ok()) << view.error();
  EXPECT_EQ((*view)->totals.steps, 100u);
  EXPECT_EQ((*view)->end_reason, "all ranks closed");
  const auto refused = ReplayRun(reader.get(), run, EngineOptions{}, 50);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error(), HasSubstr("more than 50 step records"));
}

}  // namespace
}  // namespace nanwatch
