#include "relay/relay.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "history/reader.h"
#include "model/metric_names.h"

namespace nanwatch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A turn that has nothing to do: a step is forwarded this late at most. Ours.
constexpr Duration kTurn = milliseconds(20);
// What is read and not acknowledged: 40 ms of a line of 100 MB/s. Ours.
constexpr size_t kWindowBytes = 4 << 20;
constexpr Duration kSaveEvery = seconds(1);
// As the clients: to connect and be answered, and of an upstream that reads and
// acknowledges nothing.
constexpr Duration kStartTimeout = seconds(5);
constexpr Duration kAckTimeout = seconds(30);
constexpr Duration kArriveAfter = seconds(1);

}  // namespace

Relay::Relay(RelayOptions options, RelaySeam seam, Clock& clock)
    : options_(std::move(options)),
      seam_(std::move(seam)),
      state_path_(seam_.history_path + ".relay"),
      clock_(clock) {
  Load();
  good_ = clock_.Now();
}

void Relay::Start() {
  thread_ = std::thread([this] {
    while (!stop_) RunOnce(kTurn);
  });
}

void Relay::Finish(Duration most) {
  const Time until = clock_.Now() + most;
  while (figures_.connected && figures_.through < seam_.committed() &&
         clock_.Now() < until) {
    std::this_thread::sleep_for(kTurn);
  }
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

Relay::~Relay() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  upstream_.reset();
  DropDone();
  Save(clock_.Now());
}

void Relay::RunOnce(Duration wait) {
  const Time now = clock_.Now();
  ReadHistory();
  if (upstream_ == nullptr && now >= not_before_) Connect(now);
  while (started_ && !writing_ && now >= not_before_ && SendNext(now)) {
  }
  DropDone();
  if (upstream_ == nullptr) {
    std::this_thread::sleep_for(wait);
  } else {
    v1::IngestResponse response;
    switch (upstream_->Wait(wait, &response)) {
      case Upstream::Happened::kNothing:
        break;
      case Upstream::Happened::kStarted:
        started_ = true;
        heard_ = begun_ = now;
        break;
      case Upstream::Happened::kWritten:
        writing_ = false;
        break;
      case Upstream::Happened::kResponse:
        Take(response, clock_.Now());
        DropDone();
        break;
      case Upstream::Happened::kEnded:
        Disconnect(upstream_->error(), now);
        break;
    }
  }
  LookAfter(clock_.Now());
}

// ------------------------------------------------------------------ its file

void Relay::Load() {
  const v1::RelayState state = ReadRelayState(state_path_);
  key_ = state.key();
  // A history that was begun anew counts from 1 again.
  read_ = state.through() > seam_.committed() ? 0 : state.through();
  figures_.through = read_;
  for (const v1::RelayState::Session& from : state.sessions()) {
    Session& session = sessions_[from.name()];
    session.open = from.open();
    session.acked = session.sent = from.open().acked_sequence();
    session.run = {from.open().run().run_id(), from.attempt()};
    session.started = true;
    session.lost = from.lost();
    by_upstream_[session.open.session()] = from.name();
    messages_.Know(from.name(), session.run, session.open.run());
  }
  save_now_ = state.sessions_size() == 0 && state.through() == 0;
}

void Relay::Save(Time now) {
  v1::RelayState state;
  state.set_key(key_);
  state.set_through(figures_.through);
  for (const auto& [name, session] : sessions_) {
    if (!session.started) continue;
    v1::RelayState::Session* to = state.add_sessions();
    to->set_name(name);
    to->set_attempt(session.run.attempt);
    *to->mutable_open() = session.open;
    to->mutable_open()->set_acked_sequence(session.acked);
    to->set_lost(session.lost);
  }
  saved_ = now;
  const Status written = WriteRelayState(state_path_, state);
  unsaved_ = save_now_ = !written.ok();
  if (written.ok() || !MayLog(now)) return;
  LogError("what is held upstream cannot be noted", written.error());
}

// -------------------------------------------------------------- from history

void Relay::ReadHistory() {
  if (queue_bytes_ >= kWindowBytes) return;
  const uint64_t committed = seam_.committed();
  if (committed <= read_) return;
  auto reader = HistoryReader::Open(seam_.history_path);
  if (!reader.ok()) return;
  const size_t before = queue_.size();
  const Status status =
      (*reader)->ForEachEvent(read_, std::nullopt, [&](const StampedEvent& e) {
        if (e.id > committed) return false;
        const size_t known = queue_.size();
        messages_.Take(e, &queue_);
        if (queue_.size() > known) queue_bytes_ += queue_.back().bytes;
        read_ = e.id;
        return queue_bytes_ < kWindowBytes;
      });
  // What was never stored, and what is damaged, is passed over: sessions have
  // gaps there.
  if (status.ok() && queue_bytes_ < kWindowBytes) read_ = committed;
  if (queue_.size() == before) DropDone();
}

// ------------------------------------------------------------ the connection

