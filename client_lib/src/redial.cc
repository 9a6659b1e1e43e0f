#include "client_lib/src/redial.h"

#include <algorithm>
#include <utility>

namespace nanwatch_client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirst{100};
constexpr milliseconds kLongest{10000};

}  // namespace

Redial::Redial(std::vector<std::string> addresses, uint32_t seed)
    : addresses_(std::move(addresses)), random_(seed) {}

bool Redial::Next(SteadyTime now, bool was_open, bool hurry) {
  at_ = was_open ? 0 : (at_ + 1) % addresses_.size();
  if (at_ != 0) return false;
  milliseconds pause = kFirst * (1 << std::min(failures_++, 7));
  pause = std::min(pause, hurry ? kFirst : kLongest);
  // Half to one and a half: a thousand ranks must not come back at once.
  pause = pause / 2 + milliseconds(random_() % (pause.count() + 1));
  not_before_ = std::max(not_before_, now + pause);
  return true;
}

}  // namespace nanwatch_client
