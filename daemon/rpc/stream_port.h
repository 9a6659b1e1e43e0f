// StreamPort: the writing half of one client's stream. Any thread answers
// through it; one write is in flight at a time, what comes meanwhile is queued,
// newer acks replacing older ones.

#ifndef NANWATCH_RPC_STREAM_PORT_H_
#define NANWATCH_RPC_STREAM_PORT_H_

#include <grpcpp/support/status.h>

#include <string>
#include <unordered_map>

#include "base/mutex.h"
#include "nanwatch/v1/ingest.pb.h"
#include "rpc/ingest_port.h"
#include "rpc/reply_queue.h"
#include "rpc/stats.h"

namespace nanwatch {

// The stream itself, as the port drives it: never two of these at once, nothing
// after Finish.
class StreamWriter {
 public:
  virtual ~StreamWriter() = default;
  // StreamPort::Written follows, from whatever thread, after this returned.
  virtual void Write(const v1::IngestResponse& response) = 0;
  // Begins to read the next message.
  virtual void Read() = 0;
  virtual void Finish(const grpc::Status& status) = 0;
  // Makes reads and the write in flight fail.
  virtual void Cancel() = 0;
};

class StreamPort : public ReplyPort {
 public:
  // `writer` must live until Detach; `daemon` is said in every handshake. All
  // others must outlive this.
  StreamPort(StreamWriter* writer, RpcStats* stats, ReplyBudget* budget,
             std::string daemon);

  void Opened(SessionId session, const OpenedSession& opened,
              bool durable) override;
  void Ack(const Acknowledgement& ack) override;
  void Refuse(SessionId session, Sequence sequence,
              const RefusedMessage& refused, Duration retry_after) override;
  void Ask(const Request& request) override;

  // Answers say `secret` where they are about `name` (wire/session_name.h).
  void Know(SessionId name, SessionId secret);
  void Forget(SessionId name);

  // Of the budget: what waits for the client to read it.
  size_t waiting_bytes();
  // Forgets what waits, and has reads and writes fail: the client does not read
  // what it is told.
  void Cut();
  // Has the next message read, unless the stream is finished.
  void ReadOn();
  // The write in flight is over.
  void Written(bool ok);
  // Finishes with `status` when all that is queued is written. The first call
  // counts.
  void EndWhenWritten(grpc::Status status);
  // From here on this does nothing.
  void Detach();

 private:
  void Put(v1::IngestResponse response);
  void CutLocked() REQUIRES_LOCK(mutex_);
  SessionId SecretOf(SessionId name);
  void AdvanceLocked() REQUIRES_LOCK(mutex_);

  RpcStats* const stats_;
  const std::string daemon_;

  Mutex mutex_;
  StreamWriter* writer_ GUARDED_BY(mutex_);  // null: the stream is over
  ReplyQueue queue_ GUARDED_BY(mutex_);
  bool writing_ GUARDED_BY(mutex_) = false;
  bool broken_ GUARDED_BY(mutex_) = false;  // a write failed
  bool ending_ GUARDED_BY(mutex_) = false;
  bool finished_ GUARDED_BY(mutex_) = false;
  grpc::Status status_ GUARDED_BY(mutex_);
  std::unordered_map<SessionId, SessionId> secrets_ GUARDED_BY(mutex_);
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_STREAM_PORT_H_
