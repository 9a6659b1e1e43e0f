// An incident in a few lines.

#ifndef NANWATCH_CLI_INCIDENT_TEXT_H_
#define NANWATCH_CLI_INCIDENT_TEXT_H_

#include <string>
#include <string_view>

#include "cli/depth.h"
#include "cli/style.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

// "firing", "resolved"; "open at the end": it stood when its run ended.
std::string_view Word(const v1::Incident& incident);
// Returns what is below the first line of an incident: its summary where no
// cause shown above says the same, then its findings, where it began first.
// `run`: the one it is of, whose causes were shown above by their numbers.
std::string IncidentBody(const v1::RunDetail& run, const v1::Incident& incident,
                         const Depth& depth, const Style& style);
// "cause 2", by that number; empty: it is not among those shown.
std::string CauseNumber(const v1::RunDetail& run, const v1::Incident& incident,
                        const Depth& depth);
// An incident that the daemon holds.
std::string IncidentText(const v1::RunDetail& run, const v1::Incident& incident,
                         const Depth& depth, const Style& style);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_INCIDENT_TEXT_H_