void Relay::Connect(Time now) {
  upstream_ = std::make_unique<Upstream>(options_);
  started_ = writing_ = said_told_ = false;
  heard_ = now;
  next_ = 0;
  to_open_.clear();
  for (auto& [name, session] : sessions_) {
    session.asked = session.opened = session.refused = false;
    session.sent = session.acked;
    if (session.started && !session.lost) to_open_.push_back(name);
  }
}

void Relay::Disconnect(const std::string& why, Time now) {
  upstream_.reset();
  started_ = writing_ = false;
  not_before_ = std::max(not_before_, now + backoff_.Next(random_()));
  if (!away_) {
    figures_.reconnects.fetch_add(1);
    LogWarning("the upstream is away: judging alone, and keeping all for it",
               fmt::format("upstream={} {}", options_.address, why));
  } else if (MayLog(now)) {
    LogWarning("the upstream cannot be reached",
               fmt::format("upstream={} {}", options_.address, why));
  }
  away_ = true;
  figures_.connected = false;
}

void Relay::Arrive() {
  if (!std::exchange(away_, false)) return;
  figures_.connected = true;
  LogInfo("the upstream is there", "upstream=" + options_.address);
}

void Relay::LookAfter(Time now) {
  // Who has nothing to ask gets no answer; who is not let in hears it at once.
  if (started_ && now - begun_ >= kArriveAfter) Arrive();
  const bool waits =
      upstream_ != nullptr && (!started_ || !to_open_.empty() || next_ != 0);
  if (!waits) heard_ = now;
  if (waits && now - heard_ >= (started_ ? kAckTimeout : kStartTimeout)) {
    Disconnect(
        started_ ? "no acknowledgement within 30 s" : "no answer within 5 s",
        now);
  }
  if (!away_ && queue_.empty()) good_ = now;
  const bool alone = now - good_ > options_.notify_after;
  if (alone != alone_) {
    alone_ = alone;
    seam_.alone(alone);
  }
  if (save_now_ || (unsaved_ && now - saved_ >= kSaveEvery)) Save(now);
}

// ---------------------------------------------------------- what is held there

void Relay::DropDone() {
  while (!queue_.empty()) {
    const Forward& out = queue_.front();
    const Session* session = Find(out.session);
    const bool held = out.kind == Forward::Kind::kMessage &&
                      session != nullptr && out.sequence <= session->acked;
    if (!out.done && !held) break;
    Finish(out);
    queue_bytes_ -= out.bytes;
    queue_.pop_front();
    if (next_ > 0) --next_;
  }
  uint64_t first = read_ + 1;
  if (messages_.unfinished() != 0) first = messages_.unfinished();
  if (!queue_.empty()) first = std::min(first, queue_.front().first_id);
  if (figures_.through != first - 1) unsaved_ = true;
  figures_.through = first - 1;
  figures_.oldest_us = queue_.empty() ? 0 : ToMicros(queue_.front().now);
}

void Relay::Finish(const Forward& out) {
  if (out.kind == Forward::Kind::kRunOver) {
    save_now_ = std::erase_if(sessions_,
                              [&](const auto& one) {
                                const bool over = one.second.lost &&
                                                  one.second.run == out.run;
                                if (over)
                                  by_upstream_.erase(one.second.open.session());
                                return over;
                              }) > 0 ||
                save_now_;
    return;
  }
  if (!out.request.has_close()) return;
  const auto session = sessions_.find(out.session);
  if (session == sessions_.end()) return;
  by_upstream_.erase(session->second.open.session());
  sessions_.erase(session);
  save_now_ = true;
}

bool Relay::MayLog(Time now) {
  int64_t suppressed = 0;
  return throttle_.Allow(now, &suppressed);
}

Relay::Session* Relay::Find(SessionId name) {
  const auto found = sessions_.find(name);
  return found == sessions_.end() ? nullptr : &found->second;
}

Relay::Session* Relay::FindUpstream(SessionId id, SessionId* name) {
  const auto found = by_upstream_.find(id);
  if (found == by_upstream_.end()) return nullptr;
  *name = found->second;
  return Find(*name);
}

void Relay::AppendSamples(std::vector<SelfSample>* samples) const {
  const auto add = [&](Metric metric, double value) {
    samples->push_back({Name(metric), {}, value});
  };
  const uint64_t committed = seam_.committed();
  const uint64_t through = figures_.through;
  const int64_t oldest = figures_.oldest_us;
  add(Metric::kRelayConnected, figures_.connected ? 1 : 0);
  add(Metric::kRelayLagEvents,
      committed > through ? static_cast<double>(committed - through) : 0);
  add(Metric::kRelayLagSeconds,
      oldest == 0 ? 0 : ToSeconds(clock_.Now() - FromMicros(oldest)));
  add(Metric::kRelayMessages, static_cast<double>(figures_.messages));
  add(Metric::kRelayBytes, static_cast<double>(figures_.bytes));
  add(Metric::kRelayRefused, static_cast<double>(figures_.refused));
  add(Metric::kRelayMissing, static_cast<double>(figures_.missing));
  add(Metric::kRelayReconnects, static_cast<double>(figures_.reconnects));
}

}  // namespace nanwatch
