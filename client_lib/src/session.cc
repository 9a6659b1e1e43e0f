#include "client_lib/src/session.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <new>
#include <string>

#include "client_lib/src/enum_number.h"
#include "client_lib/src/utf8.h"

namespace nanwatch_client {
namespace {

constexpr size_t kDefaultRingBytes = 4 << 20;
constexpr size_t kLayerScales = 4096;
// The daemon's limits (daemon/model/limits.h).
constexpr size_t kOpsPerSession = 65536;
constexpr size_t kShapeDims = 16;
constexpr size_t kOptimizers = 7;
// What the sender may take beyond a deadline to leave.
constexpr auto kGrace = std::chrono::milliseconds(100);

// The kernel's tick, 1 to 10 ms: 5 ns, and never a system call, which the exact
// clock is on machines without a stable TSC.
int64_t CoarseNowUs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

bool IsUrgent(const nanwatch_step& step) {
  const auto bad = [&step](uint32_t bit, double value) {
    return (step.present & bit) != 0 && !std::isfinite(value);
  };
  return ((step.present & NANWATCH_STEP_OVERFLOW) != 0 && step.overflow != 0) ||
         bad(NANWATCH_STEP_LOSS, step.loss) ||
         bad(NANWATCH_STEP_GRAD_NORM, step.grad_norm);
}

bool IsUrgent(const nanwatch_op_status& status) {
  const auto some = [&status](uint32_t bit, uint64_t count) {
    return (status.present & bit) != 0 && count != 0;
  };
  return some(NANWATCH_OP_NAN, status.nan) ||
         some(NANWATCH_OP_POS_INF, status.pos_inf) ||
         some(NANWATCH_OP_NEG_INF, status.neg_inf);
}

// Bytes of the counts that lie in the ring: not the whole fixed array.
size_t ExponentBytes(const nanwatch_exponents* exponents) {
  if (exponents == nullptr) return 0;
  const size_t size = std::min<size_t>(exponents->size, NANWATCH_EXPONENT_BINS);
  return offsetof(nanwatch_exponents, counts) + size * sizeof(uint64_t);
}

// A thread of a library takes no signal of the program.
std::thread StartSender(std::shared_ptr<Shared> shared, SenderOptions options) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto run = [](std::shared_ptr<Shared> s, SenderOptions o) {
    pthread_setname_np(pthread_self(), "nanwatch");
    try {
      Sender(s, std::move(o)).Run();
    } catch (...) {
      // Out of memory, most likely: the session is silent from here on.
    }
    std::lock_guard lock(s->mutex);
    s->ended = true;
    s->connected = false;
    s->changed.notify_all();
  };
  std::thread thread;
  try {
    thread = std::thread(run, std::move(shared), std::move(options));
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

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
  const size_t scales = step.layer_scales == nullptr
                            ? 0
                            : std::min(step.layer_scales_count, kLayerScales);
  char* room = turn ? shared_->ring.Reserve(
                          FrameKind::kStep,
                          sizeof step + scales * sizeof(nanwatch_layer_scale))
                    : nullptr;
  if (room == nullptr) return Lose(&Lost::steps, step.step);
  CopyStep(step, room);
  Accept(IsUrgent(step));
}

void Session::CopyStep(const nanwatch_step& step, char* room) {
  auto* copy = new (room) nanwatch_step(step);
  if (copy->time_us == 0) copy->time_us = CoarseNowUs();
  auto* scales =
      reinterpret_cast<nanwatch_layer_scale*>(room + sizeof(nanwatch_step));
  const uint32_t ops = shared_->ops.load(std::memory_order_relaxed);
  const size_t given = step.layer_scales == nullptr
                           ? 0
                           : std::min(step.layer_scales_count, kLayerScales);
  copy->layer_scales = scales;
  copy->layer_scales_count = 0;
  for (size_t i = 0; i < given; ++i) {
    // One unknown op would have the whole batch refused.
    if (static_cast<uint32_t>(step.layer_scales[i].op) >= ops) continue;
    scales[copy->layer_scales_count++] = step.layer_scales[i];
  }
}

void Session::Push(const nanwatch_op_status& status) {
  if (status.op < 0) return;
  const Turn turn(&pushing_);
  const bool known = static_cast<uint32_t>(status.op) <
                     shared_->ops.load(std::memory_order_relaxed);
  char* room =
      turn && known
          ? shared_->ring.Reserve(
                FrameKind::kOp, sizeof status + ExponentBytes(status.exponents))
          : nullptr;
  if (room == nullptr) return Lose(&Lost::ops, status.step);
  CopyOp(status, room);
  Accept(IsUrgent(status));
}

void Session::CopyOp(const nanwatch_op_status& status, char* room) {
  auto* copy = new (room) nanwatch_op_status(status);
  if (copy->time_us == 0) copy->time_us = CoarseNowUs();
  const size_t bytes = ExponentBytes(status.exponents);
  if (bytes == 0) return;
  char* exponents = room + sizeof status;
  memcpy(exponents, status.exponents, bytes);
  copy->exponents = reinterpret_cast<nanwatch_exponents*>(exponents);
  copy->exponents->size =
      std::min<uint32_t>(copy->exponents->size, NANWATCH_EXPONENT_BINS);
}

int32_t Session::RegisterOp(const nanwatch_op& op) {
  nanwatch::v1::OpName name;
  name.set_name(CleanUtf8(op.name));
  if (name.name().empty() || op.logical_dims > kShapeDims ||
      op.storage_dims > kShapeDims) {
    return -1;
  }
  name.set_type(CleanUtf8(op.type));
  name.set_data_format(CleanUtf8(op.data_format));
  if (const int dtype = EnumNumber(op.dtype);
      nanwatch::v1::Dtype_IsValid(dtype)) {
    name.set_dtype(static_cast<nanwatch::v1::Dtype>(dtype));
  }
  const auto copy = [](const int64_t* shape, size_t dims, auto* to) {
    if (shape != nullptr) to->Add(shape, shape + dims);
    return std::all_of(to->begin(), to->end(), [](auto d) { return d >= 0; });
  };
  if (!copy(op.logical_shape, op.logical_dims, name.mutable_logical_shape()) ||
      !copy(op.storage_shape, op.storage_dims, name.mutable_storage_shape())) {
    return -1;
  }
  if (op.order >= 0) name.set_order(op.order);
  std::lock_guard lock(shared_->mutex);
  if (shared_->op_names.size() >= kOpsPerSession) return -1;
  shared_->op_names.push_back(std::move(name));
  const auto ops = static_cast<uint32_t>(shared_->op_names.size());
  shared_->ops.store(ops, std::memory_order_release);
  shared_->named.fetch_add(1, std::memory_order_release);
  return static_cast<int32_t>(ops - 1);
}

int32_t Session::RegisterOptimizer(const char* name) {
  std::string clean = CleanUtf8(name);
  if (clean.empty()) return 0;
  std::lock_guard lock(shared_->mutex);
  auto& all = shared_->optimizers;
  auto at = std::find(all.begin(), all.end(), clean);
  if (at == all.end()) {
    if (all.size() >= kOptimizers) return 0;
    at = all.insert(at, std::move(clean));
    shared_->named.fetch_add(1, std::memory_order_release);
  }
  return static_cast<int32_t>(at - all.begin()) + 1;
}

bool Session::Poll(nanwatch_request* request) {
  if (shared_->waiting_requests.load(std::memory_order_acquire) == 0) {
    return false;
  }
  std::lock_guard lock(shared_->mutex);
  if (shared_->requests.empty()) return false;
  *request = shared_->requests.front();
  shared_->requests.pop_front();
  shared_->waiting_requests.store(
      static_cast<uint32_t>(shared_->requests.size()),
      std::memory_order_release);
  return true;
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

void Session::GetStats(nanwatch_stats* stats) const {
  const uint64_t lost = shared_->lost.load();
  stats->refused = shared_->refused.load();
  stats->dropped = lost + stats->refused;
  stats->pushed = shared_->accepted.load() + lost;
  stats->sent = shared_->sent.load();
  stats->acked = shared_->acked.load();
  stats->reconnects = shared_->reconnects.load();
  std::lock_guard lock(shared_->mutex);
  stats->connected = shared_->connected ? 1 : 0;
  stats->attempt = shared_->attempt;
  const auto copy = [](const std::string& text, char* to, size_t bytes) {
    const std::string clean = CleanUtf8(text, bytes - 1);
    memcpy(to, clean.c_str(), clean.size() + 1);
  };
  copy(shared_->run_id, stats->run_id, sizeof stats->run_id);
  copy(shared_->error, stats->error, sizeof stats->error);
}

}  // namespace nanwatch_client
