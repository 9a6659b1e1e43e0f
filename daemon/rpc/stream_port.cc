#include "rpc/stream_port.h"

#include <algorithm>
#include <utility>

#include "model/limits.h"
#include "rpc/short_reason.h"

namespace nanwatch {
namespace {

// An answer to every opening, and some refusals and requests. A client that
// lets more pile up does not read.
constexpr size_t kQueuedReplies = 2 * limits::kSessionsPerStream;

uint32_t Milliseconds(Duration d) {
  return static_cast<uint32_t>(std::clamp<int64_t>(
      std::chrono::ceil<std::chrono::milliseconds>(d).count(), 0, 3600000));
}

}  // namespace

StreamPort::StreamPort(StreamWriter* writer, RpcStats* stats,
                       ReplyBudget* budget, std::string daemon)
    : stats_(stats),
      daemon_(std::move(daemon)),
      writer_(writer),
      queue_(kQueuedReplies, budget) {}

void StreamPort::Opened(SessionId session, const OpenedSession& opened,
                        bool durable) {
  v1::IngestResponse response;
  v1::SessionOpened* out = response.mutable_opened();
  out->set_session(SecretOf(session));
  out->set_run_id(opened.run.run_id);
  out->set_attempt(opened.run.attempt);
  out->set_held_sequence(opened.held_sequence);
  // Of this stream, not of the daemon: see wire/op_shapes.h.
  out->set_ops_held(0);
  out->set_durable(durable);
  out->set_daemon(daemon_);
  out->set_max_steps_per_batch(limits::kStepsPerBatch);
  out->set_max_ops_per_batch(limits::kOpsPerBatch);
  out->set_max_message_bytes(limits::kMessageBytes);
  out->set_takes_end(true);
  Put(std::move(response));
}

void StreamPort::Ack(const Acknowledgement& ack) {
  MutexLock lock(mutex_);
  if (writer_ == nullptr || ending_ || broken_) return;
  Acknowledgement told = ack;
  const auto secret = secrets_.find(ack.session);
  if (secret != secrets_.end()) told.session = secret->second;
  queue_.Ack(told);
  AdvanceLocked();
}

void StreamPort::Know(SessionId name, SessionId secret) {
  MutexLock lock(mutex_);
  secrets_[name] = secret;
}

void StreamPort::Forget(SessionId name) {
  MutexLock lock(mutex_);
  secrets_.erase(name);
}

SessionId StreamPort::SecretOf(SessionId name) {
  MutexLock lock(mutex_);
  const auto found = secrets_.find(name);
  return found == secrets_.end() ? name : found->second;
}

size_t StreamPort::waiting_bytes() {
  MutexLock lock(mutex_);
  return queue_.bytes();
}

void StreamPort::Cut() {
  MutexLock lock(mutex_);
  CutLocked();
}

void StreamPort::CutLocked() {
  if (writer_ == nullptr || broken_) return;
  stats_->CountLimit("replies");
  broken_ = true;
  queue_.Clear();
  writer_->Cancel();
}

void StreamPort::Refuse(SessionId session, Sequence sequence,
                        const RefusedMessage& refused, Duration retry_after) {
  stats_->CountRefusal(refused.reason);
  if (!refused.limit.empty()) stats_->CountLimit(refused.limit);
  v1::IngestResponse response;
  v1::Refusal* out = response.mutable_refusal();
  out->set_session(SecretOf(session));
  out->set_sequence(sequence);
  out->set_code(
      static_cast<v1::RefusalCode>(static_cast<int>(refused.reason) + 1));
  out->set_message(refused.message);
  out->set_retry_after_ms(Milliseconds(retry_after));
  out->set_expected_sequence(refused.expected_sequence);
  Put(std::move(response));
}

void StreamPort::Ask(const Request& request) {
  v1::IngestResponse response;
  v1::Request* out = response.mutable_request();
  out->set_session(SecretOf(request.session));
  out->set_id(request.id);
  out->set_expires_at_step(request.expires_at_step);
  if (request.kind == Request::Kind::kStop) {
    out->mutable_stop()->set_reason(ShortReason(request.reason));
  } else {
    v1::Request::CollectOps* collect = out->mutable_collect_ops();
    collect->mutable_ops()->Assign(request.ops.begin(), request.ops.end());
    collect->set_steps(request.steps);
  }
  Put(std::move(response));
}

void StreamPort::Put(v1::IngestResponse response) {
  MutexLock lock(mutex_);
  if (writer_ == nullptr || ending_ || broken_) return;
  if (!queue_.Push(std::move(response))) return CutLocked();
  AdvanceLocked();
}

void StreamPort::AdvanceLocked() {
  if (writing_ || finished_ || writer_ == nullptr) return;
  v1::IngestResponse next;
  if (!broken_ && queue_.Pop(&next)) {
    writing_ = true;
    writer_->Write(next);
  } else if (ending_) {
    finished_ = true;
    writer_->Finish(status_);
  }
}

void StreamPort::ReadOn() {
  MutexLock lock(mutex_);
  if (writer_ != nullptr && !finished_) writer_->Read();
}

void StreamPort::Written(bool ok) {
  MutexLock lock(mutex_);
  writing_ = false;
  if (!ok) broken_ = true;
  AdvanceLocked();
}

void StreamPort::EndWhenWritten(grpc::Status status) {
  MutexLock lock(mutex_);
  if (ending_) return;
  ending_ = true;
  status_ = std::move(status);
  AdvanceLocked();
}

void StreamPort::Detach() {
  MutexLock lock(mutex_);
  writer_ = nullptr;
  queue_.Clear();
}

}  // namespace nanwatch
