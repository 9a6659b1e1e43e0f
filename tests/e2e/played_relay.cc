#include "played_relay.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace nanwatch {
namespace {

// Until it connects again, as a relay after some tries.
constexpr auto kPause = std::chrono::seconds(1);
constexpr uint32_t kRetryLeastMs = 100;

std::shared_ptr<grpc::Channel> OwnChannel(
    const std::string& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

}  // namespace

// Deletes itself when gRPC is done with it.
class PlayedRelay::Stream final
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit Stream(PlayedRelay* relay) : relay_(relay) {
    if (!relay->token_.empty()) {
      context_.AddMetadata("authorization", "Bearer " + relay->token_);
    }
    relay->stub_.PrepareBidiStreamingCall(
        &context_, "/nanwatch.v1.IngestService/Ingest", {}, this);
    StartRead(&read_);
    StartCall();
  }

  void Write(const v1::IngestRequest& request) {
    const grpc::Slice slice(request.SerializeAsString());
    relay_->job_->bytes += slice.size();
    ++relay_->job_->sent;
    written_ = grpc::ByteBuffer(&slice, 1);
    StartWrite(&written_);
  }

  void OnWriteDone(bool ok) override {
    if (ok) relay_->Written();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    std::vector<grpc::Slice> slices;
    std::string bytes;
    if (!read_.Dump(&slices).ok()) GiveUp("an answer is not readable");
    for (const grpc::Slice& slice : slices) {
      bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
    v1::IngestResponse response;
    if (!response.ParseFromString(bytes)) GiveUp("an answer is not readable");
    relay_->Take(response);
    StartRead(&read_);
  }

  void OnDone(const grpc::Status& status) override {
    relay_->Ended(status);
    delete this;
  }

 private:
  PlayedRelay* const relay_;
  grpc::ClientContext context_;
  grpc::ByteBuffer read_;
  grpc::ByteBuffer written_;
};

PlayedRelay::PlayedRelay(
    PlayedJob* job, int number, std::string token,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials)
    : job_(job),
      number_(number),
      token_(std::move(token)),
      stub_(OwnChannel(job->options.address, credentials)) {}

void PlayedRelay::Pump() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stream_ == nullptr) {
    if (Clock::now() < not_before_) return;
    stream_ = new Stream(this);
  }
  PumpLocked();
}

void PlayedRelay::PumpLocked() {
  while (stream_ != nullptr && !writing_ && next_ < job_->messages.size()) {
    const RecordedMessage& recorded = job_->messages[next_];
    Session& session = sessions_[recorded.place.session];
    const auto after = std::chrono::microseconds(static_cast<int64_t>(
        static_cast<double>(recorded.time_us - job_->messages.front().time_us) *
        job_->options.pace));
    const auto now = Clock::now();
    if (now < job_->begun + after || now < not_before_) return;
    const bool opens = recorded.place.sequence == 0;
    const bool known =
        opens ? session.asked : recorded.place.sequence <= session.sent;
    if (known) {
      ++next_;
      continue;
    }
    if (!opens && !session.opened) return;
    const bool closes =
        recorded.place.sequence == job_->last.at(recorded.place.session);
    if (closes && !job_->close) return;
    if (opens) {
      session.asked = true;
    } else {
      session.sent = recorded.place.sequence;
    }
    v1::IngestRequest request = Replayed(recorded, number_, job_);
    if (opens) request.mutable_open()->set_acked_sequence(session.acked);
    ++next_;
    writing_ = true;
    stream_->Write(request);
  }
}

void PlayedRelay::Written() {
  std::lock_guard<std::mutex> lock(mutex_);
  writing_ = false;
  PumpLocked();
}

void PlayedRelay::Take(const v1::IngestResponse& response) {
  std::lock_guard<std::mutex> lock(mutex_);
  switch (response.kind_case()) {
    case v1::IngestResponse::kOpened: {
      const v1::SessionOpened& opened = response.opened();
      Session& session =
          sessions_[RecordedId(opened.session(), number_, *job_)];
      session.opened = true;
      if (!std::exchange(session.ever_opened, true)) ++job_->opened;
      session.acked = std::max(session.acked, opened.held_sequence());
      session.sent = std::max(session.sent, session.acked);
      break;
    }
    case v1::IngestResponse::kAck:
      TakeAck(response.ack());
      break;
    case v1::IngestResponse::kRefusal:
      Rewind(response.refusal());
      break;
    default:
      break;  // requests: nobody is there to answer them
  }
  PumpLocked();
}

void PlayedRelay::TakeAck(const v1::Ack& ack) {
  const uint64_t recorded = RecordedId(ack.session(), number_, *job_);
  Session& session = sessions_[recorded];
  const uint64_t before = session.acked;
  session.acked = std::max(before, ack.sequence());
  const uint64_t last = job_->last.at(recorded);
  const auto passes = [&](uint64_t sequence) {
    return before < sequence && session.acked >= sequence;
  };
  if (passes(last - 1)) ++job_->held;
  if (passes(last)) ++job_->closed;
}

void PlayedRelay::Rewind(const v1::Refusal& refusal) {
  ++job_->refusals;
  if (refusal.retry_after_ms() == 0 &&
      refusal.code() != v1::REFUSAL_CODE_OUT_OF_SEQUENCE &&
      refusal.code() != v1::REFUSAL_CODE_UNKNOWN_SESSION) {
    GiveUp("refused: " + refusal.message());
  }
  const uint64_t recorded = RecordedId(refusal.session(), number_, *job_);
  Session& session = sessions_[recorded];
  if (refusal.sequence() == 0) session.asked = session.opened = false;
  session.sent = session.acked;
  for (size_t i = 0; i < next_; ++i) {
    const MessagePlace& place = job_->messages[i].place;
    if (place.session != recorded) continue;
    if (!session.asked || place.sequence > session.sent) {
      next_ = i;
      break;
    }
  }
  not_before_ = Clock::now() + std::chrono::milliseconds(std::max(
                                   kRetryLeastMs, refusal.retry_after_ms()));
}

void PlayedRelay::Ended(const grpc::Status& status) {
  std::lock_guard<std::mutex> lock(mutex_);
  stream_ = nullptr;
  writing_ = false;
  next_ = 0;
  not_before_ = Clock::now() + kPause;
  for (auto& [id, session] : sessions_) {
    session.asked = session.acked >= job_->last.at(id);  // over: not opened
    session.opened = false;
    session.sent = session.acked;
  }
  if (++job_->reconnects <= 3) {
    std::fprintf(stderr, "play_relays: a stream ended: %s\n",
                 status.error_message().c_str());
  }
}

}  // namespace nanwatch
