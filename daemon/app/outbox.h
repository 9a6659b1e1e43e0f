// Outbox: what may leave the machine only when its event is on disk. The
// pipeline puts answers in, in the order of event ids; the history thread
// releases them when the ids are committed.

#ifndef NANWATCH_APP_OUTBOX_H_
#define NANWATCH_APP_OUTBOX_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "model/incident.h"
#include "model/request.h"
#include "rpc/ingest_port.h"

namespace nanwatch {

struct OpenedReply {
  std::shared_ptr<ReplyPort> port;
  SessionId session = 0;
  OpenedSession opened;
};
struct AckReply {
  std::shared_ptr<ReplyPort> port;
  SessionId session = 0;
  Sequence sequence = 0;
};
struct AskReply {
  std::shared_ptr<ReplyPort> port;
  Request request;
};
using Outgoing = std::variant<OpenedReply, AckReply, AskReply, Notice>;

class Outbox {
 public:
  // `notify` takes notices; it must not block. `durable` goes into every
  // OpenedReply.
  Outbox(std::function<void(const Notice&)> notify, bool durable);

  // Pipeline thread. `event_id` never falls.
  void Put(uint64_t event_id, Outgoing outgoing);
  // Sends all whose event id is at most `committed`. Any thread.
  void Release(uint64_t committed);
  size_t size();

 private:
  struct Waiting {
    uint64_t event_id;
    Outgoing outgoing;
  };
  void Send(const Outgoing& outgoing);

  // Constant after construction.
  const std::function<void(const Notice&)> notify_;
  const bool durable_;

  Mutex mutex_;
  std::deque<Waiting> waiting_ GUARDED_BY(mutex_);
  // One sender at a time, so that answers of one session stay in order.
  Mutex sending_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_OUTBOX_H_
