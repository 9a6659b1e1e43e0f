// Runs judged again from a real history.

#include "app/past_runs.h"

#include <cmath>

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
  PastRuns past(options_.path);
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
  PastRuns past(options_.path);
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
  Engine engine;
  Effects effects;
  for (size_t i = put_.size() - 3; i < put_.size(); ++i) {
    engine.Apply(put_[i].now, put_[i].event, &effects);
  }
  Put(*engine.Checkpoint(again));
  Put(EventOf(again, RunClosed{"all ranks closed"}));
  Commit();
  const auto reader = Reader();
  // Nothing is left to judge after the checkpoint, everything without one.
  const auto view = ReplayRun(reader.get(), again, 50);
  ASSERT_TRUE(view.ok()) << view.error();
  EXPECT_EQ((*view)->totals.steps, 100u);
  EXPECT_EQ((*view)->end_reason, "all ranks closed");
  const auto refused = ReplayRun(reader.get(), run, 50);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error(), HasSubstr("more than 50 step records"));
}

// What the pipeline does with an event: history has it, then the engine.
class LiveAndPastTest : public HistoryFixture {
 protected:
  void Say(const RunKey& run, EventBody body, int32_t rank = -1) {
    const Event event = EventOf(run, std::move(body), rank);
    Put(event);
    engine_.Apply(clock_.Now(), event, &effects_);
    for (const Notice& notice : effects_.notices) {
      history_->SaveSent(notice.run, notice.incident);
    }
    effects_.Clear();
  }
  void Step(const RunKey& run, double loss, double scale, bool overflow) {
    clock_.Advance(std::chrono::seconds(1));
    StepColumns columns;
    columns.step = {++step_};
    columns.time = {clock_.Now()};
    columns.field[static_cast<int>(StepField::kLoss)] = Column{{loss}, {}};
    columns.field[static_cast<int>(StepField::kLossScale)] =
        Column{{scale}, {}};
    columns.flag[static_cast<int>(StepFlag::kOverflow)] =
        FlagColumn{{static_cast<uint8_t>(overflow)}, {}};
    Say(run, StepBatch{std::move(columns)}, 0);
  }
  // A NaN loss that clears, then overflows that do not, then the end.
  void Live(const RunKey& run) {
    Say(run, std::get<RunOpened>(Opened(run).body));
    RankOpened rank;
    rank.rank.rank = 0;
    rank.rank.host = "node-7";
    Say(run, rank, 0);
    Step(run, 2, 8, false);
    double scale = 8;
    for (int i = 0; i < 20; ++i) Step(run, std::nan(""), scale, false);
    for (int i = 0; i < 400; ++i) Step(run, 2, scale, false);
    for (int i = 0; i < 30; ++i) Step(run, 2, scale /= 2, true);
    Say(run, RankClosed{}, 0);
    Say(run, RunClosed{"all ranks closed"});
  }
  std::shared_ptr<const RunView> Shown(const RunKey& run) {
    return engine_.Publish(clock_.Now(), 0, Snapshot())
        ->Find(run.run_id, run.attempt);
  }

  Engine engine_;
  Effects effects_;
  int64_t step_ = 0;
};

void ExpectSame(const Incident& live, const Incident& past) {
  EXPECT_EQ(live.id, past.id);
  EXPECT_EQ(live.family, past.family);
  EXPECT_EQ(live.rule, past.rule);
  EXPECT_EQ(live.cause, past.cause);
  EXPECT_EQ(live.subject, past.subject);
  EXPECT_EQ(live.host, past.host);
  EXPECT_EQ(live.state, past.state);
  EXPECT_EQ(live.severity, past.severity);
  EXPECT_EQ(live.worst, past.worst);
  EXPECT_EQ(live.opened, past.opened);
  EXPECT_EQ(live.resolved, past.resolved);
  EXPECT_EQ(live.resolved_step, past.resolved_step);
  EXPECT_EQ(live.resolved_reason, past.resolved_reason);
  EXPECT_EQ(live.summary, past.summary);
  ASSERT_EQ(live.findings.size(), past.findings.size());
  for (size_t i = 0; i < live.findings.size(); ++i) {
    EXPECT_EQ(live.findings[i].sentence, past.findings[i].sentence);
    EXPECT_EQ(live.findings[i].family, past.findings[i].family);
    EXPECT_EQ(live.findings[i].last_step, past.findings[i].last_step);
  }
}

