// backtest: what a changed set of thresholds would have said of recordings.

#ifndef NANWATCH_CLI_BACKTEST_H_
#define NANWATCH_CLI_BACKTEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/backtest.h"
#include "cli/commands.h"
#include "cli/style.h"

namespace nanwatch {

struct BacktestOptions {
  std::vector<std::string> recordings;  // histories, exports, logs
  std::string rules;                    // a configuration; its section counts
  CheckOptions log;                     // how logs are read
  // Run ids, or recordings, of which people know that nothing was wrong.
  std::vector<std::string> healthy;
  bool all_healthy = false;
  bool all = false;  // incidents for information, and those that are the same
  bool json = false;
};

int BacktestRules(const BacktestOptions& options, const Style& style);

// One recording, judged under both.
struct BacktestedFile {
  std::string path;
  std::string complaint;  // of the recording; empty: none
  BacktestOutcome outcome;
};

// Incidents of warning or worse in runs that are known to be healthy.
struct FalseAlarms {
  uint64_t runs = 0;
  uint64_t updates = 0;
  uint64_t before = 0;
  uint64_t after = 0;
};
FalseAlarms CountFalseAlarms(const BacktestOptions& options,
                             const std::vector<BacktestedFile>& files);

// Steps from the first warning (or worse) of a run to the step from which it
// was lost; negative: told too late. Absent: not told.
struct LeadTime {
  const BacktestedRun* run = nullptr;
  std::optional<int64_t> before;
  std::optional<int64_t> after;
};
// Of the runs that were lost.
std::vector<LeadTime> LeadTimesOf(const BacktestOutcome& outcome);

std::string BacktestText(const BacktestOptions& options,
                         const std::vector<BacktestedFile>& files,
                         const Style& style);
std::string BacktestJson(const BacktestOptions& options,
                         const std::vector<BacktestedFile>& files);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_BACKTEST_H_
