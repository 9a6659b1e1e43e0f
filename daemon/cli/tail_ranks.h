// Which rank a log is of, by its name.

#ifndef NANWATCH_CLI_TAIL_RANKS_H_
#define NANWATCH_CLI_TAIL_RANKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nanwatch {

// Of one log: the number after the word rank in its path ("rank_3.log",
// "rank3/stdout"); nullopt: there is none.
std::optional<int32_t> RankOfLog(const std::string& path);

// Of several: the first of these that tells all of them apart: the number after
// rank; after worker, device, gpu or npu; a number between dots, dashes or
// underscores of the file's name ("train.3.log"); a folder that is a number
// (torchrun's). Else their order, from 0.
std::vector<int32_t> RanksOfLogs(const std::vector<std::string>& paths);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_TAIL_RANKS_H_
