#include "rpc/ingest_stream.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "model/limits.h"
#include "rpc/message_bytes.h"
#include "wire/message_weight.h"
#include "wire/scratch_arena.h"
#include "wire/session_name.h"

namespace nanwatch {
namespace {

using std::chrono::milliseconds;

// Beside the records, since it is for people: proto/CHANGES.md.
constexpr const char* kPageKey = "nanwatch-page";
constexpr Duration kRetryAfter = milliseconds(200);
// How long a stream is not read that presses: as long as it takes to judge what
// all that press brought, at 50 MB/s. Where many do, they are woken 10,000
// times a second in all. Ours.
constexpr Duration kShortPause = milliseconds(5);
constexpr Duration kPauseOfEach = std::chrono::microseconds(100);
constexpr size_t kBytesPerMicrosecond = 50;
// How long it waits for room before it reads all the same: then what does not
// fit is refused, and its client knows. Where a job of 10,000 ranks begins, its
// names take the pipeline some seconds, and what is refused comes again, whole
// sessions of it. Ours.
constexpr Duration kPatience = std::chrono::seconds(2);
// A client that left is noticed after it. Ours.
constexpr Duration kLongPause = std::chrono::minutes(1);

void Rename(SessionId name, ClientMessage* message) {
  message->session = name;
  auto* open = std::get_if<OpenSessionMessage>(&message->body);
  if (open != nullptr) open->session = name;
}

}  // namespace

IngestStream::IngestStream(IngestStreams& streams,
                           grpc::CallbackServerContext* context)
    : streams_(streams),
      context_(context),
      port_(std::make_shared<StreamPort>(this, &streams.stats, &streams.replies,
                                         streams.daemon)),
      edition_(streams.callers.edition()),
      identity_(streams.callers.Identify(*context)),
      caller_(streams.callers.Of(identity_)),
      user_(streams.users.Of(caller_.name)),
      peer_(context->peer()) {
  // It brings nothing, and its end may be far behind all that came.
  if (!identity_.refused.empty()) {
    streams_.empty.Count(peer_, streams_.clock.Passed());
  }
  if (streams_.empty.Floods(peer_, streams_.clock.Passed())) {
    streams_.stats.CountLimit("connections");
    streams_.cut(identity_.uid ? peer_ : identity_.from);
  }
  streams_.stats.streams.fetch_add(1, std::memory_order_relaxed);
  streams_.stats.streams_opened.fetch_add(1, std::memory_order_relaxed);
  if (!identity_.refused.empty()) {
    port_->EndWhenWritten(
        {grpc::StatusCode::UNAUTHENTICATED, identity_.refused});
    return;
  }
  if (grpc::Status joined = Join(); !joined.ok()) {
    port_->EndWhenWritten(joined);
    return;
  }
  if (!streams_.page.empty()) {
    context_->AddInitialMetadata(kPageKey, streams_.page);
  }
  StartRead(&read_);
}

grpc::Status IngestStream::Join() {
  const auto refuse = [&](const char* limit, std::string why) -> grpc::Status {
    streams_.stats.CountLimit(limit);
    if (streams_.audit) {
      AuditEntry entry = EntryOf(AuditKind::kRefusal, caller_);
      entry.what = why;
      streams_.audit(std::move(entry));
    }
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, std::move(why)};
  };
  if (!user_->OpenStream()) {
    return refuse(
        "user_streams",
        fmt::format("{} has {} streams open, as much as is allowed "
                    "(quotas.streams): carry several ranks on one "
                    "stream, or close some",
                    QuotaHolder(user_->name()), user_->quotas().streams));
  }
  if (!streams_.Add(port_)) {
    user_->CloseStream();
    return refuse("streams",
                  fmt::format("{} streams are open, no more are taken; "
                              "carry several ranks on one stream",
                              limits::kStreams));
  }
  joined_ = true;
  return grpc::Status::OK;
}

void IngestStream::OnReadDone(bool ok) {
  if (!ok) {
    port_->EndWhenWritten(grpc::Status::OK);
    return;
  }
  if (!StillIn()) return;
  Take(read_);
  streams_.CutWhoDoesNotRead();
  read_.Clear();
  if (!ended_) ReadOn();
}

void IngestStream::ReadOn() {
  if (owed_ <= Duration(0) && pressing_ <= Duration(0)) {
    return StartRead(&read_);
  }
  if (owed_ > Duration(0)) streams_.stats.CountLimit("user_bytes");
  patience_ = pressing_ > Duration(0) ? kPatience : Duration(0);
  Pause(owed_);
}

