// A run as JSON.

#ifndef NANWATCH_WEB_JSON_RUN_H_
#define NANWATCH_WEB_JSON_RUN_H_

#include "history/reader.h"
#include "model/snapshot.h"
#include "web/json_incident.h"
#include "web/json_value.h"

namespace nanwatch {

// For a list: what a person wants to know first.
Json RunSummaryJson(const RunView& run);
// A run that only the history still knows: fewer keys. `worst`: ever.
Json RunRowJson(const RunRow& run, Severity worst);
// All of it; incidents with at most a few findings each, and at most `ranks`.
Json RunDetailJson(const RunView& run, const RuleNames& rule_name,
                   size_t ranks);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_JSON_RUN_H_
