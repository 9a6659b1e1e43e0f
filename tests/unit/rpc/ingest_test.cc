// Streams from end to end: a real server, a real channel, a sink in between.

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>

#include "model/limits.h"
#include "nanwatch/v1/ingest.grpc.pb.h"
#include "tests/unit/rpc/fake_daemon.h"
#include "tests/unit/wire/batch_builder.h"
#include "wire/session_name.h"

namespace nanwatch {
namespace {

using testing::HasSubstr;

class IngestTest : public testing::Test {
 protected:
  void SetUp() override {
    daemon_.Start();
    stub_ = v1::IngestService::NewStub(daemon_.Connect());
    stream_ = stub_->Ingest(&context_);
  }
  void TearDown() override {
    context_.TryCancel();
    if (!finished_) stream_->Finish();
    daemon_.server->Stop(std::chrono::seconds(5));
  }

  void Send(const v1::IngestRequest& request) {
    ASSERT_TRUE(stream_->Write(request));
  }
  v1::IngestResponse Receive() {
    v1::IngestResponse response;
    EXPECT_TRUE(stream_->Read(&response));
    return response;
  }
  v1::Refusal ReceiveRefusal() {
    const v1::IngestResponse response = Receive();
    EXPECT_TRUE(response.has_refusal()) << response.ShortDebugString();
    return response.refusal();
  }
  grpc::Status Finish() {
    finished_ = true;
    return stream_->Finish();
  }
  // Opens kSession and waits until it has arrived.
  std::shared_ptr<ReplyPort> Open() {
    Send(OpenRequest());
    return daemon_.sink.Wait(0).port;
  }
  uint64_t Hits(std::string_view limit) {
    for (size_t i = 0; i < kIngestLimits.size(); ++i) {
      if (kIngestLimits[i] == limit) {
        return daemon_.server->stats().limit_hits[i];
      }
    }
    return 0;
  }

