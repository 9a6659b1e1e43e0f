// Uncommitted: what is judged and not yet on disk, by user. History keeps the
// order of what is judged, so who floods would have all others wait for his
// commits: a user may have a fair share of what waits there. The pipeline's.

#ifndef NANWATCH_APP_UNCOMMITTED_H_
#define NANWATCH_APP_UNCOMMITTED_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "base/fair_share.h"
#include "base/time.h"
#include "model/limits.h"

namespace nanwatch {

// `passed` is as of Clock::Passed().
class Uncommitted {
 public:
  // True when more of the user's may be judged.
  bool MayJudge(uint64_t user, Duration passed) const {
    const auto own = of_.find(user);
    return all_.Fits(own == of_.end() ? 0 : own->second, 1) ||
           passed - committed_at_ > kDiskHangs;
  }
  // `bytes` of the user's, above 0; `id` is that of the newest event.
  void Add(uint64_t id, uint64_t user, size_t bytes) {
    all_.taken += bytes;
    of_[user] += bytes;
    waiting_.push_back({id, user, bytes});
  }
  // Events up to this id are committed.
  void Forget(uint64_t committed, Duration passed) {
    if (waiting_.empty() || waiting_.front().id <= committed) {
      committed_at_ = passed;
    }
    while (!waiting_.empty() && waiting_.front().id <= committed) {
      const Waiting& gone = waiting_.front();
      all_.taken -= gone.bytes;
      const auto own = of_.find(gone.user);
      own->second -= gone.bytes;
      if (own->second == 0) of_.erase(own);
      waiting_.pop_front();
    }
  }

 private:
  struct Waiting {
    uint64_t id;
    uint64_t user;
    size_t bytes;
  };
  // Where nothing was committed for so long, nobody waits for the disk in
  // turns, and judging goes on. Ours; a commit takes 5 to 50 ms.
  static constexpr Duration kDiskHangs = std::chrono::milliseconds(500);

  std::deque<Waiting> waiting_;
  FairShare all_{limits::kUncommittedBytes};
  std::unordered_map<uint64_t, size_t> of_;  // looked up only
  Duration committed_at_{};
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_UNCOMMITTED_H_
