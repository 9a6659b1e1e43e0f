#include "base/clock.h"

#include <algorithm>
#include <utility>

namespace nanwatch {
namespace {

using std::chrono::duration_cast;

// What is lived through second by second rather than called a jump: NTP steps
// by less in its life, and ten ticks of each run cost nothing.
constexpr Duration kJump = std::chrono::seconds(10);
// Of a clock that is ahead: its pace is 15/16, fast enough to hear silence in
// time, slow enough to be right again: one minute ahead is over after 16.
constexpr int64_t kSlower = 16;

class RealClock : public Clock {
 public:
  Time Now() override {
    return std::chrono::time_point_cast<Duration>(
        std::chrono::system_clock::now());
  }
  Duration Passed() override {
    return duration_cast<Duration>(
        std::chrono::steady_clock::now().time_since_epoch());
  }
};

}  // namespace

Clock& SystemClock() {
  static RealClock clock;
  return clock;
}

Time MonotonicClock::Now() {
  const Duration at = clock_.Passed();
  const Time wall = clock_.Now();
  const bool first = wall_ == Time{};
  const Duration passed = first ? Duration(0) : at - passed_;
  const Duration by = first ? Duration(0) : wall - (wall_ + passed);
  passed_ = at;
  wall_ = wall;
  const Time next = last_ + passed - passed / kSlower;
  if (std::chrono::abs(by) > kJump) {
    ++jumps_;
    jump_ = Jump{last_ + passed, by};
  }
  last_ = std::max(wall, next);
  ahead_us_ = (last_ - wall).count();
  return last_;
}

void MonotonicClock::RaiseTo(Time floor) { last_ = std::max(last_, floor); }

std::optional<MonotonicClock::Jump> MonotonicClock::TakeJump() {
  return std::exchange(jump_, std::nullopt);
}

}  // namespace nanwatch