void IngestStream::Pause(Duration least) {
  const int64_t paused = ++*streams_.paused;
  const Duration of_all = std::max(kPauseOfEach, pressing_) * paused;
  const Duration pause =
      std::min(std::max({least, kShortPause, of_all}), kLongPause);
  owed_ = Duration(0);
  pressing_ = Duration(0);
  patience_ -= pause;
  // A new one: it may be set while the one before still runs.
  pause_ = std::make_unique<grpc::Alarm>();
  // Through the port: the stream may be over by then.
  pause_->Set(std::chrono::system_clock::now() + pause,
              [port = port_, paused = streams_.paused](bool) {
                --*paused;
                port->ReadOn();
              });
}

void IngestStream::OnWriteDone(bool ok) { port_->Written(ok); }

void IngestStream::OnDone() {
  port_->Detach();
  if (!brought_ && joined_) {
    streams_.empty.Count(peer_, streams_.clock.Passed());
  }
  streams_.Remove(port_);
  streams_.stats.streams.fetch_sub(1, std::memory_order_relaxed);
  if (joined_) {
    user_->CloseStream();
    Arrival arrival;
    arrival.port = port_;
    arrival.user = user_->number();
    arrival.ended = true;
    streams_.sink.Offer(std::move(arrival), 0);
  }
  delete this;
}

void IngestStream::Write(const v1::IngestResponse& response) {
  bool own = false;
  written_.Clear();
  grpc::SerializationTraits<v1::IngestResponse>::Serialize(response, &written_,
                                                           &own);
  StartWrite(&written_);
}

void IngestStream::Read() {
  if (patience_ > Duration(0) && streams_.sink.Presses(user_->number())) {
    return Pause(Duration(0));
  }
  StartRead(&read_);
}

void IngestStream::Finish(const grpc::Status& status) {
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>::Finish(status);
}

void IngestStream::Cancel() { context_->TryCancel(); }

void IngestStream::Take(grpc::ByteBuffer& bytes) {
  const size_t size = bytes.Length();
  RpcStats& stats = streams_.stats;
  stats.messages.fetch_add(1, std::memory_order_relaxed);
  stats.bytes.fetch_add(size, std::memory_order_relaxed);
  ScratchArena arena;
  auto* request = arena.Create<v1::IngestRequest>();
  brought_ = true;
  owed_ = user_->Spend(streams_.clock.Passed(), size);
  if (size > limits::kMessageBytes) {
    ParseBeginning(bytes, request);
    Session* session = FindSession(*request);
    if (session != nullptr) TakeParsed(session, ParseOversized(*request, size));
    return;
  }
  if (ParseWhole(&bytes, request)) return TakeMessage(*request);
  Parsed parsed = ParseMalformed(*request, size);
  const auto known = sessions_.find(parsed.message.session);
  TakeParsed(known == sessions_.end() ? nullptr : &known->second,
             std::move(parsed));
}

void IngestStream::TakeMessage(const v1::IngestRequest& request) {
  if (request.has_told()) {
    // What people hear is nobody else's to say.
    if (!streams_.callers.MayRelay(identity_)) return;
    return TakeParsed(nullptr, Parse(request, nullptr));
  }
  Session* session = FindSession(request);
  if (session == nullptr) return;
  if (request.open().has_relayed() && !SpeakFor(request.open(), session)) {
    return;
  }
  TakeParsed(session,
             Parse(request, &session->shapes, session->relayed.has_value()));
}

