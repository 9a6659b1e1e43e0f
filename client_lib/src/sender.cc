#include "client_lib/src/sender.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "client_lib/src/announce.h"
#include "client_lib/src/envelope.h"
#include "client_lib/src/process.h"
#include "client_lib/src/socket_file.h"
#include "client_lib/src/utf8.h"

namespace nanwatch_client {
namespace {

namespace v1 = nanwatch::v1;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// A batch leaves when it is this large or its oldest record this old.
constexpr size_t kBatchBytes = 64 << 10;
constexpr auto kBatchAge = milliseconds(50);
// How often the ring is looked at: while records come, and while none do.
constexpr auto kBusyPoll = milliseconds(2);
constexpr auto kIdlePoll = milliseconds(20);
constexpr auto kBusyFor = seconds(1);
// To connect and get the handshake answered.
constexpr auto kOpenTimeout = seconds(5);
// A daemon that reads but acknowledges nothing, or a host that is gone.
constexpr auto kAckTimeout = seconds(30);
constexpr auto kRetryMost = seconds(60);

int64_t NowUs() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

milliseconds RetryAfter(const v1::Refusal& refusal) {
  return std::clamp<milliseconds>(milliseconds(refusal.retry_after_ms()),
                                  milliseconds(10), kRetryMost);
}

}  // namespace

Sender::Sender(std::shared_ptr<Shared> shared, SenderOptions options)
    : shared_(std::move(shared)),
      options_(std::move(options)),
      batcher_(shared_.get()),
      redial_(options_.addresses,
              static_cast<uint32_t>(options_.open.session() >> 16)) {}

void Sender::Run() {
  for (;;) {
    const SteadyTime now = steady_clock::now();
    Drain(now);
    if (Ending()) break;
    if (state_ == State::kAway && redial_.Due(now)) Connect(now);
    if (state_ == State::kAway) {
      WaitAway(now);
    } else {
      Pump(now);
    }
  }
  stream_.reset();
}

bool Sender::Ending() {
  std::lock_guard lock(shared_->mutex);
  if (!shared_->ending) return false;
  // A long pause must not cost the end its only chance.
  if (!std::exchange(last_try_, true) && state_ == State::kAway) {
    redial_.WaitUntil({});
  }
  return done_ || steady_clock::now() >= shared_->deadline ||
         (outbox_.empty() && shared_->ring.Used() == 0 &&
          (!shared_->closing || close_pushed_));
}

// ------------------------------------------------------- from ring to outbox

bool Sender::MustDrain(SteadyTime now) {
  const size_t used = shared_->ring.Used();
  if (used != 0) {
    last_record_ = now;
    if (!waiting_since_) waiting_since_ = now;
  }
  std::lock_guard lock(shared_->mutex);
  if (shared_->ending) return true;
  if (outbox_.bytes() > options_.unacked_bytes) return false;
  return shared_->urgent.exchange(false, std::memory_order_relaxed) ||
         used >= kBatchBytes || shared_->flush ||
         (waiting_since_ && now - *waiting_since_ >= kBatchAge);
}

void Sender::Drain(SteadyTime now) {
  if (!MustDrain(now)) return;
  batcher_.Drain(NowUs(), &outbox_);
  waiting_since_.reset();
  if (shared_->ring.Used() != 0) return;
  std::lock_guard lock(shared_->mutex);
  shared_->flush = false;
  if (shared_->closing && !std::exchange(close_pushed_, true)) {
    outbox_.Push({.kind = v1::IngestRequest::kClose, .body = ""});
  }
}

// ------------------------------------------------------------- the connection

void Sender::Connect(SteadyTime now) {
  const std::string& address = redial_.address();
  // Where there is no daemon, gRPC and its threads are never started.
  std::string why = WhyNotThere(address);
  Credentials credentials;
  if (why.empty()) {
    why = ReadCredentials(address, options_.credentials, &credentials);
  }
  if (!why.empty()) {
    Disconnect(std::move(why), now);
    return;
  }
  stream_ = std::make_unique<Stream>(credentials);
  if (!std::exchange(ever_tried_, true)) CallAtExitEarlier();
  state_ = State::kStarting;
  silent_since_ = now;
}

void Sender::WaitAway(SteadyTime now) {
  const auto wait =
      std::min<SteadyTime::duration>(kIdlePoll, redial_.not_before() - now);
  if (wait > SteadyTime::duration::zero()) std::this_thread::sleep_for(wait);
}

// By value: `why` may be the stream's own, which goes.
void Sender::Disconnect(std::string why, SteadyTime now) {
  const bool was_open = state_ == State::kOpen;
  const std::string address = redial_.address();
  stream_.reset();
  state_ = State::kAway;
  writing_ = false;
  Owed(false);
  if (was_open) shared_->reconnects.fetch_add(1, std::memory_order_relaxed);
  bool ending = false;
  {
    std::lock_guard lock(shared_->mutex);
    shared_->connected = false;
    ending = shared_->ending;
  }
  const bool all_tried = redial_.Next(now, was_open, /*hurry=*/ending);
  // A restarted daemon is worth the wait, one that never was is not.
  if (all_tried && ending && !ever_open_) done_ = true;
  Report("nanwatchd at " + address + ": " +
         (why.empty() ? "the stream ended" : why));
}

void Sender::Owed(bool owed) {
  if (owed == owed_) return;
  owed_ = owed;
  std::lock_guard lock(shared_->mutex);
  shared_->address = redial_.address();
  shared_->silent_since.reset();
  if (owed) shared_->silent_since = silent_since_;
}

void Sender::CheckSilence(SteadyTime now) {
  Owed(state_ == State::kStarting || state_ == State::kOpening ||
       outbox_.awaits_ack());
  if (state_ == State::kStarting || state_ == State::kOpening) {
    if (now - silent_since_ < kOpenTimeout) return;
    Disconnect("no answer within 5 s", now);
  } else if (!outbox_.awaits_ack()) {
    silent_since_ = now;
  } else if (now - silent_since_ >= kAckTimeout) {
    Disconnect("no acknowledgement within 30 s", now);
  }
}

void Sender::Pump(SteadyTime now) {
  if (state_ == State::kOpen && !writing_) SendNext(now);
  const bool busy = now - last_record_ < kBusyFor || !outbox_.empty();
  v1::IngestResponse response;
  switch (stream_->Wait(
      static_cast<int>((busy ? kBusyPoll : kIdlePoll).count()), &response)) {
    case Stream::Event::kNone:
      break;
    case Stream::Event::kStarted:
      SendOpen();
      break;
    case Stream::Event::kWritten:
      writing_ = false;
      return;
    case Stream::Event::kResponse:
      OnResponse(response, now);
      return;
    case Stream::Event::kEnded:
      Disconnect(stream_->error(), now);
      return;
  }
  CheckSilence(now);
}

void Sender::SendOpen() {
  options_.open.set_client_time_us(NowUs());
  options_.open.set_acked_sequence(outbox_.acknowledged());
  v1::IngestRequest request;
  *request.mutable_open() = options_.open;
  stream_->Write(request.SerializeAsString());
  writing_ = true;
  state_ = State::kOpening;
}

void Sender::SendNext(SteadyTime now) {
  const Outgoing* next = outbox_.Next();
  if (next == nullptr || !redial_.Due(now)) return;
  if (!outbox_.awaits_ack()) silent_since_ = now;
  stream_->Write(Envelope(next->kind, options_.open.session(),
                          outbox_.next_sequence(), next->body));
  writing_ = true;
  shared_->sent.fetch_add(outbox_.MarkSent(), std::memory_order_relaxed);
}

// ---------------------------------------------------------------- the answers

void Sender::OnResponse(const v1::IngestResponse& response, SteadyTime now) {
  switch (response.kind_case()) {
    case v1::IngestResponse::kOpened:
      if (state_ == State::kOpening) OnOpened(response.opened(), now);
      break;
    case v1::IngestResponse::kAck:
      if (state_ == State::kOpen) {
        const v1::Ack& ack = response.ack();
        if (ack.has_attempt()) {  // the steps went back
          std::lock_guard lock(shared_->mutex);
          shared_->attempt = ack.attempt();
        }
        OnAck(outbox_.Acknowledge(ack.sequence()),
              ack.has_durable() ? ack.durable() : durable_, now);
      }
      break;
    case v1::IngestResponse::kRefusal:
      OnRefusal(response.refusal(), now);
      break;
    case v1::IngestResponse::kRequest:
      shared_->requests.Put(response.request());
      break;
    case v1::IngestResponse::KIND_NOT_SET:
      break;
  }
}

void Sender::OnOpened(const v1::SessionOpened& opened, SteadyTime now) {
  state_ = State::kOpen;
  ever_open_ = true;
  silent_since_ = now;
  Batcher::Limits limits;
  if (opened.max_steps_per_batch() != 0) {
    limits.steps = std::min<size_t>(limits.steps, opened.max_steps_per_batch());
  }
  if (opened.max_ops_per_batch() != 0) {
    limits.ops = std::min<size_t>(limits.ops, opened.max_ops_per_batch());
  }
  batcher_.set_limits(limits);
  shared_->names.Allow();
  const uint64_t records = outbox_.Resume(opened.held_sequence());
  const uint32_t first = outbox_.FirstOpName(batcher_.op_names_taken());
  if (opened.ops_held() < first) {
    batcher_.ResendOpNames(opened.ops_held(), first, &outbox_);
  }
  {
    std::lock_guard lock(shared_->mutex);
    shared_->connected = true;
    shared_->error.clear();
    shared_->run_id = opened.run_id();
    shared_->attempt = opened.attempt();
  }
  Announce(options_.announce, opened.run_id());
  durable_ = opened.durable();
  OnAck(records, durable_, now);
  // A session without a run id was given one: it must come back to it.
  if (options_.open.run().run_id().empty()) {
    options_.open.mutable_run()->set_run_id(opened.run_id());
  }
}

void Sender::OnAck(uint64_t records, bool durable, SteadyTime now) {
  silent_since_ = now;
  if (records != 0) redial_.Reset();
  std::lock_guard lock(shared_->mutex);
  if (owed_) shared_->silent_since = now;
  shared_->acked.fetch_add(records, std::memory_order_relaxed);
  if (!durable) {
    shared_->not_durable.fetch_add(records, std::memory_order_relaxed);
  }
  shared_->changed.notify_all();
}

void Sender::OnRefusal(const v1::Refusal& refusal, SteadyTime now) {
  if (refusal.sequence() == 0) return OnRefusedSession(refusal, now);
  const bool retry =
      refusal.code() == v1::REFUSAL_CODE_LIMIT && refusal.retry_after_ms() != 0;
  switch (retry ? v1::REFUSAL_CODE_BUSY : refusal.code()) {
    case v1::REFUSAL_CODE_BUSY:
      outbox_.Rewind(refusal.sequence());
      redial_.WaitUntil(now + RetryAfter(refusal));
      break;
    case v1::REFUSAL_CODE_OUT_OF_SEQUENCE:
      OnOutOfSequence(refusal, now);
      return;
    case v1::REFUSAL_CODE_UNKNOWN_SESSION:
    case v1::REFUSAL_CODE_SHUTTING_DOWN:
      OnRefusedSession(refusal, now);
      return;
    default:  // INVALID, LIMIT, and what newer daemons may have
      OnRefusedForGood(refusal);
  }
  Report("nanwatchd refused: " + refusal.message());
}

void Sender::OnRefusedForGood(const v1::Refusal& refusal) {
  const Outgoing* sent = outbox_.Sent(refusal.sequence());
  if (sent != nullptr && sent->kind == v1::IngestRequest::kOpNames) {
    shared_->names.RefuseFrom(sent->first_op);
  }
  const Lost lost = outbox_.Refuse(refusal.sequence());
  std::lock_guard lock(shared_->mutex);
  shared_->refused.fetch_add(lost.records(), std::memory_order_relaxed);
  shared_->changed.notify_all();
}

void Sender::OnRefusedSession(const v1::Refusal& refusal, SteadyTime now) {
  redial_.WaitUntil(now + RetryAfter(refusal));
  Disconnect(refusal.message(), now);
}

void Sender::OnOutOfSequence(const v1::Refusal& refusal, SteadyTime now) {
  const uint64_t expected = refusal.expected_sequence();
  if (expected > outbox_.acknowledged() &&
      expected <= outbox_.next_sequence()) {
    // Later messages of a batch that was refused as BUSY say this, too; they
    // find the rewind done.
    outbox_.Rewind(expected);
    return;
  }
  // The handshake says where to go on.
  Disconnect(refusal.message(), now);
}

void Sender::Report(const std::string& error) {
  std::lock_guard lock(shared_->mutex);
  shared_->error = CleanUtf8(error, sizeof(nanwatch_stats::error) - 1);
}

}  // namespace nanwatch_client
