#include "engine/admission.h"

#include <gmock/gmock.h>

#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

const Time* TimeOf(const Driver& driver, size_t event, size_t row) {
  const auto* steps =
      std::get_if<StepBatch>(&driver.history().at(event).event.body);
  return steps == nullptr ? nullptr : &steps->columns.time.at(row);
}

TEST(AdmissionTest, FirstRankOpensTheRun) {
  Driver driver;
  driver.Open("job");
  ASSERT_EQ(driver.history().size(), 2u);
  EXPECT_EQ(driver.last_opened.run, (RunKey{"job", 0}));
  EXPECT_EQ(std::get<RunOpened>(driver.history()[0].event.body).reason,
            "first rank");
  EXPECT_TRUE(
      std::holds_alternative<RankOpened>(driver.history()[1].event.body));
}

TEST(AdmissionTest, NamesARunWhoseClientGaveNoName) {
  Driver driver;
  driver.Open("");
  EXPECT_EQ(driver.last_opened.run.run_id, "fresh-0");
}

TEST(AdmissionTest, DuplicateMakesNoEvents) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Steps(s, {{.step = 1}});
  const size_t events = driver.history().size();
  const Admitted again =
      driver.Send({.session = s,
                   .sequence = 1,
                   .body = StepBatch{Columns({{.step = 1}}, driver.now())}});
  EXPECT_FALSE(again.refused);
  EXPECT_EQ(driver.history().size(), events);
  EXPECT_EQ(driver.engine().stats().duplicates, 1u);
  EXPECT_EQ(driver.engine().stats().steps, 1u);
}

TEST(AdmissionTest, GapIsRefusedWithWhatIsExpected) {
  Driver driver;
  const SessionId s = driver.Open("job");
  const Admitted gap =
      driver.Send({.session = s, .sequence = 3, .body = Dropped{}});
  ASSERT_TRUE(gap.refused);
  EXPECT_EQ(gap.refused->reason, RefusalReason::kOutOfSequence);
  EXPECT_EQ(gap.refused->expected_sequence, 1u);
  EXPECT_TRUE(gap.events.empty());
}

TEST(AdmissionTest, UnknownSessionIsToldToOpen) {
  Driver driver;
  const Admitted lost =
      driver.Send({.session = 77, .sequence = 1, .body = Dropped{}});
  ASSERT_TRUE(lost.refused);
  EXPECT_EQ(lost.refused->reason, RefusalReason::kUnknownSession);
  EXPECT_THAT(lost.refused->message, HasSubstr("session 4d "));
}

TEST(AdmissionTest, ResumedSessionContinuesWhereItWas) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Name(s, {{.name = "fc1"}, {.name = "fc2"}});
  driver.Steps(s, {{.step = 1}});
  const size_t events = driver.history().size();
  OpenSessionMessage again;
  again.session = s;
  again.run_id = "job";
  driver.Open(again);
  EXPECT_EQ(driver.history().size(), events);
  EXPECT_EQ(driver.last_opened.held_sequence, 2u);
  EXPECT_EQ(driver.last_opened.ops_held, 2u);
}

TEST(AdmissionTest, SessionOfAnotherRankIsNotResumed) {
  Driver driver;
  const SessionId s = driver.Open("job");
  OpenSessionMessage other;
  other.session = s;
  other.run_id = "other";
  const Admitted refused = driver.Send({.session = s, .body = other});
  ASSERT_TRUE(refused.refused);
  EXPECT_EQ(refused.refused->reason, RefusalReason::kInvalid);
}

TEST(AdmissionTest, LostSessionThatComesBackOpensItsRankAgain) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Steps(s, {{.step = 1}});
  driver.Lose(s);
  EXPECT_EQ(driver.Run("job")->state, LifeState::kLost);
  OpenSessionMessage again;
  again.session = s;
  again.run_id = "job";
  driver.Open(again);
  EXPECT_EQ(driver.last_opened.run.attempt, 0);
  EXPECT_EQ(driver.last_opened.held_sequence, 1u);
  EXPECT_TRUE(
      std::holds_alternative<RankOpened>(driver.history().back().event.body));
  EXPECT_EQ(driver.Run("job")->state, LifeState::kOpen);
}

