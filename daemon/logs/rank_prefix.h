// What launchers put before each line that a rank prints, and those who collect
// what programs print.

#ifndef NANWATCH_LOGS_RANK_PREFIX_H_
#define NANWATCH_LOGS_RANK_PREFIX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace nanwatch {

struct RankPrefix {
  size_t size = 0;              // bytes of it, with blanks behind; 0: none
  std::optional<int32_t> rank;  // of the job, or of the node
  // Ray's process or pdsh's host, by which ranks are told apart.
  std::optional<int64_t> process;
};

// torchrun's "[rank3]: ", and "[default3]:", whose number is of the node;
// mpirun's "[1,3]<stdout>:", Ray's "(TrainWorker pid=4242) ", pdsh's "10.0.0.7:
// ", docker's, the journal's and Kubernetes' clocks and names; several of them.
// What a program might print itself ("3: ", "worker-3: ") is none: see
// numbered_prefix.h.
RankPrefix ReadRankPrefix(std::string_view line);

// The ranks that name themselves in one log. Where some are missing, they are
// those that print and no others are to be waited for: then none is named.
class NamedRanks {
 public:
  // A line of `rank`, >= 0.
  void Add(int32_t rank);
  bool any() const { return count_ > 0; }
  // All ranks from 0 up to the highest that was seen have printed by now.
  bool complete() const {
    return count_ == seen_.size() && seen_.size() <= kMax;
  }
  // The rank of a process that has none: they are counted as they come.
  int32_t OfProcess(int64_t process);

  static constexpr int32_t kMax = 1024;  // of a log with more none is named

 private:
  std::vector<bool> seen_;
  std::vector<int64_t> processes_;  // by their ranks
  size_t count_ = 0;
};

// The rank that a program names itself where a line begins, behind a clock at
// most: "[Rank 3] ", "rank 3 | ", Lightning's "[rank: 3]".
std::optional<int32_t> RankInWords(std::string_view line);

// Where the text behind srun's or mpirun's "3: " begins, and blanks.
size_t BehindTaskNumber(std::string_view line);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_RANK_PREFIX_H_
