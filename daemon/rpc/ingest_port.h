// The seam between the gRPC callbacks and the pipeline: arrivals go in, answers
// come out. rpc/ implements ReplyPort, app/ implements IngestSink.

#ifndef NANWATCH_RPC_INGEST_PORT_H_
#define NANWATCH_RPC_INGEST_PORT_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "base/fair_mailbox.h"
#include "model/client_message.h"
#include "model/request.h"

namespace nanwatch {

// Everything of `session` up to `sequence` is held.
struct Acknowledgement {
  SessionId session = 0;
  Sequence sequence = 0;
  bool durable = false;             // on disk
  std::optional<int32_t> moved_to;  // another attempt, see Admitted
};

// One client's stream, as the pipeline and the history thread see it. Every
// method may be called from any thread, never blocks, and does nothing once the
// stream is over.
class ReplyPort {
 public:
  virtual ~ReplyPort() = default;
  virtual void Opened(SessionId session, const OpenedSession& opened,
                      bool durable) = 0;
  // Newer acks replace older ones that were not written yet.
  virtual void Ack(const Acknowledgement& ack) = 0;
  virtual void Refuse(SessionId session, Sequence sequence,
                      const RefusedMessage& refused, Duration retry_after) = 0;
  virtual void Ask(const Request& request) = 0;
};

// What a stream brought. `ended`: the stream is over (message is then unset);
// its sessions that were not closed are lost.
struct Arrival {
  std::shared_ptr<ReplyPort> port;
  uint64_t user = 0;  // whose stream it is: a number of rpc/users.h
  ClientMessage message;
  size_t bytes = 0;  // what it weighs: set where it is offered
  bool ended = false;
};

class IngestSink {
 public:
  virtual ~IngestSink() = default;
  // Any thread; never blocks. kFull: `arrival` is untouched, and the caller
  // tells the client to come again. An `ended` arrival is always taken, and
  // comes after all that its stream brought.
  virtual Offered Offer(Arrival&& arrival, size_t bytes) = 0;
  // True where the user is to send less: see Offered::kPressing. Any thread.
  virtual bool Presses(uint64_t user) {
    (void)user;
    return false;
  }
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_INGEST_PORT_H_
