#include "client_lib/src/outbox.h"

#include <algorithm>
#include <utility>

namespace nanwatch_client {
namespace {

namespace v1 = nanwatch::v1;

// Of the message in memory, beside its body.
constexpr size_t kEntryBytes = sizeof(Outgoing);

}  // namespace

void Outbox::Push(Outgoing message) {
  bytes_ += message.body.size() + kEntryBytes;
  messages_.push_back(std::move(message));
}

void Outbox::PushFront(Outgoing message) {
  bytes_ += message.body.size() + kEntryBytes;
  messages_.push_front(std::move(message));
}

const Outgoing* Outbox::Next() const {
  return all_sent() ? nullptr : &messages_[sent_];
}

uint64_t Outbox::MarkSent() {
  if (all_sent()) return 0;
  Outgoing& message = messages_[sent_++];
  return std::exchange(message.sent_before, true) ? 0
                                                  : message.records.records();
}

uint64_t Outbox::PopThrough(uint64_t sequence) {
  uint64_t records = 0;
  while (!messages_.empty() && first_sequence_ <= sequence) {
    records += messages_.front().records.records();
    bytes_ -= messages_.front().body.size() + kEntryBytes;
    messages_.pop_front();
    ++first_sequence_;
    if (sent_ != 0) --sent_;
  }
  return records;
}

uint64_t Outbox::Acknowledge(uint64_t sequence) {
  // What was never sent cannot have arrived.
  return PopThrough(std::min(sequence, next_sequence() - 1));
}

void Outbox::Rewind(uint64_t sequence) {
  if (sequence < first_sequence_) sequence = first_sequence_;
  if (sequence < next_sequence()) sent_ = sequence - first_sequence_;
}

const Outgoing* Outbox::Sent(uint64_t sequence) const {
  if (sequence < first_sequence_ || sequence >= next_sequence()) return nullptr;
  return &messages_[sequence - first_sequence_];
}

Lost Outbox::Refuse(uint64_t sequence) {
  if (Sent(sequence) == nullptr) return {};
  Outgoing& refused = messages_[sequence - first_sequence_];
  const Lost lost = std::exchange(refused.records, {});
  // Its sequence counts as used. Should a restarted daemon ask for it again, it
  // learns what was lost.
  v1::Dropped dropped;
  dropped.set_steps(lost.steps);
  dropped.set_ops(lost.ops);
  dropped.set_first_step(lost.first_step);
  dropped.set_last_step(lost.last_step);
  bytes_ -= refused.body.size();
  refused.kind = v1::IngestRequest::kDropped;
  refused.body = dropped.SerializeAsString();
  bytes_ += refused.body.size();
  return lost;
}

uint64_t Outbox::Resume(uint64_t held) {
  const uint64_t records = PopThrough(held);
  first_sequence_ = held + 1;
  sent_ = 0;
  return records;
}

uint32_t Outbox::FirstOpName(uint32_t none) const {
  for (const Outgoing& message : messages_) {
    if (message.kind == v1::IngestRequest::kOpNames) return message.first_op;
  }
  return none;
}

}  // namespace nanwatch_client
