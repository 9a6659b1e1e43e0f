// The one door to real time. Pure folders never see it.

#ifndef NANWATCH_BASE_CLOCK_H_
#define NANWATCH_BASE_CLOCK_H_

#include "base/time.h"

namespace nanwatch {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time Now() = 0;  // any thread
};

// The system's clock. Lives for ever.
Clock& SystemClock();

// A clock that a test moves. Thread-safe as far as a test needs: one mover.
class ManualClock : public Clock {
 public:
  explicit ManualClock(Time start) : now_(start) {}
  Time Now() override { return now_; }
  void Advance(Duration d) { now_ += d; }
  void Set(Time t) { now_ = t; }

 private:
  Time now_;
};

// Holds still when the clock beneath jumps back, so that `now` never falls.
// One thread: the pipeline's.
class MonotonicClock : public Clock {
 public:
  // `clock` must outlive this.
  explicit MonotonicClock(Clock& clock) : clock_(clock) {}
  Time Now() override;
  // Never below `floor` from here on: set to the last event's time after
  // replay.
  void RaiseTo(Time floor);

 private:
  Clock& clock_;
  Time last_{};
};

}  // namespace nanwatch

#endif  // NANWATCH_BASE_CLOCK_H_
