#include "rpc/stream_port.h"

#include <gmock/gmock.h>

#include <vector>

#include "model/limits.h"

namespace nanwatch {
namespace {

struct FakeWriter : StreamWriter {
  void Write(const v1::IngestResponse& response) override {
    written.push_back(response);
  }
  void Read() override { ++reads; }
  void Finish(const grpc::Status& status) override {
    ++finished;
    last_status = status;
  }
  void Cancel() override { ++cancelled; }

  std::vector<v1::IngestResponse> written;
  int reads = 0;
  int finished = 0;
  int cancelled = 0;
  grpc::Status last_status;
};

class StreamPortTest : public testing::Test {
 protected:
  FakeWriter writer_;
  RpcStats stats_;
  ReplyBudget budget_;
  StreamPort port_{&writer_, &stats_, &budget_, "nanwatchd/test"};
};

// A pause may be over when the stream is: gRPC would not bear it.
TEST_F(StreamPortTest, ReadsOnOnlyWhileTheStreamGoesOn) {
  port_.ReadOn();
  EXPECT_EQ(writer_.reads, 1);
  port_.EndWhenWritten(grpc::Status::OK);
  ASSERT_EQ(writer_.finished, 1);
  port_.ReadOn();
  port_.Detach();
  port_.ReadOn();
  EXPECT_EQ(writer_.reads, 1);
}

TEST_F(StreamPortTest, WritesOneAtATimeAndOnlyTheNewestAck) {
  port_.Ack({1, 5, true, {}});
  port_.Ack({1, 6, true, {}});
  port_.Ack({1, 9, true, {}});
  port_.Ack({1, 8, true, {}});
  ASSERT_EQ(writer_.written.size(), 1u);
  EXPECT_EQ(writer_.written[0].ack().sequence(), 5u);
  port_.Written(true);
  ASSERT_EQ(writer_.written.size(), 2u);
  EXPECT_EQ(writer_.written[1].ack().sequence(), 9u);
  port_.Written(true);
  EXPECT_EQ(writer_.written.size(), 2u);
}

TEST_F(StreamPortTest, AnAckThatReplacesAnotherKeepsTheAttemptItTold) {
  port_.Ack({1, 5, true, {}});
  port_.Ack({1, 6, true, 4});
  port_.Ack({1, 9, true, {}});
  EXPECT_FALSE(writer_.written[0].ack().has_attempt());
  port_.Written(true);
  EXPECT_EQ(writer_.written[1].ack().sequence(), 9u);
  EXPECT_EQ(writer_.written[1].ack().attempt(), 4);
}

TEST_F(StreamPortTest, AnAckIsDurableIfAllThatItIsTheFirstOfIs) {
  port_.Ack({1, 5, true, {}});
  port_.Ack({1, 6, false, {}});
  port_.Ack({1, 9, true, {}});
  EXPECT_TRUE(writer_.written[0].ack().durable());
  port_.Written(true);
  EXPECT_EQ(writer_.written[1].ack().sequence(), 9u);
  EXPECT_TRUE(writer_.written[1].ack().has_durable());
  EXPECT_FALSE(writer_.written[1].ack().durable());
  port_.Written(true);
  port_.Ack({1, 10, true, {}});
  EXPECT_TRUE(writer_.written[2].ack().durable());
}

TEST_F(StreamPortTest, SaysOthersBeforeAcks) {
  port_.Ack({1, 1, true, {}});
  port_.Ack({1, 2, true, {}});
  port_.Refuse(1, 3, {RefusalReason::kBusy, "later", 3, "mailbox"},
               std::chrono::milliseconds(200));
  port_.Written(true);
  ASSERT_EQ(writer_.written.size(), 2u);
  const v1::Refusal& refusal = writer_.written[1].refusal();
  EXPECT_EQ(refusal.code(), v1::REFUSAL_CODE_BUSY);
  EXPECT_EQ(refusal.retry_after_ms(), 200u);
  EXPECT_EQ(refusal.expected_sequence(), 3u);
  EXPECT_EQ(stats_.refused[static_cast<int>(RefusalReason::kBusy)], 1u);
}

TEST_F(StreamPortTest, FinishesOnceWhenAllIsWritten) {
  port_.Ack({1, 1, true, {}});
  port_.Ack({2, 7, true, {}});
  port_.EndWhenWritten({grpc::StatusCode::UNAVAILABLE, "stop"});
  port_.EndWhenWritten(grpc::Status::OK);
  port_.Ack({1, 2, true, {}});  // too late
  EXPECT_EQ(writer_.finished, 0);
  port_.Written(true);
  EXPECT_EQ(writer_.finished, 0);
  port_.Written(true);
  EXPECT_EQ(writer_.finished, 1);
  EXPECT_EQ(writer_.last_status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(writer_.written.size(), 2u);
}

TEST_F(StreamPortTest, FinishesAfterAWriteThatFailed) {
  port_.Ack({1, 1, true, {}});
  port_.Ack({2, 1, true, {}});
  port_.Written(false);
  EXPECT_EQ(writer_.written.size(), 1u);
  EXPECT_EQ(writer_.finished, 0);  // the read still has to end
  port_.EndWhenWritten(grpc::Status::OK);
  EXPECT_EQ(writer_.finished, 1);
}

TEST_F(StreamPortTest, CutsAClientThatDoesNotRead) {
  for (size_t i = 0; i <= 2 * limits::kSessionsPerStream + 1; ++i) {
    port_.Refuse(1, i + 1, {}, Duration(0));
  }
  EXPECT_EQ(writer_.cancelled, 1);
  port_.Refuse(1, 1, {}, Duration(0));
  EXPECT_EQ(writer_.cancelled, 1);
  port_.Written(false);
  port_.EndWhenWritten(grpc::Status::OK);
  EXPECT_EQ(writer_.finished, 1);
}

TEST_F(StreamPortTest, DoesNothingOnceTheStreamIsOver) {
  port_.Detach();
  port_.Ack({1, 1, true, {}});
  port_.Opened(1, {}, true);
  port_.EndWhenWritten(grpc::Status::OK);
  EXPECT_TRUE(writer_.written.empty());
  EXPECT_EQ(writer_.finished, 0);
}

TEST_F(StreamPortTest, AnswersByTheIdThatOnlyItsClientKnows) {
  port_.Know(77, 5);
  port_.Ack({77, 1, true, {}});
  EXPECT_EQ(writer_.written.back().ack().session(), 5u);
  port_.Written(true);
  port_.Refuse(77, 2, {}, Duration(0));
  EXPECT_EQ(writer_.written.back().refusal().session(), 5u);
  port_.Written(true);
  port_.Opened(77, {}, true);
  EXPECT_EQ(writer_.written.back().opened().session(), 5u);
  port_.Written(true);
  port_.Forget(77);
  port_.Ack({77, 1, true, {}});
  EXPECT_EQ(writer_.written.back().ack().session(), 77u);
}

TEST_F(StreamPortTest, WhatWaitsCountsAgainstTheBudgetUntilItIsWrittenOrCut) {
  const auto refuse = [&] {
    port_.Refuse(1, 1, {.message = std::string(10000, 'x')}, Duration(0));
  };
  refuse();
  EXPECT_EQ(port_.waiting_bytes(), 0u);  // it is being written
  refuse();
  const size_t one = port_.waiting_bytes();
  EXPECT_GT(one, 10000u);
  while (!budget_.over()) refuse();
  EXPECT_GT(port_.waiting_bytes(), limits::kUnreadReplyBytes);
  port_.Written(true);
  EXPECT_FALSE(budget_.over());
  refuse();
  EXPECT_TRUE(budget_.over());
  port_.Cut();
  EXPECT_EQ(writer_.cancelled, 1);
  EXPECT_EQ(port_.waiting_bytes(), 0u);
  EXPECT_FALSE(budget_.over());
  port_.Cut();
  EXPECT_EQ(writer_.cancelled, 1);
}

}  // namespace
}  // namespace nanwatch
