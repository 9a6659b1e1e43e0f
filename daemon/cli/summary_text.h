// What a run's summary says: who it is, how bad, and its numbers.

#ifndef NANWATCH_CLI_SUMMARY_TEXT_H_
#define NANWATCH_CLI_SUMMARY_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "cli/style.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

// How bad a run is shown: one that has ended is as bad as it ever was, since
// everything is resolved then.
v1::Severity Shown(const v1::RunSummary& run);
// The newest value of a field of steps, e.g. "loss".
std::optional<double> LastOf(const v1::RunSummary& run, std::string_view field);

std::string HeadText(const v1::RunSummary& run, const Style& style);
std::string VerdictText(const v1::RunSummary& run, const Style& style);
std::string NumbersText(const v1::RunDetail& detail, const Style& style);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_SUMMARY_TEXT_H_