TEST(AdmissionTest, SessionOlderThanTheDaemonContinuesAfterItsAck) {
  Driver driver;
  OpenSessionMessage open;
  open.session = 9;
  open.run_id = "job";
  open.acked = 41;
  driver.Open(open);
  EXPECT_EQ(driver.last_opened.held_sequence, 41u);
  EXPECT_FALSE(driver.Steps(9, {{.step = 500}}).refused);
  EXPECT_EQ(driver.Run("job")->last_step, 500);
}

TEST(AdmissionTest, RankThatOpensAgainIsTheNextAttemptAndOthersJoin) {
  Driver driver;
  const SessionId r0 = driver.Open("job", 0, 2);
  const SessionId r1 = driver.Open("job", 1, 2);
  driver.Lose(r0);
  driver.Lose(r1);
  driver.Open("job", 1, 2);
  EXPECT_EQ(driver.last_opened.run.attempt, 1);
  driver.Open("job", 0, 2);
  EXPECT_EQ(driver.last_opened.run.attempt, 1);
  EXPECT_EQ(driver.Run("job", 0)->end_reason, "superseded");
  EXPECT_EQ(driver.Run("job", 1)->ranks_open, 2u);
}

TEST(AdmissionTest, TheClientsAttemptHolds) {
  Driver driver;
  OpenSessionMessage open;
  open.run_id = "job";
  open.attempt = 3;
  driver.Open(open);
  EXPECT_EQ(driver.last_opened.run.attempt, 3);
  // The same number once more is a restart that the client did not count.
  const SessionId first = 1;
  driver.Close(first);
  driver.Open(open);
  EXPECT_EQ(driver.last_opened.run.attempt, 4);
}

TEST(AdmissionTest, AttemptsOfHistoryAreNotGivenAgain) {
  Driver driver;
  driver.engine().KnowAttempt({"job", 6}, "");
  driver.Open("job");
  EXPECT_EQ(driver.last_opened.run.attempt, 7);
}

TEST(AdmissionTest, LateRankJoinsARunWhoseOthersHaveClosed) {
  Driver driver;
  const SessionId r0 = driver.Open("job", 0, 2);
  driver.Close(r0);
  EXPECT_EQ(driver.Run("job")->state, LifeState::kClosed);
  driver.Open("job", 1, 2);
  EXPECT_EQ(driver.last_opened.run.attempt, 0);
  EXPECT_EQ(driver.Run("job")->state, LifeState::kOpen);
}

// What a relay brings late is of the attempt that it was of.
TEST(AdmissionTest, ARelaysRankJoinsItsOwnAttemptThoughThatIsOver) {
  Driver driver;
  OpenSessionMessage late;
  late.run_id = "job";
  late.attempt = 0;
  late.run.world_size = 2;
  late.rank.rank = 1;
  late.relayed = driver.now();
  driver.Sleep(seconds(1));
  const SessionId r0 = driver.Open("job", 0, 2);
  driver.Lose(r0);
  driver.Open("job", 0, 2);
  ASSERT_EQ(driver.last_opened.run.attempt, 1);
  ASSERT_EQ(driver.Run("job", 0)->end_reason, "superseded");
  // A rank that opened after the restart was never of the attempt before.
  OpenSessionMessage young = late;
  young.rank.rank = 2;
  young.relayed = driver.now() + seconds(1);
  driver.Open(young);
  EXPECT_EQ(driver.last_opened.run.attempt, 1);
  driver.Open(late);
  EXPECT_EQ(driver.last_opened.run.attempt, 0);
}

TEST(AdmissionTest, ARelaySaysThatItsClientIsLost) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Send({.session = s, .body = LostMessage{"the stream ended"}});
  EXPECT_EQ(driver.Run("job")->ranks_lost, 1u);
  driver.Send({.session = s, .body = LostMessage{"again"}});
  EXPECT_EQ(driver.history().size(), 3u);
}

TEST(AdmissionTest, AScaleOfAnOpWithoutANameIsRefused) {
  Driver driver;
  const SessionId s = driver.Open("job");
  const Admitted refused = driver.Steps(s, {{.step = 1, .layers = {{7, 8.0}}}});
  ASSERT_TRUE(refused.refused);
  EXPECT_THAT(refused.refused->message, HasSubstr("a scale for op 7"));
}

