// What a relay says upstream, and in which order.

#include <utility>

#include "relay/relay.h"

namespace nanwatch {

bool Relay::SendNext(Time now) {
  if (SendTold()) return true;
  while (!to_open_.empty()) {
    const SessionId name = to_open_.front();
    to_open_.pop_front();
    Session* session = Find(name);
    if (session == nullptr || session->asked || session->lost) continue;
    SendOpen(name, session);
    return true;
  }
  while (next_ < queue_.size()) {
    Forward& out = queue_[next_];
    if (out.done) {
      ++next_;
      continue;
    }
    switch (out.kind) {
      case Forward::Kind::kOpen:
        if (SendOpenOf(&out)) return true;
        break;
      case Forward::Kind::kMessage:
        if (SendMessage(&out, now)) return true;
        break;
      case Forward::Kind::kLost:
        if (SendLost(&out)) return true;
        break;
      case Forward::Kind::kRunOver:
        out.done = true;
        break;
    }
    // What waits for an answer holds up the rest: order is what it keeps.
    const bool sent_before = out.kind == Forward::Kind::kMessage &&
                             (Find(out.session) == nullptr ||
                              out.sequence <= Find(out.session)->sent);
    if (!out.done && !sent_before) return false;
    ++next_;
  }
  return false;
}

bool Relay::SendOpenOf(Forward* out) {
  Session& session = sessions_[out->session];
  if (session.open.session() == 0 || session.lost || !session.asked) {
    const SessionId id = UpstreamId(key_, out->session);
    session.open = out->request.open();
    session.open.set_session(id);
    by_upstream_[id] = out->session;
  }
  session.run = out->run;
  session.lost = false;
  session.started = true;
  unsaved_ = true;
  if (session.refused || session.opened) {
    out->done = true;
    return false;
  }
  if (session.asked) return false;
  SendOpen(out->session, &session);
  return true;
}

bool Relay::SendMessage(Forward* out, Time now) {
  Session* session = Find(out->session);
  if (session == nullptr || session->refused) {
    figures_.refused.fetch_add(1);
    out->done = true;
    return false;
  }
  if (out->sequence <= session->sent) return false;
  session->run = out->run;
  session->lost = false;
  if (session->opened && out->sequence > session->sent + 1) {
    // The history lacks what was before: the upstream goes on from here.
    if (session->sent > session->acked) return false;
    figures_.missing.fetch_add(out->sequence - 1 - session->sent);
    session->acked = session->sent = out->sequence - 1;
    session->asked = session->opened = false;
  }
  if (!session->asked) {
    SendOpen(out->session, session);
    return true;
  }
  if (!session->opened) return false;
  v1::IngestRequest& request = out->request;
  const SessionId id = session->open.session();
  switch (request.kind_case()) {
    case v1::IngestRequest::kSteps:
      request.mutable_steps()->set_session(id);
      request.mutable_steps()->set_sent_time_us(ToMicros(now));
      break;
    case v1::IngestRequest::kOps:
      request.mutable_ops()->set_session(id);
      request.mutable_ops()->set_sent_time_us(ToMicros(now));
      break;
    case v1::IngestRequest::kOpNames:
      request.mutable_op_names()->set_session(id);
      break;
    case v1::IngestRequest::kDropped:
      request.mutable_dropped()->set_session(id);
      break;
    default:
      request.mutable_close()->set_session(id);
  }
  session->sent = out->sequence;
  ++next_;
  Write(request);
  return true;
}

bool Relay::SendLost(Forward* out) {
  Session* session = Find(out->session);
  if (session == nullptr || session->refused || session->lost ||
      out->sequence < session->acked) {
    out->done = true;
    return false;
  }
  if (session->acked < out->sequence) return false;
  session->lost = true;
  unsaved_ = true;
  out->done = true;
  if (!session->asked) return false;
  session->asked = session->opened = false;
  out->request.mutable_lost()->set_session(session->open.session());
  Write(out->request);
  return true;
}

void Relay::SendOpen(SessionId name, Session* session) {
  session->open.set_acked_sequence(session->acked);
  session->open.set_client_time_us(ToMicros(clock_.Now()));
  session->open.set_client("nanwatchd");
  session->asked = true;
  session->opened = false;
  by_upstream_[session->open.session()] = name;
  v1::IngestRequest request;
  *request.mutable_open() = session->open;
  Write(request);
}

// Before the records of which the upstream will say the same.
bool Relay::SendTold() {
  const auto fresh = seam_.told();
  told_.insert(told_.end(), fresh.begin(), fresh.end());
  if (told_.empty() || (said_told_ && fresh.empty())) return false;
  said_told_ = true;
  v1::IngestRequest request;
  for (const ToldMessage::Told& one : told_) {
    auto* told = request.mutable_told()->add_told();
    told->set_run_id(one.run.run_id);
    told->set_attempt(one.run.attempt);
    told->set_incident(one.incident);
  }
  Write(request);
  return true;
}

void Relay::Write(const v1::IngestRequest& request) {
  writing_ = true;
  figures_.messages.fetch_add(1);
  figures_.bytes.fetch_add(upstream_->Write(request));
}

}  // namespace nanwatch
