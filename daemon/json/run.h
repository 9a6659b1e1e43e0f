// A run as JSON.

#ifndef NANWATCH_JSON_RUN_H_
#define NANWATCH_JSON_RUN_H_

#include "json/value.h"
#include "model/field.h"
#include "model/snapshot.h"

namespace nanwatch {

// For a list: what a person wants to know first.
Json RunSummaryJson(const RunView& run);
// All of it; incidents with at most a few findings each, and at most `ranks`.
Json RunDetailJson(const RunView& run, const RuleNames& rule_name,
                   size_t ranks);

}  // namespace nanwatch

#endif  // NANWATCH_JSON_RUN_H_
