#include "rpc/reply_queue.h"

#include <algorithm>
#include <utility>

namespace nanwatch {

bool ReplyQueue::Push(v1::IngestResponse response) {
  if (responses_.size() >= most_) return false;
  const size_t bytes = response.SpaceUsedLong();
  bytes_ += bytes;
  budget_->Take(bytes);
  responses_.push_back(std::move(response));
  return true;
}

void ReplyQueue::Clear() {
  responses_.clear();
  acks_.clear();
  // Else it may be gone: see the constructor.
  if (bytes_ > 0) budget_->Give(std::exchange(bytes_, 0));
}

void ReplyQueue::Ack(const Acknowledgement& ack) {
  const auto [found, first] = acks_.try_emplace(ack.session, ack);
  if (first) return;
  Acknowledgement& waiting = found->second;
  waiting.sequence = std::max(waiting.sequence, ack.sequence);
  waiting.durable = waiting.durable && ack.durable;
  if (ack.moved_to) waiting.moved_to = ack.moved_to;
}

bool ReplyQueue::Pop(v1::IngestResponse* response) {
  if (!responses_.empty()) {
    const size_t bytes = responses_.front().SpaceUsedLong();
    bytes_ -= bytes;
    budget_->Give(bytes);
    *response = std::move(responses_.front());
    responses_.pop_front();
    return true;
  }
  if (acks_.empty()) return false;
  const auto first = acks_.begin();
  const Acknowledgement& waiting = first->second;
  v1::Ack* ack = response->mutable_ack();
  ack->set_session(waiting.session);
  ack->set_sequence(waiting.sequence);
  ack->set_durable(waiting.durable);
  if (waiting.moved_to) ack->set_attempt(*waiting.moved_to);
  acks_.erase(first);
  return true;
}

}  // namespace nanwatch