void IngestStream::TakeParsed(Session* session, Parsed parsed) {
  const ClientMessage& message = parsed.message;
  const Sequence sequence = message.sequence;
  if (session != nullptr && session->busy_from != 0 && sequence != 0) {
    if (sequence > session->busy_from) {
      streams_.stats.passed_over.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    if (sequence == session->busy_from) session->busy_from = 0;
  }
  const bool opens = std::holds_alternative<OpenSessionMessage>(message.body);
  const bool closes = std::holds_alternative<CloseMessage>(message.body);
  if (parsed.refused && (session == nullptr || sequence == 0)) {
    port_->Refuse(message.session, sequence, *parsed.refused, Duration(0));
    if (session != nullptr) session->closed = true;
    return;
  }
  Arrival arrival;
  arrival.port = port_;
  arrival.user = user_->number();
  arrival.message = std::move(parsed.message);
  arrival.message.caller = caller_;
  if (session != nullptr && session->relayed) {
    arrival.message.caller = *session->relayed;
  }
  if (session != nullptr) Rename(session->name, &arrival.message);
  if (auto* open = std::get_if<OpenSessionMessage>(&arrival.message.body)) {
    open->run.owner = arrival.message.caller.name;
  }
  const size_t weight = WeightOf(arrival.message);
  const Offered offered = streams_.stopping.load(std::memory_order_relaxed)
                              ? Offered::kFull
                              : streams_.sink.Offer(std::move(arrival), weight);
  if (offered != Offered::kTaken) {
    pressing_ =
        Duration(1 + static_cast<int64_t>(weight / kBytesPerMicrosecond));
  }
  if (offered == Offered::kFull) {
    // What was not taken was not moved either.
    parsed.message =
        std::move(arrival.message);  // NOLINT(bugprone-use-after-move)
    return RefuseForNow(parsed, session);
  }
  // After the Dropped in its place is taken, so that it is said once.
  if (parsed.refused) {
    port_->Refuse(arrival.message.session, sequence, *parsed.refused,
                  Duration(0));
  }
  if (opens) session->closed = false;
  if (closes) {
    session->closed = true;
    session->shapes.Clear();
  }
}

bool IngestStream::SpeakFor(const v1::OpenSession& open, Session* session) {
  const std::string& owner = open.run().owner();
  const bool nobody_asked = caller_.name.empty();
  std::string why;
  if (!nobody_asked && !streams_.callers.MayRelay(identity_)) {
    why = caller_.name + " may not relay: add it to access.relays";
  } else if (owner.size() > limits::kNameBytes) {
    why = "run.owner is longer than 512 bytes";
  }
  if (!why.empty()) {
    if (streams_.audit) {
      AuditEntry entry = EntryOf(AuditKind::kRefusal, caller_);
      entry.what = why;
      streams_.audit(std::move(entry));
    }
    // Of all that it brings: it keeps that until it may.
    port_->EndWhenWritten({grpc::StatusCode::PERMISSION_DENIED, why});
    ended_ = true;
    return false;
  }
  // Never with the relay's own rights.
  Caller& caller = session->relayed.emplace();
  caller.from = nobody_asked ? caller_.from
                             : "relay " + caller_.name + ", " + caller_.from;
  if (!nobody_asked) caller.name = caller.number = owner;
  return true;
}

bool IngestStream::StillIn() {
  const uint64_t edition = streams_.callers.edition();
  if (edition == edition_) return true;
  edition_ = edition;
  caller_ = streams_.callers.Of(identity_);
  const bool relays =
      caller_.name.empty() || streams_.callers.MayRelay(identity_);
  if (!relays && std::any_of(sessions_.begin(), sessions_.end(), [](auto& one) {
        return one.second.relayed.has_value();
      })) {
    port_->EndWhenWritten(
        {grpc::StatusCode::PERMISSION_DENIED,
         caller_.name + " may not relay any more: see access.relays"});
    return false;
  }
  if (streams_.callers.StillIn(peer_, &identity_)) return true;
  port_->EndWhenWritten({grpc::StatusCode::UNAUTHENTICATED, identity_.refused});
  return false;
}

IngestStream::Session* IngestStream::FindSession(
    const v1::IngestRequest& request) {
  const SessionId id = SessionOf(request);
  if (request.has_open() && id != 0) {
    if (!sessions_.contains(id) && !MakeRoom()) {
      port_->Refuse(id, 0,
                    {RefusalReason::kLimit,
                     fmt::format("{} sessions are open on this stream, no more "
                                 "are taken; open another stream",
                                 limits::kSessionsPerStream),
                     0, "sessions_per_stream"},
                    Duration(0));
      return nullptr;
    }
    sessions_.erase(id);
    Session& session =
        sessions_.try_emplace(id, &streams_.shapes).first->second;
    session.name = SessionName(id);
    port_->Know(session.name, id);
    return &session;
  }
  const auto known = sessions_.find(id);
  if (known != sessions_.end()) return &known->second;
  Parsed parsed = Parse(request, nullptr);
  RefusedMessage refused;
  refused.reason = RefusalReason::kUnknownSession;
  refused.message = fmt::format(
      "session {:x} is not open on this stream; send "
      "OpenSession first",
      id);
  if (id == 0 && parsed.refused) refused = *parsed.refused;
  port_->Refuse(id, parsed.message.sequence, refused, Duration(0));
  return nullptr;
}

bool IngestStream::MakeRoom() {
  if (sessions_.size() < limits::kSessionsPerStream) return true;
  std::erase_if(sessions_, [&](const auto& one) {
    if (one.second.closed) port_->Forget(one.second.name);
    return one.second.closed;
  });
  return sessions_.size() < limits::kSessionsPerStream;
}

void IngestStream::RefuseForNow(const Parsed& parsed, Session* session) {
  const ClientMessage& message = parsed.message;
  RefusedMessage refused;
  if (streams_.stopping.load(std::memory_order_relaxed)) {
    refused.reason = RefusalReason::kShuttingDown;
    refused.message = "nanwatchd is shutting down; come again in a moment";
  } else {
    refused.reason = RefusalReason::kBusy;
    refused.message = fmt::format(
        "nanwatchd is behind, and much of {} waits; send again, beginning with "
        "sequence {}",
        QuotaHolder(user_->name()), message.sequence);
    refused.limit = "mailbox";
  }
  refused.expected_sequence = message.sequence;
  if (session != nullptr) session->busy_from = message.sequence;
  port_->Refuse(message.session, message.sequence, refused, kRetryAfter);
}

}  // namespace nanwatch
