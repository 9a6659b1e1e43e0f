// The loop with a real engine, and a history that can be full.

#include "app/pipeline.h"

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/limits.h"

namespace nanwatch {
namespace {

using testing::HasSubstr;

constexpr SessionId kSession = 7;
constexpr uint64_t kUser = 1;

class FullableHistory : public History {
 public:
  bool full = false;
  bool hangs = false;  // takes all, and writes nothing
  std::vector<Event> kept;
  std::vector<RunKey> need;

  bool Append(Time, SharedEvents events) override {
    if (full && !events->empty()) return false;
    kept.insert(kept.end(), events->begin(), events->end());
    return true;
  }
  uint64_t last_id() const override { return kept.size(); }
  uint64_t committed() const override { return hangs ? 0 : kept.size(); }
  bool Stored(uint64_t) const override { return true; }
  void OnCommitted(std::function<void(uint64_t)>) override {}
  void SaveSent(const RunKey&, const Incident&) override {}
  std::vector<RunKey> NeedCheckpoint() const override { return need; }
  void RunOnce(Duration) override {}
  void Close() override {}
  HistoryStats stats() const override { return {}; }

  template <typename Body>
  int Count() const {
    int n = 0;
    for (const Event& event : kept) {
      n += std::holds_alternative<Body>(event.body);
    }
    return n;
  }
};

class HeardPort : public ReplyPort {
 public:
  Sequence acked = 0;
  std::optional<RefusedMessage> refused;
  std::vector<Request> asked;

  void Opened(SessionId, const OpenedSession&, bool) override {}
  void Ack(const Acknowledgement& ack) override { acked = ack.sequence; }
  void Refuse(SessionId, Sequence, const RefusedMessage& why,
              Duration) override {
    refused = why;
  }
  void Ask(const Request& request) override { asked.push_back(request); }
};

class PipelineTest : public testing::Test {
 protected:
  PipelineTest() {
    Offer(0, [] {
      OpenSessionMessage open;
      open.session = kSession;
      open.run_id = "job";
      return open;
    }());
    Turn();
  }
  bool Offer(Sequence sequence, decltype(ClientMessage::body) body,
             size_t bytes = 100) {
    return OfferAs(kUser, kSession, sequence, std::move(body), bytes);
  }
  bool OfferAs(uint64_t user, SessionId session, Sequence sequence,
               decltype(ClientMessage::body) body, size_t bytes) {
    Arrival arrival;
    arrival.port = port_;
    arrival.user = user;
    arrival.message.session = session;
    arrival.message.sequence = sequence;
    arrival.message.body = std::move(body);
    return pipeline_.Offer(std::move(arrival), bytes) != Offered::kFull;
  }
  void EndStream() {
    Arrival arrival;
    arrival.port = port_;
    arrival.user = kUser;
    arrival.ended = true;
    pipeline_.Offer(std::move(arrival), 0);
  }
  StepBatch Step(int64_t step) {
    StepBatch batch;
    batch.columns.step = {step};
    batch.columns.time = {system_.Now()};
    return batch;
  }
  void Turn() {
    system_.Advance(std::chrono::milliseconds(10));
    pipeline_.RunOnce(Duration(0));
  }

