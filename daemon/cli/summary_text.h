// What a run's summary says: who it is, how bad, and its numbers.

#ifndef NANWATCH_CLI_SUMMARY_TEXT_H_
#define NANWATCH_CLI_SUMMARY_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/style.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

// What a run is called (model/health.h), and how bad that is.
std::string HealthText(const v1::RunSummary& run);
v1::Severity ShownSeverity(const v1::RunSummary& run);
// The newest value of a field of steps, e.g. "loss".
std::optional<double> LastOf(const v1::RunSummary& run, std::string_view field);

// "7 of 8 ranks", which are connected; "8 ranks" of a run that ended.
std::string RanksText(const v1::RunSummary& run);

// True where a loss scale was reported.
bool HasScale(const v1::RunSummary& run);

// "998 applied"; where nothing says it of some, or of all, of `all`: "3 applied
// (7 not known)", "applied: not collected".
std::string CountText(uint64_t count, uint64_t all, uint64_t unknown,
                      std::string_view what);

// "rank 3's clock is 3 h ahead: times are shown by the daemon's", of the rank
// whose clock is off most; empty: none is by more than a minute.
std::string ClockText(const v1::RunDetail& run);

std::string HeadText(const v1::RunSummary& run, const Style& style);
std::string VerdictText(const v1::RunSummary& run, const Style& style);
std::string NumbersText(const v1::RunDetail& detail, const Style& style);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_SUMMARY_TEXT_H_
