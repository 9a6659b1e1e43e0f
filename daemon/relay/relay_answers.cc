// What the upstream answers.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "relay/relay.h"

namespace nanwatch {
namespace {

using std::chrono::milliseconds;

// What is refused without a time to come again. Ours.
constexpr Duration kRetryLeast = milliseconds(100);
constexpr Duration kRetryMost = std::chrono::seconds(60);

Duration RetryAfter(const v1::Refusal& refusal) {
  return std::clamp<Duration>(milliseconds(refusal.retry_after_ms()),
                              kRetryLeast, kRetryMost);
}

}  // namespace

void Relay::Take(const v1::IngestResponse& response, Time now) {
  heard_ = now;
  Arrive();
  switch (response.kind_case()) {
    case v1::IngestResponse::kOpened:
      return TakeOpened(response.opened(), now);
    case v1::IngestResponse::kAck: {
      SessionId name = 0;
      Session* session = FindUpstream(response.ack().session(), &name);
      const Sequence held = response.ack().sequence();
      if (session == nullptr || held <= session->acked) return;
      session->acked = held;
      if (said_told_) told_.clear();
      backoff_.Reset();
      good_ = now;
      unsaved_ = true;
      return;
    }
    case v1::IngestResponse::kRefusal:
      return TakeRefusal(response.refusal(), now);
    case v1::IngestResponse::kRequest:
      return TakeRequest(response.request());
    case v1::IngestResponse::KIND_NOT_SET:
      return;
  }
}

void Relay::TakeOpened(const v1::SessionOpened& opened, Time now) {
  SessionId name = 0;
  Session* session = FindUpstream(opened.session(), &name);
  if (session == nullptr || !session->asked) return;
  session->opened = true;
  session->acked = std::max(session->acked, opened.held_sequence());
  session->sent = session->acked;
  good_ = now;
  unsaved_ = true;
}

void Relay::TakeRefusal(const v1::Refusal& refusal, Time now) {
  SessionId name = 0;
  Session* session = FindUpstream(refusal.session(), &name);
  if (session == nullptr) return;
  if (MayLog(now)) {
    LogWarning("the upstream refused", refusal.message());
  }
  if (refusal.sequence() == 0) {
    return TakeRefusedSession(refusal, session, now);
  }
  const bool retry =
      refusal.code() == v1::REFUSAL_CODE_LIMIT && refusal.retry_after_ms() != 0;
  switch (retry ? v1::REFUSAL_CODE_BUSY : refusal.code()) {
    case v1::REFUSAL_CODE_UNKNOWN_SESSION:
      session->asked = session->opened = false;
      return Rewind(session, RetryAfter(refusal), now);
    case v1::REFUSAL_CODE_BUSY:
    case v1::REFUSAL_CODE_OUT_OF_SEQUENCE:
    case v1::REFUSAL_CODE_SHUTTING_DOWN:
      return Rewind(session, RetryAfter(refusal), now);
    default:
      break;
  }
  figures_.refused.fetch_add(1);
  for (Forward& out : queue_) {
    if (out.session == name && out.sequence == refusal.sequence() &&
        out.kind == Forward::Kind::kMessage) {
      out.done = true;
    }
  }
}

void Relay::TakeRefusedSession(const v1::Refusal& refusal, Session* session,
                               Time now) {
  switch (refusal.code()) {
    case v1::REFUSAL_CODE_UNKNOWN_SESSION:
      if (session->lost) return;
      [[fallthrough]];
    case v1::REFUSAL_CODE_BUSY:
    case v1::REFUSAL_CODE_SHUTTING_DOWN:
      session->asked = session->opened = false;
      return Rewind(session, RetryAfter(refusal), now);
    default:
      // Asked again on the next stream.
      LogWarning("the upstream takes nothing of a session",
                 fmt::format("run_id={} rank={} {}", session->run.run_id,
                             session->open.rank().rank(), refusal.message()));
      session->refused = true;
      good_ = now;
  }
}

void Relay::TakeRequest(const v1::Request& from) {
  SessionId name = 0;
  const Session* session = FindUpstream(from.session(), &name);
  if (session == nullptr) return;
  Request request;
  request.id = from.id();
  request.session = name;
  request.expires_at_step = from.expires_at_step();
  if (from.has_stop()) {
    request.kind = Request::Kind::kStop;
    request.reason = from.stop().reason();
  } else {
    request.ops.assign(from.collect_ops().ops().begin(),
                       from.collect_ops().ops().end());
    request.steps = from.collect_ops().steps();
  }
  seam_.ask(session->run, std::move(request));
}

void Relay::Rewind(Session* session, Duration pause, Time now) {
  session->sent = session->acked;
  next_ = 0;
  not_before_ = std::max(not_before_, now + pause);
}

}  // namespace nanwatch