TEST_F(LiveAndPastTest, APastRunShowsWhatItShowedWhenItEnded) {
  const RunKey run{"job", 0};
  EngineOptions then;
  then.alert.hold = std::chrono::seconds(200);
  Say({}, RulesLoaded{{}, then});
  Live(run);
  const auto live = Shown(run);
  ASSERT_NE(live, nullptr);
  ASSERT_GE(live->incidents.size(), 2u);
  bool cleared = false, ended = false;
  for (const Incident& incident : live->incidents) {
    EXPECT_EQ(incident.state, AlertState::kResolved);
    EXPECT_FALSE(incident.findings.empty());
    cleared |= incident.resolved_reason == "cleared";
    ended |= incident.resolved_reason == "all ranks closed";
  }
  EXPECT_TRUE(cleared && ended);
  // Another daemon, set otherwise, long after.
  clock_.Advance(std::chrono::hours(30));
  EngineOptions now;
  now.alert.hold = std::chrono::seconds(30);
  now.ended_run_leaves_after = std::chrono::seconds(1);
  Say({}, DaemonStarted{"2", clock_.Now(), "another"});
  Say({}, RulesLoaded{{}, now});
  clock_.Advance(std::chrono::hours(1));
  Say({"other", 0}, std::get<RunOpened>(Opened(run).body));
  Commit();
  EXPECT_EQ(Shown(run), nullptr);
  const auto past = PastRuns(options_.path).Find("job", {});
  ASSERT_TRUE(past.ok()) << past.error();
  ASSERT_NE(*past, nullptr);
  ASSERT_EQ((*past)->incidents.size(), live->incidents.size());
  for (size_t i = 0; i < live->incidents.size(); ++i) {
    ExpectSame(live->incidents[i], (*past)->incidents[i]);
  }
  EXPECT_EQ((*past)->diagnosis.headline, live->diagnosis.headline);
}

TEST_F(LiveAndPastTest, TheRecordedOptionsComeBackWithAReplay) {
  EngineOptions then;
  then.alert.hold = std::chrono::seconds(200);
  then.stop_on = Severity::kCritical;
  Say({}, DaemonStarted{"1", {}, "first"});
  Say({}, RulesLoaded{{}, then});
  Live({"job", 0});
  Say({}, DaemonStarted{"1", clock_.Now(), "first"});
  Say({}, DaemonStarted{"2", clock_.Now(), "second"});
  Commit();
  ReadingEngine replayed;
  const auto reader = Reader();
  const auto outcome = ReplayAll(reader.get(), &replayed);
  ASSERT_TRUE(outcome.ok()) << outcome.error();
  EXPECT_THAT(outcome->recorded_by,
              testing::ElementsAre(EngineStamp{"1", "first"},
                                   EngineStamp{"2", "second"}));
  const auto sent = reader->Sent();
  ASSERT_TRUE(sent.ok());
  const auto run =
      replayed.engine().Publish(outcome->newest, 0, Snapshot())->Find("job", 0);
  ASSERT_NE(run, nullptr);
  EXPECT_TRUE(run->stop_requested);
  ASSERT_EQ(sent->size(), run->incidents.size());
  for (const auto& [key, said] : *sent) {
    bool found = false;
    for (const Incident& incident : run->incidents) {
      if (incident.id != said.id) continue;
      found = true;
      EXPECT_EQ(incident.resolved, said.resolved);
      EXPECT_EQ(incident.family, said.family);
      ASSERT_FALSE(said.findings.empty());
      EXPECT_EQ(said.findings[0].family, incident.findings[0].family);
    }
    EXPECT_TRUE(found) << said.summary;
  }
}

}  // namespace
}  // namespace nanwatch
