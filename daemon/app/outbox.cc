#include "app/outbox.h"

#include <utility>

namespace nanwatch {

Outbox::Outbox(std::function<void(const NoticeReply&)> notify,
               std::function<bool(uint64_t)> stored)
    : notify_(std::move(notify)), stored_(std::move(stored)) {}

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
  if (!due.empty()) released_ = due.back().event_id;
  for (const Waiting& waiting : due) Send(waiting);
}

void Outbox::Send(const Waiting& waiting) {
  const auto& [event_id, outgoing] = waiting;
  if (const auto* opened = std::get_if<OpenedReply>(&outgoing)) {
    opened->port->Opened(opened->session, opened->opened, stored_(event_id));
  } else if (const auto* ack = std::get_if<AckReply>(&outgoing)) {
    ack->port->Ack(
        {ack->session, ack->sequence, stored_(event_id), ack->moved_to});
  } else if (const auto* ask = std::get_if<AskReply>(&outgoing)) {
    ask->port->Ask(ask->request);
  } else {
    notify_(std::get<NoticeReply>(outgoing));
  }
}

}  // namespace nanwatch
