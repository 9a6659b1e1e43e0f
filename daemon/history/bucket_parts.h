// The parts of a bucket: its values by optimizer, so that two networks that
// take turns are two lines.

#ifndef NANWATCH_HISTORY_BUCKET_PARTS_H_
#define NANWATCH_HISTORY_BUCKET_PARTS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "history/reader.h"
#include "model/step.h"

namespace nanwatch {

// Adds to a value. Of NaN and infinities only the number is kept.
void AddValue(double x, StepBucket::Value* value);

// Adds rows [begin, end) to the parts, before they are added to the bucket's
// own values. Nothing, as long as no record names its optimizer.
void AddToParts(const StepColumns& columns, size_t begin, size_t end,
                StepBucket* bucket);
// Adds a later bucket's, before it is added to the bucket's own values.
void AddParts(const StepBucket& later, StepBucket* bucket);
// Adds later values.
void AddValues(const StepBucket::Values& later, StepBucket::Values* values);

}  // namespace nanwatch

#endif  // NANWATCH_HISTORY_BUCKET_PARTS_H_
