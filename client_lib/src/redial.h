// Redial: which address to try next, and when. The sender's alone.

#ifndef NANWATCH_CLIENT_REDIAL_H_
#define NANWATCH_CLIENT_REDIAL_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace nanwatch_client {

using SteadyTime = std::chrono::steady_clock::time_point;

class Redial {
 public:
  // `addresses`: at least one, the best first.
  Redial(std::vector<std::string> addresses, uint32_t seed);

  // The one to try, or in use.
  const std::string& address() const { return addresses_[at_]; }
  SteadyTime not_before() const { return not_before_; }
  bool Due(SteadyTime now) const { return now >= not_before_; }

  // An address gave nothing, or what it gave ended (`was_open`). The next one
  // is tried at once; after each round comes a pause of 100 ms, doubling to
  // 10 s, or of 100 ms only if `hurry`. True: a round is over.
  bool Next(SteadyTime now, bool was_open, bool hurry);
  // The daemon acknowledged something: the next pause is a short one.
  void Reset() { failures_ = 0; }
  void WaitUntil(SteadyTime time) { not_before_ = time; }

 private:
  const std::vector<std::string> addresses_;
  size_t at_ = 0;
  int failures_ = 0;
  SteadyTime not_before_{};
  std::minstd_rand random_;
};

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_REDIAL_H_
