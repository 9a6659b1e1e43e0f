// The number that a line begins with, which may be the rank that printed it.

#ifndef NANWATCH_LOGS_NUMBERED_PREFIX_H_
#define NANWATCH_LOGS_NUMBERED_PREFIX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {

struct NumberedPrefix {
  std::string_view before;  // of the number: "[GPU"; may be empty
  int32_t number = 0;
};

// srun's "3: ", "[3] ", "(3/4) ", "[GPU3] ", DeepSpeed's host "worker-3: ",
// perhaps behind a clock. What they number, only the lines can tell: see
// NumberedRanks.
std::optional<NumberedPrefix> ReadNumberedPrefix(std::string_view line);

// Tells from step lines whether the numbers before them are ranks: several
// numbers print the same steps, and each comes back with the next step. Epochs,
// steps and batches do not come back so.
class NumberedRanks {
 public:
  // A step line of `step`, as `reader` read it: each reads its own steps.
  void Note(size_t reader, const NumberedPrefix& prefix, int64_t step);
  // The numbers behind these words are ranks. They count from 0, or are hosts'
  // names and count as they come.
  bool Know(const NumberedPrefix& prefix) const {
    return known_ && prefix.before == before_;
  }
  bool from_zero() const { return from_zero_; }
  // Several numbers printed one step, and nothing says yet that they are none.
  bool may_be() const { return may_be_ && !known_; }

  // Letters before a number, at most; ours.
  static constexpr size_t kBefore = 32;
  // Numbers of ranks, at most; ours: a larger one is something else's.
  static constexpr int32_t kNumberMax = 1023;

 private:
  struct Seen {
    int32_t number = 0;
    int64_t step = 0;  // its newest
  };
  struct Series {
    size_t reader = 0;
    std::string before;
    int32_t newest = -1;
    int returns = 0;  // with the next step, behind other numbers
    std::vector<Seen> seen;
  };
  Series* Find(size_t reader, std::string_view before);

  // Returns that cannot be chance: one may be a run that began again.
  static constexpr int kReturns = 2;
  static constexpr size_t kSeries = 16;  // kept at most

  std::vector<Series> series_;
  bool known_ = false;
  bool may_be_ = false;
  bool from_zero_ = false;
  std::string before_;
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_NUMBERED_PREFIX_H_
