// What only the history knows as JSON: ended runs, step buckets, op statuses.

#ifndef NANWATCH_WEB_JSON_HISTORY_H_
#define NANWATCH_WEB_JSON_HISTORY_H_

#include "history/reader.h"
#include "json/value.h"

namespace nanwatch {

// Fewer keys than of a run in the snapshot. `worst`: ever.
Json RunRowJson(const RunRow& run, Severity worst);
Json BucketJson(const StepBucket& bucket);
Json OpRowJson(const OpRow& row);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_JSON_HISTORY_H_
