// Tables of runs, ranks and ops, a line each.

#ifndef NANWATCH_CLI_RUN_TABLES_H_
#define NANWATCH_CLI_RUN_TABLES_H_

#include <cstdint>
#include <string>

#include "cli/style.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

// A line a run. Of those that ended more than a day ago their number alone,
// unless `all` are asked for.
std::string RunsTable(const v1::ListRunsResponse& runs, const Style& style,
                      bool all);
// At most `most` ranks, the worst where some are left out; empty when there is
// none.
std::string RanksTable(const v1::RunDetail& run, int most, const Style& style,
                       int64_t now_us);
// At most `most` of those that were ever bad, an origin above its victims;
// empty when none was.
std::string OpsTable(const v1::RunDetail& run, int most, const Style& style);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_RUN_TABLES_H_
