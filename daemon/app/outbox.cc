#include "app/outbox.h"

#include <utility>

namespace nanwatch {

Outbox::Outbox(std::function<void(const Notice&)> notify, bool durable)
    : notify_(std::move(notify)), durable_(durable) {}

void Outbox::Put(uint64_t event_id, Outgoing outgoing) {
  MutexLock lock(mutex_);
  waiting_.push_back({event_id, std::move(outgoing)});
}

void Outbox::Release(uint64_t committed) {
  MutexLock sending(sending_);
  std::vector<Waiting> due;
  {
    MutexLock lock(mutex_);
    while (!waiting_.empty() && waiting_.front().event_id <= committed) {
      due.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
  }
  for (const Waiting& waiting : due) Send(waiting.outgoing);
}

size_t Outbox::size() {
  MutexLock lock(mutex_);
  return waiting_.size();
}

void Outbox::Send(const Outgoing& outgoing) {
  if (const auto* opened = std::get_if<OpenedReply>(&outgoing)) {
    opened->port->Opened(opened->session, opened->opened, durable_);
  } else if (const auto* ack = std::get_if<AckReply>(&outgoing)) {
    ack->port->Ack(ack->session, ack->sequence);
  } else if (const auto* ask = std::get_if<AskReply>(&outgoing)) {
    ask->port->Ask(ask->request);
  } else {
    notify_(std::get<Notice>(outgoing));
  }
}

}  // namespace nanwatch
