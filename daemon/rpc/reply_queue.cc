#include "rpc/reply_queue.h"

#include <algorithm>
#include <utility>

namespace nanwatch {

bool ReplyQueue::Push(v1::IngestResponse response) {
  if (responses_.size() >= most_) return false;
  responses_.push_back(std::move(response));
  return true;
}

void ReplyQueue::Ack(SessionId session, Sequence sequence, bool durable) {
  WaitingAck& waiting = acks_[session];
  waiting.sequence = std::max(waiting.sequence, sequence);
  waiting.durable = waiting.durable && durable;
}

bool ReplyQueue::Pop(v1::IngestResponse* response) {
  if (!responses_.empty()) {
    *response = std::move(responses_.front());
    responses_.pop_front();
    return true;
  }
  if (acks_.empty()) return false;
  const auto first = acks_.begin();
  response->mutable_ack()->set_session(first->first);
  response->mutable_ack()->set_sequence(first->second.sequence);
  response->mutable_ack()->set_durable(first->second.durable);
  acks_.erase(first);
  return true;
}

}  // namespace nanwatch
