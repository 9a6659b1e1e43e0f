// A run as JSON.

#ifndef NANWATCH_JSON_RUN_H_
#define NANWATCH_JSON_RUN_H_

#include "json/value.h"
#include "model/field.h"
#include "model/snapshot.h"

namespace nanwatch {

// Writes what a person wants to know first, for a list.
Json RunSummaryJson(const RunView& run);
// Writes all of it; incidents with at most a few findings each, and at most
// `ranks`.
Json RunDetailJson(const RunView& run, const RuleNames& rule_name,
                   size_t ranks);

// Writes `layers` and `groups`: which loss scales suit the layers.
Json LayerRangesJson(const LayerRangesView& ranges);

}  // namespace nanwatch

#endif  // NANWATCH_JSON_RUN_H_
