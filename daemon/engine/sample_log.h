// SampleLog: the data that a rank's newest records trained on, for a verdict to
// name what to leave out.

#ifndef NANWATCH_ENGINE_SAMPLE_LOG_H_
#define NANWATCH_ENGINE_SAMPLE_LOG_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "model/step.h"

namespace nanwatch {

class SampleLog {
 public:
  void Add(int64_t step, const SampleRange& range) {
    const Entry entry{step, range.first, range.last};
    if (entries_.size() < kMost) {
      entries_.push_back(entry);
    } else {
      entries_[next_] = entry;
      next_ = (next_ + 1) % kMost;
    }
  }
  // Returns the newest of `step`; nullopt where it is not known (any more).
  std::optional<SampleRange> Find(int64_t step) const {
    for (size_t i = entries_.size(); i > 0; --i) {
      const Entry& entry = entries_[(next_ + i - 1) % entries_.size()];
      if (entry.step == step) return SampleRange{0, entry.first, entry.last};
    }
    return std::nullopt;
  }

  template <typename A>
  friend void Fields(A& archive, SampleLog& log) {
    archive(log.entries_, log.next_);
  }

 private:
  static constexpr size_t kMost = 256;  // records; ours
  struct Entry {
    int64_t step = 0;
    int64_t first = 0;
    int64_t last = 0;
  };
  std::vector<Entry> entries_;
  uint64_t next_ = 0;  // place of the oldest
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_SAMPLE_LOG_H_
