// Outbox: the messages of a session that the daemon has not acknowledged, in
// order. A message's sequence is its place, so nothing is stored twice and a
// daemon that lost its history is served from where it is.

#ifndef NANWATCH_CLIENT_OUTBOX_H_
#define NANWATCH_CLIENT_OUTBOX_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "client_lib/src/gap.h"
#include "nanwatch/v1/ingest.pb.h"

namespace nanwatch_client {

struct Outgoing {
  nanwatch::v1::IngestRequest::KindCase kind;
  // The inner message without session and sequence, serialized.
  std::string body;
  // What it says: records, and the steps they are of. Of a Dropped message: 0.
  Lost records;
  uint32_t first_op = 0;  // of op names: index of the first
  bool sent_before = false;
};

class Outbox {
 public:
  void Push(Outgoing message);

  // The next message to send, or null; stays until it is acknowledged.
  const Outgoing* Next() const;
  uint64_t next_sequence() const { return first_sequence_ + sent_; }
  // The one that Next showed was sent. Returns the records in it, 0 when they
  // had been sent before.
  uint64_t MarkSent();

  // Everything up to `sequence` is held. Returns the records in it.
  uint64_t Acknowledge(uint64_t sequence);
  // Begin again with `sequence`.
  void Rewind(uint64_t sequence);
  // The daemon refused this one for good: it is not sent again as it is.
  // Returns what was lost with it.
  Lost Refuse(uint64_t sequence);
  // One that was sent and waits for its answer, or null.
  const Outgoing* Sent(uint64_t sequence) const;
  // A stream was opened and the daemon holds everything up to `held`, be that
  // more than was acknowledged (an ack got lost) or less (history did). Returns
  // the records acknowledged by that.
  uint64_t Resume(uint64_t held);
  // Puts a message before all others. Only between Resume and the next send.
  void PushFront(Outgoing message);

  bool empty() const { return messages_.empty(); }
  size_t size() const { return messages_.size(); }
  bool all_sent() const { return sent_ == messages_.size(); }
  bool awaits_ack() const { return sent_ != 0; }
  size_t bytes() const { return bytes_; }
  // The newest sequence that was acknowledged.
  uint64_t acknowledged() const { return first_sequence_ - 1; }
  // Index of the first op name that waits here, `none` when none does.
  uint32_t FirstOpName(uint32_t none) const;

 private:
  uint64_t PopThrough(uint64_t sequence);

  std::deque<Outgoing> messages_;
  uint64_t first_sequence_ = 1;  // of messages_[0]
  size_t sent_ = 0;              // so many of messages_ were sent
  size_t bytes_ = 0;
};

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_OUTBOX_H_
