// The one door to real time. Pure folders never see it.

#ifndef NANWATCH_BASE_CLOCK_H_
#define NANWATCH_BASE_CLOCK_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace nanwatch {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time Now() = 0;  // any thread
  // Returns what has passed since some moment, whatever the clock is set to.
  // Any thread.
  virtual Duration Passed() = 0;
};

// The system's clock. Lives for ever.
Clock& SystemClock();

// A clock that a test moves. Thread-safe as far as a test needs: one mover.
class ManualClock : public Clock {
 public:
  explicit ManualClock(Time start) : now_(start) {}
  Time Now() override { return now_; }
  Duration Passed() override { return passed_; }
  // Time passes.
  void Advance(Duration d) {
    now_ += d;
    passed_ += d;
  }
  // The clock is set, and no time passes.
  void Set(Time t) { now_ = t; }

 private:
  Time now_;
  Duration passed_{};
};

// The wall clock as the pipeline sees it: it never falls. When the clock
// beneath is set back, this one goes on at 15/16 of its pace until the other
// has caught up, so that silence is still heard. One thread, but for ahead()
// and jumps().
class MonotonicClock : public Clock {
 public:
  // `clock` must outlive this.
  explicit MonotonicClock(Clock& clock) : clock_(clock) {}
  Time Now() override;
  Duration Passed() override { return clock_.Passed(); }
  // Never below `floor` from here on: set to the last event's time after
  // replay.
  void RaiseTo(Time floor);

  // A set of the clock beneath, once: where it would be, and what it was set
  // by.
  struct Jump {
    Time from{};
    Duration by{};  // negative: back
  };
  // Returns what the calls of Now() since the last call met.
  std::optional<Jump> TakeJump();

  // How far this is ahead of the clock beneath. Any thread.
  Duration ahead() const { return Duration(ahead_us_.load()); }
  // Times that the clock beneath was set. Any thread.
  uint64_t jumps() const { return jumps_.load(); }

 private:
  Clock& clock_;
  Time last_{};
  Time wall_{};  // of the clock beneath, when last looked at
  Duration passed_{};
  std::optional<Jump> jump_;
  std::atomic<int64_t> ahead_us_{0};
  std::atomic<uint64_t> jumps_{0};
};

}  // namespace nanwatch

#endif  // NANWATCH_BASE_CLOCK_H_
