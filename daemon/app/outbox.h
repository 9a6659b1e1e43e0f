// Outbox: what may leave the machine only when its event is on disk. The
// pipeline puts answers in, in the order of event ids; the history thread
// releases them when the ids are committed.

#ifndef NANWATCH_APP_OUTBOX_H_
#define NANWATCH_APP_OUTBOX_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
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
  std::optional<int32_t> moved_to;  // see Admitted
};
struct AskReply {
  std::shared_ptr<ReplyPort> port;
  Request request;
};
struct NoticeReply {
  Notice notice;
  bool told = false;  // a relay told people of it
};
using Outgoing = std::variant<OpenedReply, AckReply, AskReply, NoticeReply>;

class Outbox {
 public:
  // `notify` takes notices; it must not block. `stored` says whether a
  // committed event is on disk; openings and acks pass it on. Both from any
  // thread.
  Outbox(std::function<void(const NoticeReply&)> notify,
         std::function<bool(uint64_t event_id)> stored);

  // Pipeline thread. `event_id` never falls.
  void Put(uint64_t event_id, Outgoing outgoing);
  // Sends all whose event id is at most `committed`. Any thread.
  void Release(uint64_t committed);
  // Event id of the newest that was sent, or is just being. Any thread.
  uint64_t released() const { return released_; }

 private:
  struct Waiting {
    uint64_t event_id;
    Outgoing outgoing;
  };
  void Send(const Waiting& waiting);

  // Constant after construction.
  const std::function<void(const NoticeReply&)> notify_;
  const std::function<bool(uint64_t)> stored_;

  std::atomic<uint64_t> released_{0};
  Mutex mutex_;
  std::deque<Waiting> waiting_ GUARDED_BY(mutex_);
  // One sender at a time, so that answers of one session stay in order.
  Mutex sending_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_OUTBOX_H_