  ManualClock system_{FromMicros(1'700'000'000'000'000)};
  MonotonicClock clock_{system_};
  Engine engine_;
  FullableHistory history_;
  Outbox outbox_{[](const NoticeReply&) {}, [](uint64_t) { return true; }};
  Published<Snapshot> published_{std::make_shared<Snapshot>()};
  Pipeline pipeline_{engine_, &history_, outbox_, published_, clock_, 0};
  std::shared_ptr<HeardPort> port_ = std::make_shared<HeardPort>();
};

TEST_F(PipelineTest, AFullHistoryRefusesAndSaysWhereToGoOn) {
  history_.full = true;
  Offer(1, Step(1));
  Turn();
  ASSERT_TRUE(port_->refused);
  EXPECT_EQ(port_->refused->reason, RefusalReason::kBusy);
  EXPECT_EQ(port_->refused->expected_sequence, 1u);
  EXPECT_EQ(port_->refused->limit, "history_queue");
  EXPECT_THAT(port_->refused->message, HasSubstr("sequence 1"));
  EXPECT_EQ(engine_.stats().steps, 0u);

  history_.full = false;
  Offer(1, Step(1));
  Turn();
  EXPECT_EQ(port_->acked, 1u);
  EXPECT_EQ(engine_.stats().steps, 1u);
}

// Who was acknowledged may ask at once: readers wait for it by these two.
TEST_F(PipelineTest, SaysHowMuchTheSnapshotShows) {
  Offer(1, Step(1));
  Turn();
  EXPECT_EQ(pipeline_.shown(), outbox_.released());
  Offer(2, Step(2));
  pipeline_.RunOnce(Duration(0));  // too soon for the next snapshot
  EXPECT_EQ(port_->acked, 2u);
  EXPECT_LT(pipeline_.shown(), outbox_.released());
  Turn();
  EXPECT_EQ(pipeline_.shown(), outbox_.released());
  ASSERT_EQ(published_.Get()->runs.size(), 1u);
  Offer(2, Step(2));  // known already: nothing is to be shown
  pipeline_.RunOnce(Duration(0));
  EXPECT_EQ(pipeline_.shown(), outbox_.released());
}

// History may name runs that the engine does not hold (any more), and go on to.
TEST_F(PipelineTest, ACheckpointThatCannotBeKeepsNoOtherWaiting) {
  for (int n = 0; n < 20; ++n) history_.need.push_back({"gone", n});
  history_.need.push_back({"job", 0});
  system_.Advance(std::chrono::seconds(1));
  Turn();
  EXPECT_EQ(history_.Count<RunCheckpoint>(), 1);
}

TEST_F(PipelineTest, AStreamThatEndsWhileHistoryIsFullIsLostLater) {
  history_.full = true;
  EndStream();
  Turn();
  EXPECT_EQ(engine_.OpenSessions().size(), 1u);
  history_.full = false;
  Turn();
  EXPECT_EQ(history_.Count<RankLost>(), 1);
  EXPECT_TRUE(engine_.OpenSessions().empty());
  Turn();
  EXPECT_EQ(history_.Count<RankLost>(), 1);
}

TEST_F(PipelineTest, WhatComesFromThisSideWaitsForHistoryInItsOrder) {
  history_.full = true;
  Event rules;
  rules.body = RulesLoaded{};
  EXPECT_TRUE(pipeline_.Post(rules));
  Turn();
  Event stop;
  stop.run = {"job", 0};
  stop.body = Annotation{.kind = Annotation::Kind::kStopRequest};
  EXPECT_TRUE(pipeline_.Post(stop));
  Turn();
  history_.full = false;
  Turn();
  EXPECT_EQ(history_.Count<RulesLoaded>(), 1);
  ASSERT_EQ(history_.Count<Annotation>(), 1);
  EXPECT_TRUE(std::holds_alternative<Annotation>(history_.kept.back().body));
}

TEST_F(PipelineTest, ALostRunIsClosedWhenHistoryHasRoomAgain) {
  EndStream();
  Turn();
  history_.full = true;
  system_.Advance(std::chrono::minutes(16));
  Turn();
  Turn();
  EXPECT_EQ(history_.Count<RunClosed>(), 0);
  history_.full = false;
  Turn();
  Turn();
  EXPECT_EQ(history_.Count<RunClosed>(), 1);
}

TEST_F(PipelineTest, ARequestToStopIsSaidAgainToWhoResumes) {
  Event stop;
  stop.run = {"job", 0};
  stop.body = Annotation{.kind = Annotation::Kind::kStopRequest};
  pipeline_.Post(stop);
  Turn();
  ASSERT_EQ(port_->asked.size(), 1u);
  OpenSessionMessage again;
  again.session = kSession;
  again.run_id = "job";
  Offer(0, again);
  Turn();
  ASSERT_EQ(port_->asked.size(), 2u);
  EXPECT_EQ(port_->asked[1].id, port_->asked[0].id);
  EXPECT_EQ(port_->asked[1].kind, Request::Kind::kStop);
}

TEST_F(PipelineTest, AFullMailboxRefusesAndTakesAgainWhenItIsEmptied) {
  EXPECT_TRUE(Offer(1, Step(1), limits::kMailboxBytes));
  EXPECT_FALSE(Offer(2, Step(2)));
  Turn();
  EXPECT_EQ(port_->acked, 1u);
  EXPECT_TRUE(Offer(2, Step(2)));
  Turn();
  EXPECT_EQ(port_->acked, 2u);
}

TEST_F(PipelineTest, TakesNothingOnceItIsClosed) {
  pipeline_.Close();
  EXPECT_FALSE(Offer(1, Step(1)));
}

TEST_F(PipelineTest, AClockThatIsSetForwardIsAnEventBeforeAllElse) {
  Offer(1, Step(1));
  Turn();
  const uint64_t ticks = engine_.stats().ticks;
  system_.Set(system_.Now() + std::chrono::hours(24 * 365 * 26));
  Offer(2, Step(2));
  Turn();
  EXPECT_EQ(port_->acked, 2u);
  EXPECT_LE(engine_.stats().ticks, ticks + 2);
  ASSERT_EQ(history_.Count<DaemonStarted>(), 1);
  const Event& event = history_.kept[history_.kept.size() - 2];
  EXPECT_TRUE(std::get<DaemonStarted>(event.body).clock_jumped);
}

TEST_F(PipelineTest, AClockThatIsSetBackIsNoEventAndTimeGoesOn) {
  const Time before = clock_.Now();
  system_.Set(before - std::chrono::hours(48));
  Turn();
  system_.Advance(std::chrono::minutes(40));
  Turn();
  EXPECT_EQ(history_.Count<DaemonStarted>(), 0);
  EXPECT_GT(clock_.Now() - before, std::chrono::minutes(37));
  EXPECT_GT(clock_.ahead(), std::chrono::hours(47));
}

// Two users, the first of whom floods.
class TwoUsersTest : public PipelineTest {
 protected:
  static constexpr SessionId kOther = 8;
  static constexpr size_t kBatch = 100 << 10;

  TwoUsersTest() {
    OpenSessionMessage open;
    open.session = kOther;
    open.run_id = "other";
    OfferAs(2, kOther, 0, open, 100);
    Turn();
  }
  void Flood(int batches) {
    for (int i = 0; i < batches; ++i) {
      ++flooded_;
      ASSERT_TRUE(
          Offer(flooded_, Step(static_cast<int64_t>(flooded_)), kBatch));
    }
  }
  int64_t StepsOf(const char* run) const {
    int64_t steps = 0;
    for (const Event& event : history_.kept) {
      steps += event.run.run_id == run &&
               std::holds_alternative<StepBatch>(event.body);
    }
    return steps;
  }

  Sequence flooded_ = 0;
};

TEST_F(TwoUsersTest, AFloodIsOvertaken) {
  Flood(300);
  ASSERT_TRUE(OfferAs(2, kOther, 1, Step(1), 100));
  Turn();
  EXPECT_EQ(StepsOf("other"), 1);
  EXPECT_LT(StepsOf("job"), 15);
  pipeline_.Drain(std::chrono::seconds(5));
  EXPECT_EQ(StepsOf("job"), 300);
}

TEST_F(TwoUsersTest, WhatIsNotCommittedIsOneUsersShareOnly) {
  history_.hangs = true;
  Flood(300);
  for (int turn = 0; turn < 20; ++turn) Turn();
  const int64_t judged = StepsOf("job");
  EXPECT_LT(judged * kBatch, limits::kUncommittedBytes * 3 / 4);
  ASSERT_TRUE(OfferAs(2, kOther, 1, Step(1), 100));
  Turn();
  EXPECT_EQ(StepsOf("other"), 1);
  EXPECT_EQ(StepsOf("job"), judged);
  history_.hangs = false;
  Turn();
  Turn();
  EXPECT_GT(StepsOf("job"), judged);
}

// Alerts do not wait for a disk.
TEST_F(TwoUsersTest, WhereTheDiskHangsJudgingGoesOn) {
  history_.hangs = true;
  Flood(300);
  for (int turn = 0; turn < 20; ++turn) Turn();
  EXPECT_LT(StepsOf("job"), 300);
  system_.Advance(std::chrono::seconds(1));
  for (int turn = 0; turn < 60; ++turn) Turn();
  EXPECT_EQ(StepsOf("job"), 300);
}

TEST_F(TwoUsersTest, AnEndComesBehindWhatItsStreamBrought) {
  Flood(100);
  EndStream();
  Turn();
  EXPECT_EQ(history_.Count<RankLost>(), 0);
  pipeline_.Drain(std::chrono::seconds(5));
  EXPECT_EQ(StepsOf("job"), 100);
  EXPECT_GT(history_.Count<RankLost>(), 0);
}

TEST_F(PipelineTest, QuotasHoldFromTheNextTurnOn) {
  UserQuotas quotas;
  quotas.each.runs = 1;
  pipeline_.SetQuotas(quotas);
  OpenSessionMessage open;
  open.session = 9;
  open.run_id = "second";
  OfferAs(kUser, 9, 0, open, 100);
  Turn();
  ASSERT_TRUE(port_->refused);
  EXPECT_EQ(port_->refused->limit, "user_runs");
}

}  // namespace
}  // namespace nanwatch
