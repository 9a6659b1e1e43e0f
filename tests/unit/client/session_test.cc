// The whole client against a service in this process, over a unix socket.

#include <gmock/gmock.h>
#include <nanwatch.h>

#include <cmath>
#include <limits>
#include <nanwatch.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "tests/unit/client/sink.h"

extern "C" int UseNanwatchFromC(void);

namespace nanwatch_client {
namespace {

namespace v1 = nanwatch::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kFlushMs = 10'000;

class SessionTest : public testing::Test {
 protected:
  nanwatch::RunOptions Options() {
    nanwatch::RunOptions options;
    address_ = sink_.address();
    options.address = address_.c_str();
    options.run_id = "run-1";
    return options;
  }
  static void PushSteps(nanwatch::Run* run, int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) {
      run->Push(nanwatch::Step(i).Loss(1.0 / static_cast<double>(i + 1)));
    }
  }
  static std::vector<int64_t> Range(int64_t end) {
    std::vector<int64_t> range(end);
    std::iota(range.begin(), range.end(), 0);
    return range;
  }

  TempDir dir_;
  std::string address_;
  Sink sink_{dir_.Path("ingest.sock")};
};

TEST_F(SessionTest, TheHeaderWorksFromC) { EXPECT_TRUE(UseNanwatchFromC()); }

TEST_F(SessionTest, EverythingIsAcknowledgedInOrder) {
  sink_.Start();
  nanwatch::Run run(Options().Rank(2).WorldSize(4));
  PushSteps(&run, 0, 3000);
  EXPECT_TRUE(run.Flush(kFlushMs));
  const nanwatch_stats stats = run.Stats();
  EXPECT_EQ(stats.connected, 1);
  EXPECT_EQ(stats.pushed, 3000u);
  EXPECT_EQ(stats.sent, 3000u);
  EXPECT_EQ(stats.acked, 3000u);
  EXPECT_EQ(stats.dropped, 0u);
  EXPECT_STREQ(stats.run_id, "run-1");
  EXPECT_EQ(stats.attempt, 3);
  EXPECT_TRUE(run.Close(kFlushMs));
  EXPECT_EQ(sink_.Steps(), Range(3000));
  EXPECT_TRUE(sink_.taken().back().has_close());
  const v1::OpenSession open = sink_.Opens().at(0);
  EXPECT_EQ(open.rank().rank(), 2);
  EXPECT_EQ(open.run().world_size(), 4);
  EXPECT_FALSE(open.rank().host().empty());
}

TEST_F(SessionTest, AnAckTellsOfAnotherAttempt) {
  sink_.Start();
  nanwatch::Run run(Options());
  PushSteps(&run, 0, 3);
  EXPECT_TRUE(run.Flush(kFlushMs));
  EXPECT_EQ(run.Stats().attempt, 3);
  sink_.set_moved_to(4);
  PushSteps(&run, 1, 2);
  EXPECT_TRUE(run.Flush(kFlushMs));
  EXPECT_EQ(run.Stats().attempt, 4);
}

TEST_F(SessionTest, NamesAndOpsArriveBeforeTheirStep) {
  sink_.Start();
  nanwatch::Run run(Options());
  nanwatch::Op op;
  op.name = "loss/Log";
  op.logical_shape = {37};
  op.storage_shape = {48};
  const int32_t log_op = run.Register(op);
  nanwatch::OpStatus status(7, log_op, NANWATCH_SLOT_OUTPUT);
  status.pos_inf = 11;
  status.present = NANWATCH_OP_POS_INF;
  run.Push(status);
  run.Push(nanwatch::Step(7).Overflow(true));
  EXPECT_TRUE(run.Close(kFlushMs));
  const auto& taken = sink_.taken();
  ASSERT_THAT(taken, SizeIs(4));
  EXPECT_EQ(taken[0].op_names().ops(0).name(), "loss/Log");
  EXPECT_EQ(taken[1].ops().pos_inf().counts(0), 11u);
  EXPECT_TRUE(taken[2].has_steps());
  EXPECT_TRUE(taken[3].has_close());
}

// The daemon refuses a whole message for one row of it.
TEST_F(SessionTest, ARecordThatCannotBeIsLeftOutAlone) {
  sink_.Start();
  nanwatch::Run run(Options());
  nanwatch::Op op;
  op.name = "loss/Log";
  op.logical_shape = {10};
  const int32_t log_op = run.Register(op);
  for (const uint64_t nan : {3u, 11u, 10u}) {
    nanwatch::OpStatus status(7, log_op, NANWATCH_SLOT_OUTPUT);
    status.nan = nan;
    status.present = NANWATCH_OP_NAN;
    run.Push(status);
  }
  run.Push(nanwatch::Step(7).Loss(1));
  EXPECT_TRUE(run.Flush(kFlushMs));
  EXPECT_EQ(run.Stats().refused, 1u);
  EXPECT_EQ(run.Stats().acked, 3u);
  EXPECT_THAT(run.Stats().error,
              HasSubstr("the status of loss/Log counts 11 NaN"));
  run.Push(nanwatch::Step(INT64_MIN).Loss(1));
  run.Push(nanwatch::Step(8).Loss(1));
  EXPECT_FALSE(run.Close(kFlushMs));
  EXPECT_THAT(sink_.Steps(), ElementsAre(7, 8));
  EXPECT_EQ(sink_.Dropped().ops(), 1u);
  EXPECT_EQ(sink_.Dropped().steps(), 1u);
  EXPECT_EQ(sink_.Dropped().first_step(), 7);
}

TEST_F(SessionTest, AnOpThatCouldNotBeRegisteredIsToldAndStaysTold) {
  nanwatch::Run run(Options());
  EXPECT_EQ(run.Register({}), -1);
  sink_.Start();
  run.Push(nanwatch::Step(7).Loss(1));
  EXPECT_TRUE(run.Flush(kFlushMs));
  EXPECT_THAT(run.Stats().error, HasSubstr("has no name"));
}

TEST_F(SessionTest, WaitsForADaemonThatStartsLater) {
  nanwatch::Run run(Options());
  PushSteps(&run, 0, 100);
  EXPECT_FALSE(run.Flush(50));
  EXPECT_THAT(run.Stats().error, HasSubstr("no such socket"));
  sink_.Start();
  EXPECT_TRUE(run.Flush(kFlushMs));
  EXPECT_EQ(sink_.Steps(), Range(100));
}

TEST_F(SessionTest, ResendsAfterARestartWhatWasNotHeld) {
  sink_.Start();
  sink_.set_acks(false);
  nanwatch::Run run(Options());
  PushSteps(&run, 0, 700);
  ASSERT_TRUE(sink_.WaitFor([](const Sink& s) { return !s.taken().empty(); }));
  sink_.Stop();
  PushSteps(&run, 700, 1000);
  sink_.set_acks(true);
  sink_.Start();
  EXPECT_TRUE(run.Flush(kFlushMs));
  EXPECT_EQ(run.Stats().reconnects, 1u);
  EXPECT_EQ(run.Stats().acked, 1000u);
  EXPECT_EQ(sink_.Steps(), Range(1000));
}

TEST_F(SessionTest, GoesOnWithADaemonThatLostItsHistory) {
  sink_.Start();
  nanwatch::Run run(Options());
  nanwatch::Op op;
  for (const char* name : {"a", "b"}) {
    op.name = name;
    run.Register(op);
  }
  run.Push(nanwatch::Step(0).Loss(1));
  ASSERT_TRUE(run.Flush(kFlushMs));
  sink_.Stop();
  sink_.Forget();
  sink_.Start();
  op.name = "c";
  run.Register(op);
  run.Push(nanwatch::Step(1).Loss(1));
  EXPECT_TRUE(run.Flush(kFlushMs));
  EXPECT_THAT(sink_.OpNames(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(sink_.Steps(), ElementsAre(1));
}

TEST_F(SessionTest, AnInvalidBatchIsCountedAndNotSentAgain) {
  int refused = 0;
  sink_.set_refuse(
      [&](const v1::IngestRequest& message) -> std::optional<v1::Refusal> {
        if (!message.has_steps() || message.steps().step_deltas(0) != 0) {
          return std::nullopt;
        }
        ++refused;
        v1::Refusal refusal;
        refusal.set_code(v1::REFUSAL_CODE_INVALID);
        refusal.set_message("loss is not a number of this world");
        return refusal;
      });
  sink_.Start();
  nanwatch::Run run(Options());
  run.Push(nanwatch::Step(0).Loss(1));
  EXPECT_TRUE(run.Flush(kFlushMs));
  run.Push(nanwatch::Step(1).Loss(1));
  EXPECT_TRUE(run.Flush(kFlushMs));
  const nanwatch_stats stats = run.Stats();
  EXPECT_EQ(stats.refused, 1u);
  EXPECT_EQ(stats.dropped, 1u);
  EXPECT_EQ(stats.acked, 1u);
  EXPECT_THAT(stats.error, HasSubstr("of this world"));
  EXPECT_EQ(refused, 1);
  EXPECT_THAT(sink_.Steps(), ElementsAre(1));
}

// The daemon has no room for more names (op_bytes): known ops go on, the others
// are counted, and the daemon is told.
TEST_F(SessionTest, NamesThatWereRefusedCostOnlyTheirOwnStatuses) {
  sink_.set_refuse(
      [&](const v1::IngestRequest& message) -> std::optional<v1::Refusal> {
        if (!message.has_op_names() || message.op_names().first_index() == 0) {
          return std::nullopt;
        }
        v1::Refusal refusal;
        refusal.set_code(v1::REFUSAL_CODE_LIMIT);
        refusal.set_message("no room for more names");
        return refusal;
      });
  sink_.Start();
  nanwatch::Run run(Options());
  nanwatch::Op op;
  op.name = "known";
  EXPECT_EQ(run.Register(op), 0);
  run.Push(nanwatch::OpStatus(1, 0, NANWATCH_SLOT_OUTPUT));
  EXPECT_TRUE(run.Flush(kFlushMs));
  op.name = "refused";
  EXPECT_EQ(run.Register(op), 1);
  run.Push(nanwatch::Step(1).Loss(1));
  EXPECT_TRUE(run.Flush(kFlushMs));
  ASSERT_THAT(run.Stats().error, HasSubstr("no room"));
  for (int64_t step = 2; step < 5; ++step) {
    run.Push(nanwatch::OpStatus(step, 0, NANWATCH_SLOT_OUTPUT));
    run.Push(nanwatch::OpStatus(step, 1, NANWATCH_SLOT_OUTPUT));
    run.Push(nanwatch::Step(step).Loss(1));
  }
  EXPECT_TRUE(run.Flush(kFlushMs));
  const nanwatch_stats stats = run.Stats();
  EXPECT_EQ(stats.pushed, 11u);
  EXPECT_EQ(stats.acked, 8u);
  EXPECT_EQ(stats.dropped, 3u);
  EXPECT_TRUE(run.Close(kFlushMs));
  EXPECT_THAT(sink_.OpNames(), ElementsAre("known"));
  EXPECT_THAT(sink_.Steps(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(sink_.Dropped().ops(), 3u);
}

TEST_F(SessionTest, ABusyDaemonGetsTheSameAgain) {
  int busy = 3;
  sink_.set_refuse(
      [&](const v1::IngestRequest& message) -> std::optional<v1::Refusal> {
        if (!message.has_steps() || busy-- <= 0) return std::nullopt;
        v1::Refusal refusal;
        refusal.set_code(v1::REFUSAL_CODE_BUSY);
        refusal.set_retry_after_ms(20);
        return refusal;
      });
  sink_.Start();
  nanwatch::Run run(Options());
  PushSteps(&run, 0, 5000);
  EXPECT_TRUE(run.Flush(kFlushMs));
  EXPECT_EQ(run.Stats().refused, 0u);
  EXPECT_EQ(sink_.Steps(), Range(5000));
}

// Nothing is left but its answer, and that was not a yes yet.
TEST_F(SessionTest, ACloseThatWasRefusedIsSentAgain) {
  std::vector<v1::RefusalCode> refusals = {v1::REFUSAL_CODE_BUSY,
                                           v1::REFUSAL_CODE_SHUTTING_DOWN};
  sink_.set_refuse(
      [&](const v1::IngestRequest& message) -> std::optional<v1::Refusal> {
        if (!message.has_close() || refusals.empty()) return std::nullopt;
        v1::Refusal refusal;
        refusal.set_code(refusals.back());
        refusal.set_retry_after_ms(20);
        refusals.pop_back();
        return refusal;
      });
  sink_.Start();
  nanwatch::Run run(Options());
  run.Push(nanwatch::Step(1));
  EXPECT_TRUE(run.Flush(kFlushMs));
  EXPECT_TRUE(run.Close(kFlushMs));
  EXPECT_THAT(refusals, IsEmpty());
  EXPECT_EQ(sink_.opens(), 2u);
  EXPECT_TRUE(sink_.WaitFor([](const Sink& s) {
    return !s.taken().empty() && s.taken().back().has_close();
  }));
}

TEST_F(SessionTest, WhatDidNotFitIsReported) {
  nanwatch::RunOptions options = Options();
  options.ring_bytes = 4096;
  options.unacked_bytes = 1;
  nanwatch::Run run(options);
  PushSteps(&run, 0, 10'000);
  const nanwatch_stats before = run.Stats();
  EXPECT_EQ(before.pushed, 10'000u);
  EXPECT_GT(before.dropped, 9'000u);
  sink_.Start();
  EXPECT_TRUE(run.Close(kFlushMs));
  const v1::Dropped dropped = sink_.Dropped();
  EXPECT_EQ(dropped.steps(), before.dropped);
  EXPECT_EQ(dropped.last_step(), 9999);
  EXPECT_EQ(sink_.Steps().size() + dropped.steps(), 10'000u);
}

TEST_F(SessionTest, RequestsArePolled) {
  v1::Request request;
  request.set_id(42);
  request.set_expires_at_step(900);
  request.mutable_collect_ops()->add_ops(3);
  request.mutable_collect_ops()->set_steps(5);
  sink_.set_request(request);
  sink_.Start();
  nanwatch::Run run(Options());
  run.Push(nanwatch::Step(1).Loss(1));
  ASSERT_TRUE(run.Flush(kFlushMs)) << "the request came before the ack";
  const std::optional<nanwatch_request> polled = run.Poll();
  ASSERT_TRUE(polled.has_value());
  EXPECT_EQ(polled->kind, NANWATCH_REQUEST_COLLECT_OPS);
  EXPECT_EQ(polled->id, 42u);
  EXPECT_EQ(polled->steps, 5u);
  EXPECT_EQ(polled->ops_count, 1u);
  EXPECT_EQ(polled->ops[0], 3);
  EXPECT_EQ(polled->expires_at_step, 900);
  EXPECT_FALSE(run.Poll().has_value());
}

TEST_F(SessionTest, RubbishIsHarmless) {
  sink_.Start();
  nanwatch_step uninitialized = {};
  uninitialized.step = 5;
  nanwatch_push_step(nullptr, &uninitialized);
  nanwatch_push_op(nullptr, nullptr);
  EXPECT_EQ(nanwatch_close(nullptr, 10), 0);
  EXPECT_EQ(nanwatch_op_register(nullptr, nullptr), -1);
  nanwatch::Run run(Options());
  run.Push(uninitialized);
  nanwatch_push_step(run.get(), nullptr);
  run.Push(nanwatch::OpStatus(1, -1, NANWATCH_SLOT_OUTPUT));
  run.Push(nanwatch::OpStatus(1, 77, NANWATCH_SLOT_OUTPUT));
  nanwatch::Op op;
  EXPECT_EQ(run.Register(op), -1) << "an op without a name";
  op.name = "broken \xff\xfe name";
  EXPECT_EQ(run.Register(op), 0);
  EXPECT_TRUE(run.Close(kFlushMs));
  EXPECT_THAT(sink_.OpNames(), ElementsAre("broken ?? name"));
  EXPECT_EQ(sink_.Dropped().ops(), 1u) << "the op that was never named";
}

TEST_F(SessionTest, AnOlderProgramsStructIsTaken) {
  sink_.Start();
  nanwatch::Run run(Options());
  nanwatch::Step step(3);
  step.Loss(2.5);
  step.struct_size = offsetof(nanwatch_step, loss_scale);
  run.Push(step);
  EXPECT_TRUE(run.Close(kFlushMs));
  const v1::StepBatch& batch = sink_.taken().at(0).steps();
  EXPECT_THAT(batch.loss().values(), ElementsAre(2.5));
}

TEST_F(SessionTest, HalfOfAPointerIsNone) {
  sink_.Start();
  nanwatch::Run run(Options());
  nanwatch::Op op;
  op.name = "log";
  const int32_t index = run.Register(op);
  nanwatch::OpStatus status(1, index, NANWATCH_SLOT_OUTPUT);
  nanwatch_exponents exponents{};
  status.exponents = &exponents;
  status.struct_size = offsetof(nanwatch_op_status, exponents) + 4;
  run.Push(status);
  EXPECT_TRUE(run.Close(kFlushMs));
  EXPECT_THAT(sink_.OpNames(), ElementsAre("log"));
}

TEST_F(SessionTest, ASecondOptimizerHasItsName) {
  sink_.Start();
  nanwatch::Run run(Options());
  nanwatch::Step step(1);
  step.optimizer = run.RegisterOptimizer("critic");
  EXPECT_EQ(step.optimizer, 1);
  EXPECT_EQ(run.RegisterOptimizer("critic"), 1);
  run.Push(step);
  EXPECT_TRUE(run.Close(kFlushMs));
  const v1::StepBatch& batch = sink_.taken().at(0).steps();
  EXPECT_THAT(batch.optimizers(), ElementsAre("critic"));
  EXPECT_THAT(batch.optimizer(), SizeIs(0));
}

}  // namespace
}  // namespace nanwatch_client
