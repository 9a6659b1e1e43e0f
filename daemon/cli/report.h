// The report of a run in sentences: what `nanwatch diagnose` and `show` print.

#ifndef NANWATCH_CLI_REPORT_H_
#define NANWATCH_CLI_REPORT_H_

#include <string>

#include "cli/style.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

// The verdict, causes with evidence and actions, incidents, numbers: one screen
// of them, or `all`.
std::string DiagnosisReport(const v1::RunDetail& run, const Style& style,
                            bool all = false);
// The verdict and the numbers, ranks and ops as tables: a screen of them, or
// `all`.
std::string RunReport(const v1::RunDetail& run, const Style& style,
                      int64_t now_us, bool all = false);
// "worst cause grade", for scripts: e.g. "critical harmless_padding
// established". The worst severity ever fired, not the present one.
std::string Brief(const v1::RunDetail& run);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_REPORT_H_
