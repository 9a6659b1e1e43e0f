// Step buckets and op statuses as JSON.

#ifndef NANWATCH_WEB_JSON_STEP_H_
#define NANWATCH_WEB_JSON_STEP_H_

#include "history/reader.h"
#include "web/json_value.h"

namespace nanwatch {

Json BucketJson(const StepBucket& bucket);
Json OpRowJson(const OpRow& row);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_JSON_STEP_H_
