// Batches of steps: protobuf <-> model.

#ifndef NANWATCH_WIRE_STEP_CODEC_H_
#define NANWATCH_WIRE_STEP_CODEC_H_

#include "model/step.h"
#include "nanwatch/v1/ingest.pb.h"
#include "wire/complaint.h"

namespace nanwatch {

// `to` is empty before. What a value says is not judged here: a loss scale that
// is 0, negative or NaN is data, and a rule speaks of it.
Verdict ReadSteps(const v1::StepBatch& from, StepColumns* to);

// Without session, sequence and sent time. `to` is empty before.
void WriteSteps(const StepColumns& from, v1::StepBatch* to);

// Returns null where it was not collected.
v1::DoubleColumn* ColumnOf(StepField field, v1::StepBatch* batch);

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_STEP_CODEC_H_
