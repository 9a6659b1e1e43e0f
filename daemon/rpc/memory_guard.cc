#include "rpc/memory_guard.h"

#include <chrono>
#include <ctime>
#include <optional>
#include <utility>

#include "base/resident.h"

namespace nanwatch {
namespace {

using std::chrono::milliseconds;

// 40 MB come in a look, as far as the attacks that were tried. Ours.
constexpr milliseconds kLookAtMemory{100};
constexpr milliseconds kLookWhereMuchIs{20};
// From a quarter of the bound on, so much more in so long is a flood, too: what
// is parsed and waits is 128 MB at most, and comes once. Over TLS gRPC 1.51
// takes calls in at 300 MB/s, and those that wait by then come in spite of the
// cut; of a header half as much again comes after it. So long by the clock and
// of the daemon's own time, as a busy machine gives it little of a second; but
// not longer than the last. Ours.
constexpr size_t kRise = 160 << 20;
constexpr milliseconds kWindow{1000};
constexpr milliseconds kWindowMost{20000};
// Until gRPC gave back what a connection that ended had: most of it, and what
// it frees late on a busy machine. Ours.
constexpr milliseconds kGiveBack{50};
constexpr milliseconds kGiveBackLate{1000};

std::chrono::nanoseconds OwnTime() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) +
         std::chrono::nanoseconds(spent.tv_nsec);
}

}  // namespace

MemoryGuard::MemoryGuard(size_t most, std::function<size_t()> cut,
                         std::function<void()> look)
    : most_(most),
      cut_(std::move(cut)),
      look_(std::move(look)),
      thread_([this] { Loop(); }) {}

MemoryGuard::~MemoryGuard() {
  {
    MutexLock lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_one();
  thread_.join();
}

bool MemoryGuard::Sleep(milliseconds time)
    NANWATCH_TS(no_thread_safety_analysis) {
  std::unique_lock<std::mutex> lock(mutex_.native());
  over_changed_.wait_for(lock, time, [this] { return over_; });
  return !over_;
}

void MemoryGuard::Loop() {
  milliseconds look = kLookAtMemory;
  auto since = std::chrono::steady_clock::now();
  std::chrono::nanoseconds spent = OwnTime();
  size_t before = ResidentBytes();
  // When what the newest cut freed late is to be given back.
  std::optional<std::chrono::steady_clock::time_point> late;
  while (Sleep(look)) {
    look_();
    if (late && std::chrono::steady_clock::now() >= *late) {
      late.reset();
      GiveBackFreeMemory();
    }
    const size_t resident = ResidentBytes();
    const bool rises = 4 * resident > most_ && resident > before + kRise;
    const auto now = std::chrono::steady_clock::now();
    const auto long_enough =
        OwnTime() - spent >= kWindow ? kWindow : kWindowMost;
    if (now - since >= long_enough || resident < before) {
      since = now;
      spent = OwnTime();
      before = resident;
    }
    look = 2 * resident > most_ ? kLookWhereMuchIs : kLookAtMemory;
    if ((resident <= most_ && !rises) || cut_() == 0) continue;
    late = now + kGiveBackLate;
    if (!Sleep(kGiveBack)) return;
    // Else nobody sees that it is free, and more would be cut.
    GiveBackFreeMemory();
  }
}

}  // namespace nanwatch
