// What launchers put before each line that a rank prints.

#ifndef NANWATCH_LOGS_RANK_PREFIX_H_
#define NANWATCH_LOGS_RANK_PREFIX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nanwatch {

struct RankPrefix {
  size_t size = 0;              // bytes of it, with blanks behind; 0: none
  std::optional<int32_t> rank;  // of the job
};

// torchrun's "[rank3]: ", and "[default3]:", whose number is of the node alone.
RankPrefix ReadRankPrefix(std::string_view line);

// Where the text behind srun's or mpirun's "3: " begins, and blanks.
size_t BehindTaskNumber(std::string_view line);

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_RANK_PREFIX_H_
