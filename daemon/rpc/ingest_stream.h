// IngestStream: the reading half of one client's stream.

#ifndef NANWATCH_RPC_INGEST_STREAM_H_
#define NANWATCH_RPC_INGEST_STREAM_H_

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "rpc/ingest_service.h"
#include "rpc/stream_port.h"
#include "rpc/users.h"
#include "wire/op_shapes.h"
#include "wire/parse.h"

namespace nanwatch {

// Deletes itself when gRPC is done with it.
class IngestStream final
    : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
      public StreamWriter {
 public:
  // `streams` and `context` must outlive the stream.
  IngestStream(IngestStreams& streams, grpc::CallbackServerContext* context);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override;

 private:
  struct Session {
    explicit Session(ShapeBudget* budget) : shapes(budget) {}

    SessionId name = 0;  // see wire/session_name.h
    OpShapes shapes;
    // Refused as BUSY: what follows it is passed over until it comes again.
    Sequence busy_from = 0;
    bool closed = false;
    // Of a relay: for whom it speaks.
    std::optional<Caller> relayed;
  };

  // StreamWriter
  void Write(const v1::IngestResponse& response) override;
  void Read() override;
  void Finish(const grpc::Status& status) override;
  void Cancel() override;

  // OK, or why it is one too many.
  grpc::Status Join();
  void Take(grpc::ByteBuffer& bytes);
  void TakeMessage(const v1::IngestRequest& request);
  void TakeParsed(Session* session, Parsed parsed);
  // Null: refused.
  Session* FindSession(const v1::IngestRequest& request);
  bool MakeRoom();
  // Who says what a relay brings. False: it may not relay, and was told so.
  bool SpeakFor(const v1::OpenSession& open, Session* session);
  void RefuseForNow(const Parsed& parsed, Session* session);
  // Reads the next message, after a pause where one is due.
  void ReadOn();
  void Pause(Duration least);
  // Asks anew who speaks where that may have changed. False: he may not any
  // more, and the stream ends.
  bool StillIn();

  IngestStreams& streams_;
  grpc::CallbackServerContext* const context_;
  const std::shared_ptr<StreamPort> port_;
  // Of the callers whom `identity_` and `caller_` are among.
  uint64_t edition_;
  Identity identity_;
  Caller caller_;
  const std::shared_ptr<User> user_;

  // Of the one reading callback.
  grpc::ByteBuffer read_;
  const std::string peer_;
  bool brought_ = false;  // a message
  bool joined_ = false;   // counted among the user's streams
  bool ended_ = false;    // by us: nothing more is read
  Duration owed_{};       // until what the user sent is paid for
  // Where much of the user's waits for the pipeline: how long it takes to judge
  // what this stream brought last.
  Duration pressing_{};
  Duration patience_{};  // how long it still waits for room
  std::unique_ptr<grpc::Alarm> pause_;
  std::unordered_map<SessionId, Session> sessions_;  // looked up by id only

  grpc::ByteBuffer written_;  // of the write in flight
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_INGEST_STREAM_H_
