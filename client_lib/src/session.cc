#include "client_lib/src/session.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include "client_lib/src/record.h"
#include "client_lib/src/sender_thread.h"
#include "client_lib/src/utf8.h"

namespace nanwatch_client {
namespace {

constexpr size_t kDefaultRingBytes = 4 << 20;
// What the sender may take beyond a deadline to leave.
constexpr auto kGrace = std::chrono::milliseconds(100);
// A daemon that owes an answer for so long is in trouble: it acknowledges in a
// fraction of that.
constexpr auto kSilence = std::chrono::seconds(1);

}  // namespace

// A push in progress. Two threads that push at once would tear the ring.
class Session::Turn {
 public:
  explicit Turn(std::atomic<bool>* pushing)
      : pushing_(*pushing),
        taken_(!pushing_.exchange(true, std::memory_order_acquire)) {}
  ~Turn() {
    if (taken_) pushing_.store(false, std::memory_order_release);
  }
  explicit operator bool() const { return taken_; }

 private:
  std::atomic<bool>& pushing_;
  const bool taken_;
};

Session::Session(const nanwatch_run_options& options)
    : shared_(std::make_shared<Shared>(
          options.ring_bytes == 0 ? kDefaultRingBytes : options.ring_bytes)) {
  thread_ = StartSender(shared_, MakeSenderOptions(options));
}

Session::~Session() {
  if (thread_.joinable()) Close(0, false);
}

void Session::Accept(bool urgent) {
  // One thread at a time is here: no read-modify-write needed.
  shared_->accepted.store(shared_->accepted.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
  shared_->ring.Commit();
  if (urgent && !shared_->urgent.load(std::memory_order_relaxed)) {
    shared_->urgent.store(true, std::memory_order_relaxed);
  }
}

void Session::Lose(uint64_t Lost::*count, int64_t step) {
  Lost one;
  one.*count = 1;
  one.first_step = one.last_step = step;
  shared_->gap.Add(one);
  shared_->lost.fetch_add(1, std::memory_order_relaxed);
}

void Session::Push(const nanwatch_step& step) {
  const Turn turn(&pushing_);
  char* room = turn ? shared_->ring.Reserve(FrameKind::kStep, RecordBytes(step))
                    : nullptr;
  if (room == nullptr) return Lose(&Lost::steps, step.step);
  CopyRecord(step, shared_->names.ops(), room);
  Accept(IsUrgent(step));
}

void Session::Push(const nanwatch_op_status& status) {
  if (status.op < 0) {
    if (shared_->names.full()) Lose(&Lost::ops, status.step);
    return;
  }
  const Turn turn(&pushing_);
  const bool known = static_cast<uint32_t>(status.op) < shared_->names.ops();
  char* room = turn && known
                   ? shared_->ring.Reserve(FrameKind::kOp, RecordBytes(status))
                   : nullptr;
  if (room == nullptr) return Lose(&Lost::ops, status.step);
  CopyRecord(status, room);
  Accept(IsUrgent(status));
}

int32_t Session::RegisterOp(const nanwatch_op& op) {
  std::string why;
  const int32_t index = shared_->names.AddOp(op, &why);
  if (index < 0) {
    std::lock_guard lock(shared_->mutex);
    shared_->mistake = std::move(why);
  }
  return index;
}

int32_t Session::RegisterOptimizer(const char* name) {
  return shared_->names.AddOptimizer(name);
}

bool Session::Poll(nanwatch_request* request) {
  return shared_->requests.Take(request);
}

bool Session::Flush(int timeout_ms) {
  const uint64_t target = shared_->accepted.load();
  const auto settled = [this, target] {
    return shared_->acked.load() + shared_->refused.load() >= target;
  };
  std::unique_lock lock(shared_->mutex);
  shared_->flush = true;
  shared_->changed.wait_for(lock,
                            std::chrono::milliseconds(std::max(0, timeout_ms)),
                            [&] { return settled() || shared_->ended; });
  return settled();
}

bool Session::Close(int timeout_ms, bool in_order) {
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::milliseconds(std::max(0, timeout_ms));
  std::unique_lock lock(shared_->mutex);
  shared_->ending = true;
  shared_->closing = in_order;
  shared_->deadline = deadline;
  const bool ended = shared_->changed.wait_until(
      lock, deadline + kGrace, [this] { return shared_->ended; });
  lock.unlock();
  // A sender that does not come out of gRPC keeps what it needs and is left.
  if (ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
  return shared_->acked.load() == shared_->accepted.load();
}

// The connection's before the caller's: nothing arrives without it.
std::string Session::TroubleLocked() const {
  if (!shared_->error.empty()) return shared_->error;
  if (!shared_->silent_since) return shared_->mistake;
  const auto silent = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::steady_clock::now() - *shared_->silent_since);
  if (silent < kSilence) return shared_->mistake;
  return "nanwatchd at " + shared_->address + " has not answered for " +
         std::to_string(silent.count()) + " s; is it hung?";
}

void Session::GetStats(nanwatch_stats* stats) const {
  const uint64_t lost = shared_->lost.load();
  stats->refused = shared_->refused.load();
  stats->dropped = lost + stats->refused;
  stats->pushed = shared_->accepted.load() + lost;
  stats->sent = shared_->sent.load();
  stats->acked = shared_->acked.load();
  stats->not_durable = shared_->not_durable.load();
  stats->reconnects = shared_->reconnects.load();
  std::lock_guard lock(shared_->mutex);
  stats->connected = shared_->connected ? 1 : 0;
  stats->attempt = shared_->attempt;
  const auto copy = [](const std::string& text, char* to, size_t bytes) {
    const std::string clean = CleanUtf8(text, bytes - 1);
    memcpy(to, clean.c_str(), clean.size() + 1);
  };
  copy(shared_->run_id, stats->run_id, sizeof stats->run_id);
  copy(TroubleLocked(), stats->error, sizeof stats->error);
}

}  // namespace nanwatch_client
