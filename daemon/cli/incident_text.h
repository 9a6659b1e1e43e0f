// An incident in a few lines.

#ifndef NANWATCH_CLI_INCIDENT_TEXT_H_
#define NANWATCH_CLI_INCIDENT_TEXT_H_

#include <string>

#include "cli/style.h"
#include "nanwatch/v1/query.pb.h"

namespace nanwatch {

// `run`: the one it is of, whose causes were shown above by their numbers.
std::string IncidentText(const v1::RunDetail& run, const v1::Incident& incident,
                         const Style& style);

}  // namespace nanwatch

#endif  // NANWATCH_CLI_INCIDENT_TEXT_H_
