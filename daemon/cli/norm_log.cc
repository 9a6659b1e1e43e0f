#include "cli/norm_log.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/dump_files.h"
#include "dumps/norm_tables.h"
#include "logs/rank_prefix.h"

namespace nanwatch {

Result<ComparedRun> ReadNormLog(const std::string& path) {
  NormTables tables;
  Status taken = OkStatus();
  int32_t lowest = INT32_MAX;
  const Status read = FeedLines(path, [&](std::string_view line) {
    if (!taken.ok()) return;
    const RankPrefix prefix = ReadRankPrefix(line);
    line.remove_prefix(prefix.size);
    const std::optional<int32_t> rank =
        prefix.rank ? prefix.rank : RankInWords(line);
    if (rank && *rank > lowest) return;
    if (rank && *rank < lowest) {
      lowest = *rank;
      tables = NormTables();
    }
    taken = tables.Take(line);
  });
  if (!read.ok()) return Error{read.error()};
  if (!taken.ok()) return Error{path + ": " + taken.error()};
  Result<ComparedRun> run = tables.Finish();
  if (!run.ok()) return Error{path + ": " + run.error()};
  return run;
}

}  // namespace nanwatch
