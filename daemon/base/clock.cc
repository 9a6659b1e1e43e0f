#include "base/clock.h"

#include <algorithm>

namespace nanwatch {
namespace {

class RealClock : public Clock {
 public:
  Time Now() override {
    return std::chrono::time_point_cast<Duration>(
        std::chrono::system_clock::now());
  }
};

}  // namespace

Clock& SystemClock() {
  static RealClock clock;
  return clock;
}

Time MonotonicClock::Now() {
  last_ = std::max(last_, clock_.Now());
  return last_;
}

void MonotonicClock::RaiseTo(Time floor) { last_ = std::max(last_, floor); }

}  // namespace nanwatch
