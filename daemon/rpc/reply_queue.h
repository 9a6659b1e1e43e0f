// ReplyQueue: what waits to be written to one client. Bounded: a newer ack of a
// session replaces the one that waits.

#ifndef NANWATCH_RPC_REPLY_QUEUE_H_
#define NANWATCH_RPC_REPLY_QUEUE_H_

#include <cstddef>
#include <deque>
#include <unordered_map>

#include "nanwatch/v1/ingest.pb.h"
#include "rpc/ingest_port.h"
#include "rpc/reply_budget.h"

namespace nanwatch {

class ReplyQueue {
 public:
  // `budget` must outlive what waits here: once a stream is over that is
  // nothing, while who answers may still hold its end of it.
  ReplyQueue(size_t most, ReplyBudget* budget) : most_(most), budget_(budget) {}
  ~ReplyQueue() { Clear(); }
  ReplyQueue(const ReplyQueue&) = delete;
  ReplyQueue& operator=(const ReplyQueue&) = delete;

  // False: the client does not read what it is told; nothing was queued.
  bool Push(v1::IngestResponse response);
  // One that replaces another says durable only if both do.
  void Ack(const Acknowledgement& ack);

  // Moves the next one out; others go before acks. False: nothing waits.
  bool Pop(v1::IngestResponse* response);
  bool empty() const { return responses_.empty() && acks_.empty(); }
  void Clear();
  // Of the budget.
  size_t bytes() const { return bytes_; }

 private:
  const size_t most_;
  ReplyBudget* const budget_;
  size_t bytes_ = 0;
  std::deque<v1::IngestResponse> responses_;
  // Which session's ack is written first does not matter.
  std::unordered_map<SessionId, Acknowledgement> acks_;
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_REPLY_QUEUE_H_