  FakeDaemon daemon_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<
      grpc::ClientReaderWriter<v1::IngestRequest, v1::IngestResponse>>
      stream_;
  bool finished_ = false;
};

TEST_F(IngestTest, AnswersAnOpening) {
  const auto port = Open();
  OpenedSession opened;
  opened.run = {"job-7", 2};
  opened.held_sequence = 5;
  opened.ops_held = 9;
  port->Opened(SessionName(kSession), opened, true);
  const v1::SessionOpened answer = Receive().opened();
  EXPECT_EQ(answer.session(), kSession);
  EXPECT_EQ(answer.run_id(), "job-7");
  EXPECT_EQ(answer.attempt(), 2);
  EXPECT_EQ(answer.held_sequence(), 5u);
  EXPECT_EQ(answer.ops_held(), 0u);  // of this stream
  EXPECT_TRUE(answer.durable());
  EXPECT_EQ(answer.daemon(), "nanwatchd/test");
  EXPECT_EQ(answer.max_steps_per_batch(), limits::kStepsPerBatch);
}

TEST_F(IngestTest, HandsOnWhatItParsed) {
  Open();
  Send(NamesRequest(0, 3));
  Send(OpsRequest(3));
  Send(StepsRequest(10, 3));
  const Arrival& ops = daemon_.sink.Wait(2);
  EXPECT_EQ(ops.message.sequence, 2u);
  EXPECT_EQ(std::get<OpBatch>(ops.message.body).columns.elements[0], 1024u);
  const Arrival& steps = daemon_.sink.Wait(3);
  EXPECT_EQ(std::get<StepBatch>(steps.message.body).columns.rows(), 10u);
  EXPECT_EQ(daemon_.server->stats().messages, 4u);
  EXPECT_GT(daemon_.server->stats().bytes, 100u);
}

TEST_F(IngestTest, WritesTheNewestAckAndRequests) {
  const auto port = Open();
  for (Sequence sequence = 1; sequence <= 1000; ++sequence) {
    port->Ack({SessionName(kSession), sequence, true, {}});
  }
  Request request;
  request.id = 77;
  request.session = SessionName(kSession);
  request.kind = Request::Kind::kStop;
  request.reason = "NaN since step 3";
  port->Ask(request);
  v1::Ack newest;
  bool asked = false;
  while (newest.sequence() < 1000 || !asked) {
    const v1::IngestResponse response = Receive();
    if (response.has_ack()) {
      EXPECT_GT(response.ack().sequence(), newest.sequence());
      newest = response.ack();
    } else {
      EXPECT_EQ(response.request().stop().reason(), "NaN since step 3");
      asked = true;
    }
  }
  EXPECT_EQ(newest.session(), kSession);
}

TEST_F(IngestTest, RefusesAnInvalidBatchAndPutsWhatWasLostInItsPlace) {
  Open();
  v1::IngestRequest request = StepsRequest(3);
  request.mutable_steps()->mutable_loss();
  Send(request);
  const v1::Refusal refusal = ReceiveRefusal();
  EXPECT_EQ(refusal.code(), v1::REFUSAL_CODE_INVALID);
  EXPECT_EQ(refusal.session(), kSession);
  EXPECT_EQ(refusal.sequence(), 1u);
  EXPECT_THAT(refusal.message(), HasSubstr("column loss holds 0 values"));
  const Arrival& arrival = daemon_.sink.Wait(1);
  EXPECT_EQ(arrival.message.sequence, 1u);
  EXPECT_EQ(std::get<Dropped>(arrival.message.body).steps, 3u);
  // Nothing else is lost with it.
  Send(StepsRequest(3, 2));
  EXPECT_TRUE(
      std::holds_alternative<StepBatch>(daemon_.sink.Wait(2).message.body));
}

TEST_F(IngestTest, RefusesASessionThatIsNotOpen) {
  Send(StepsRequest(3));
  const v1::Refusal refusal = ReceiveRefusal();
  EXPECT_EQ(refusal.code(), v1::REFUSAL_CODE_UNKNOWN_SESSION);
  EXPECT_THAT(refusal.message(), HasSubstr("session abc is not open"));
  EXPECT_EQ(daemon_.sink.size(), 0u);
}

TEST_F(IngestTest, RefusesAMessageThatIsTooLargeAndGoesOn) {
  Open();
  v1::IngestRequest request = StepsRequest(1);
  for (size_t i = 0; i < limits::kMessageBytes / 8 + 1; ++i) {
    request.mutable_steps()->mutable_loss()->add_values(1);
  }
  Send(request);
  const v1::Refusal refusal = ReceiveRefusal();
  EXPECT_EQ(refusal.code(), v1::REFUSAL_CODE_LIMIT);
  EXPECT_EQ(refusal.sequence(), 1u);
  EXPECT_THAT(refusal.message(), HasSubstr("at most 4194304"));
  EXPECT_EQ(Hits("message_bytes"), 1u);
  Send(StepsRequest(1, 2));
  EXPECT_EQ(daemon_.sink.Wait(2).message.sequence, 2u);
}

TEST_F(IngestTest, SaysBusyOnceAndPassesOverWhatFollows) {
  Open();
  daemon_.sink.set_full(true);
  Send(StepsRequest(1, 1));
  Send(StepsRequest(1, 2));
  const v1::Refusal refusal = ReceiveRefusal();
  EXPECT_EQ(refusal.code(), v1::REFUSAL_CODE_BUSY);
  EXPECT_EQ(refusal.sequence(), 1u);
  EXPECT_GT(refusal.retry_after_ms(), 0u);
  daemon_.sink.set_full(false);
  Send(StepsRequest(1, 3));
  Send(StepsRequest(1, 1));
  Send(StepsRequest(1, 2));
  EXPECT_EQ(daemon_.sink.Wait(1).message.sequence, 1u);
  EXPECT_EQ(daemon_.sink.Wait(2).message.sequence, 2u);
  EXPECT_EQ(daemon_.server->stats().passed_over, 2u);
}

TEST_F(IngestTest, RefusesMoreSessionsThanAStreamMayCarry) {
  v1::IngestRequest request = OpenRequest();
  for (size_t i = 0; i <= limits::kSessionsPerStream; ++i) {
    request.mutable_open()->set_session(i + 1);
    Send(request);
  }
  const v1::Refusal refusal = ReceiveRefusal();
  EXPECT_EQ(refusal.code(), v1::REFUSAL_CODE_LIMIT);
  EXPECT_EQ(refusal.session(), limits::kSessionsPerStream + 1);
  EXPECT_EQ(Hits("sessions_per_stream"), 1u);
  // A closed one makes room.
  v1::IngestRequest close;
  close.mutable_close()->set_session(1);
  close.mutable_close()->set_sequence(1);
  Send(close);
  Send(request);
  EXPECT_EQ(daemon_.sink.Wait(limits::kSessionsPerStream + 1).message.session,
            SessionName(limits::kSessionsPerStream + 1));
}

TEST_F(IngestTest, RefusesWhileItShutsDown) {
  Open();
  daemon_.server->StopTaking();
  Send(StepsRequest(1));
  EXPECT_EQ(ReceiveRefusal().code(), v1::REFUSAL_CODE_SHUTTING_DOWN);
}

TEST_F(IngestTest, TellsTheSinkOnceThatAStreamEnded) {
  const auto port = Open();
  stream_->WritesDone();
  EXPECT_TRUE(Finish().ok());
  const Arrival& end = daemon_.sink.Wait(1);
  EXPECT_TRUE(end.ended);
  EXPECT_EQ(end.port, port);
  // Answers that come late are for nobody.
  port->Ack({kSession, 1, true, {}});
  port->Refuse(kSession, 1, {}, Duration(0));
  EXPECT_EQ(daemon_.sink.size(), 2u);
}

TEST_F(IngestTest, TellsTheSinkThatAClientVanished) {
  Open();
  context_.TryCancel();
  EXPECT_TRUE(daemon_.sink.Wait(1).ended);
}

TEST_F(IngestTest, EndsStreamsWhenItStopsAndWritesWhatWaits) {
  const auto port = Open();
  daemon_.server->StopTaking();
  port->Ack({kSession, 9, true, {}});
  daemon_.server->Stop(std::chrono::seconds(5));
  EXPECT_EQ(Receive().ack().sequence(), 9u);
  v1::IngestResponse none;
  EXPECT_FALSE(stream_->Read(&none));
  EXPECT_EQ(Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(daemon_.sink.Wait(1).ended);
}

// Bytes that gRPC's own reading would have ended the stream for.
class IngestBytesTest : public testing::Test {
 protected:
  void SetUp() override {
    daemon_.Start();
    stub_ = std::make_unique<grpc::GenericStub>(daemon_.Connect());
    call_ = stub_->PrepareCall(&context_, "/nanwatch.v1.IngestService/Ingest",
                               &queue_);
    call_->StartCall(this);
    Next();
  }
  void TearDown() override {
    context_.TryCancel();
    grpc::Status status;
    call_->Finish(&status, this);
    Next();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
    daemon_.server->Stop(std::chrono::seconds(5));
  }
  void Next() {
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue_.Next(&tag, &ok));
  }
  void Send(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    call_->Write(grpc::ByteBuffer(&slice, 1), this);
    Next();
  }
  v1::Refusal ReceiveRefusal() {
    grpc::ByteBuffer bytes;
    call_->Read(&bytes, this);
    Next();
    v1::IngestResponse response;
    grpc::SerializationTraits<v1::IngestResponse>::Deserialize(&bytes,
                                                               &response);
    EXPECT_TRUE(response.has_refusal()) << response.ShortDebugString();
    return response.refusal();
  }

  FakeDaemon daemon_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericStub> stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

TEST_F(IngestBytesTest, RefusesRubbishAndGoesOn) {
  Send("\xff\xff\xff rubbish");
  const v1::Refusal refusal = ReceiveRefusal();
  EXPECT_EQ(refusal.code(), v1::REFUSAL_CODE_INVALID);
  EXPECT_THAT(refusal.message(),
              HasSubstr("are not a nanwatch.v1.IngestRequest"));
  Send(OpenRequest().SerializeAsString());
  EXPECT_EQ(daemon_.sink.Wait(0).message.session, SessionName(kSession));
}

TEST_F(IngestBytesTest, NamesAStringThatIsNotUtf8) {
  v1::IngestRequest request = OpenRequest();
  request.mutable_open()->mutable_rank()->set_host("h?st");
  std::string bytes = request.SerializeAsString();
  bytes[bytes.find("h?st") + 1] = '\xff';
  Send(bytes);
  const v1::Refusal refusal = ReceiveRefusal();
  EXPECT_EQ(refusal.session(), kSession);
  EXPECT_THAT(refusal.message(),
              HasSubstr("the string open.rank.host is not UTF-8"));
}

TEST_F(IngestBytesTest, CountsABatchThatWasCutAsDropped) {
  Send(OpenRequest().SerializeAsString());
  daemon_.sink.Wait(0);
  Send(StepsRequest(50, 1).SerializeAsString().substr(0, 60));
  EXPECT_EQ(ReceiveRefusal().sequence(), 1u);
  const Arrival& arrival = daemon_.sink.Wait(1);
  EXPECT_EQ(arrival.message.sequence, 1u);
  EXPECT_TRUE(std::holds_alternative<Dropped>(arrival.message.body));
}

}  // namespace
}  // namespace nanwatch
