// precheck: what a training computes with, before its first step, judged alone
// or beside a benchmark run.

#ifndef NANWATCH_CLI_PRECHECK_H_
#define NANWATCH_CLI_PRECHECK_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/style.h"
#include "compare/precheck.h"
#include "compare/setting_diff.h"

namespace nanwatch {

struct Prechecked {
  std::string run;
  RunDescription description;
  std::vector<Remark> remarks;
  std::string benchmark;           // as it was typed; empty: none
  std::vector<SettingDiff> diffs;  // a: the benchmark's

  // 0: nothing to mend. 1: something is wrong, or a setting that changes
  // results differs from the benchmark's.
  int severity() const;
};

std::string PrecheckText(const Prechecked& found, const Style& style);
std::string PrecheckJson(const Prechecked& found);

struct Command;  // cli/option.h
Command PrecheckCommand(const std::string* address);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_PRECHECK_H_
