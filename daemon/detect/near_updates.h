// NearUpdates: how many updates of an op show something, none of them far from
// the one before. Statuses need not travel at every update.

#ifndef NANWATCH_DETECT_NEAR_UPDATES_H_
#define NANWATCH_DETECT_NEAR_UPDATES_H_

#include <cstdint>

namespace nanwatch {

// Trivially copyable: a member of a rule.
class NearUpdates {
 public:
  // A status of this update shows it. Returns count() then.
  int32_t Add(int64_t update) {
    if (newest_ < 0 || update - newest_ > kApart) count_ = 0;
    count_ += update != newest_;
    newest_ = update;
    return count_;
  }
  int32_t count() const { return count_; }

 private:
  static constexpr int64_t kApart = 10;  // updates that are far; ours

  int64_t newest_ = -1;
  int32_t count_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_NEAR_UPDATES_H_