TEST(AdmissionTest, StepsThatGoBackSplitTheBatch) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Name(s, {{.name = "fc1"}});
  const Admitted split = driver.Steps(
      s, {{.step = 10}, {.step = 11}, {.step = 11}, {.step = 5}, {.step = 6}});
  ASSERT_FALSE(split.refused);
  EXPECT_EQ(split.moved_to, 1);
  ASSERT_EQ(split.events.size(), 7u);
  EXPECT_EQ(std::get<StepBatch>(split.events[0].body).columns.rows(), 3u);
  EXPECT_EQ(split.events[0].sequence, 0u);
  EXPECT_EQ(std::get<RecordsEnded>(split.events[1].body).how,
            RecordsEnded::How::kBeganAgain);
  EXPECT_EQ(std::get<RunClosed>(split.events[2].body).reason, "superseded");
  EXPECT_EQ(std::get<RunOpened>(split.events[3].body).reason,
            "steps went back");
  EXPECT_EQ(std::get<RankOpened>(split.events[4].body).ops_known, 1u);
  EXPECT_EQ(std::get<OpNamesAdded>(split.events[5].body).names.ops.size(), 1u);
  EXPECT_EQ(std::get<StepBatch>(split.events[6].body).columns.step,
            (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(split.events[6].run, (RunKey{"job", 1}));
  EXPECT_EQ(split.events[6].sequence, 2u);
  EXPECT_EQ(driver.Run("job", 0)->last_step, 11);
  EXPECT_EQ(driver.Run("job", 1)->last_step, 6);
  // The session goes on in the new attempt, with its ops.
  EXPECT_FALSE(driver.Ops(s, {{.step = 7}}).refused);
  EXPECT_EQ(driver.Run("job", 1)->totals.op_statuses, 1u);
}

TEST(AdmissionTest, OtherRanksFollowIntoTheNewAttempt) {
  Driver driver;
  const SessionId r0 = driver.Open("job", 0, 2);
  const SessionId r1 = driver.Open("job", 1, 2);
  driver.Steps(r0, {{.step = 10}});
  driver.Steps(r1, {{.step = 10}});
  driver.Steps(r0, {{.step = 4}});
  EXPECT_EQ(driver.Run("job", 0)->state, LifeState::kOpen);
  driver.Steps(r1, {{.step = 4}});
  EXPECT_EQ(driver.Run("job", 0)->end_reason, "superseded");
  EXPECT_EQ(driver.Run("job", 1)->ranks_open, 2u);
  EXPECT_EQ(driver.Publish()->Find("job", 2), nullptr);
}

TEST(AdmissionTest, EachOptimizerHasItsOwnSteps) {
  Driver driver;
  const SessionId s = driver.Open("gan");
  StepColumns columns =
      Columns({{.step = 10}, {.step = 3}, {.step = 11}}, driver.now());
  columns.optimizers = {"d", "g"};
  columns.optimizer = {0, 1, 0};
  const Admitted taken = driver.Send(
      {.session = s, .sequence = 1, .body = StepBatch{std::move(columns)}});
  EXPECT_EQ(taken.events.size(), 1u);
  EXPECT_EQ(driver.Run("gan")->totals.steps, 3u);
}

TEST(AdmissionTest, BatchThatGoesBackManyTimesIsRefusedAndItsSequenceUsed) {
  Driver driver;
  const SessionId s = driver.Open("job");
  std::vector<Row> rows;
  for (int64_t step = 20; step > 0; --step) rows.push_back({.step = step});
  const Admitted refused = driver.Steps(s, rows);
  ASSERT_TRUE(refused.refused);
  EXPECT_EQ(refused.refused->reason, RefusalReason::kInvalid);
  EXPECT_THAT(refused.refused->message,
              HasSubstr("session 1, sequence 1: rank 0 sent a batch whose "
                        "steps go back 5 times"));
  EXPECT_EQ(driver.Run("job")->key.attempt, 0);
  EXPECT_EQ(driver.Run("job")->totals.dropped_steps, 20u);
  EXPECT_FALSE(driver.Steps(s, {{.step = 1}}).refused);
}

TEST(AdmissionTest, ASessionIsWrittenAsTheWireWritesIt) {
  Driver driver;
  const Admitted refused =
      driver.Send({.session = 0xabc, .sequence = 1, .body = CloseMessage{}});
  ASSERT_TRUE(refused.refused);
  EXPECT_THAT(refused.refused->message, HasSubstr("session abc is not open"));
}

TEST(AdmissionTest, OpsWithoutNamesAreRefusedAndTheSequenceUsed) {
  Driver driver;
  const SessionId s = driver.Open("job");
  const Admitted refused = driver.Ops(s, {{.step = 1, .op = 4}});
  ASSERT_TRUE(refused.refused);
  EXPECT_THAT(refused.refused->message, HasSubstr("op 4"));
  EXPECT_FALSE(driver.Steps(s, {{.step = 1}}).refused);
}

TEST(AdmissionTest, NamesOfOpsFillNoMoreThanTheirRoom) {
  Driver driver;
  // 13 kB each, so that few sessions fill the room.
  std::vector<OpName> ops(8192);
  for (size_t i = 0; i < ops.size(); ++i) {
    ops[i].name = std::to_string(i);
    ops[i].type.assign(6000, 't');
  }
  std::vector<SessionId> sessions;
  std::optional<RefusedMessage> refused;
  while (!refused && sessions.size() < 10) {
    sessions.push_back(driver.Open("job" + std::to_string(sessions.size())));
    refused = driver.Name(sessions.back(), ops).refused;
  }
  ASSERT_TRUE(refused);
  EXPECT_EQ(sessions.size(), 3u);
  EXPECT_EQ(refused->limit, "op_bytes");
  // Ops that are known go on, also when they are named again.
  EXPECT_FALSE(driver.Name(sessions[0], ops).refused);
  EXPECT_FALSE(driver.Ops(sessions[0], {{.step = 1, .op = 8191}}).refused);
}

TEST(AdmissionTest, ClockThreeHoursOffIsShifted) {
  Driver driver;
  OpenSessionMessage open;
  open.session = 1;
  open.run_id = "job";
  open.client_time = driver.now() + hours(3);
  driver.Open(open);
  const Time client = driver.now() + hours(3);
  driver.Send(
      {.session = 1,
       .sequence = 1,
       .sent = client,
       .body = StepBatch{Columns({{.step = 1, .time = client - seconds(2)},
                                  {.step = 2, .time = client - seconds(1)}},
                                 client)}});
  EXPECT_EQ(*TimeOf(driver, 2, 0), driver.now() - seconds(2));
  EXPECT_EQ(*TimeOf(driver, 2, 1), driver.now() - seconds(1));
  EXPECT_EQ(driver.Run("job")->ranks[0]->at(0).clock_skew, hours(3));
}

TEST(AdmissionTest, TheSmallestDelaySetsTheOffset) {
  Driver driver;
  driver.Open("job");
  const auto send = [&](Sequence sequence, Duration delay) {
    const Time sent = driver.now() - delay;
    driver.Send({.session = 1,
                 .sequence = sequence,
                 .sent = sent,
                 .body = StepBatch{Columns(
                     {{.step = static_cast<int64_t>(sequence)}}, sent)}});
    return *TimeOf(driver, driver.history().size() - 1, 0);
  };
  EXPECT_EQ(send(1, milliseconds(500)), driver.now());
  driver.Sleep(seconds(1));
  EXPECT_EQ(send(2, milliseconds(100)), driver.now());
  driver.Sleep(seconds(1));
  // Held up by 400 ms: the record is older than its arrival.
  EXPECT_EQ(send(3, milliseconds(500)), driver.now() - milliseconds(400));
}

TEST(AdmissionTest, TimesRiseByAMillisecondAndNeverPassArrival) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Sleep(milliseconds(2));
  const Time sent = driver.now();
  driver.Send(
      {.session = s,
       .sequence = 1,
       .sent = sent,
       .body = StepBatch{Columns({{.step = 1, .time = sent - milliseconds(2)},
                                  {.step = 2, .time = sent - milliseconds(2)},
                                  {.step = 3, .time = sent - milliseconds(9)},
                                  {.step = 4, .time = sent}},
                                 sent)}});
  EXPECT_EQ(*TimeOf(driver, 2, 1) - *TimeOf(driver, 2, 0), milliseconds(1));
  EXPECT_EQ(*TimeOf(driver, 2, 2), driver.now());
  EXPECT_EQ(*TimeOf(driver, 2, 3), driver.now());
}

TEST(AdmissionTest, ClockThatJumpsBackIsFollowed) {
  Driver driver;
  const SessionId s = driver.Open("job");
  driver.Steps(s, {{.step = 1}});
  driver.Sleep(minutes(5));
  const Time client = driver.now() - hours(1);
  driver.Send({.session = s,
               .sequence = 2,
               .sent = client,
               .body = StepBatch{Columns({{.step = 2}}, client)}});
  EXPECT_EQ(*TimeOf(driver, 3, 0), driver.now());
}

}  // namespace
}  // namespace nanwatch
