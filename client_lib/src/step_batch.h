// StepBatch: rows of steps as the columns of the wire.

#ifndef NANWATCH_CLIENT_STEP_BATCH_H_
#define NANWATCH_CLIENT_STEP_BATCH_H_

#include <nanwatch.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "nanwatch/v1/ingest.pb.h"

namespace nanwatch_client {

using StepRows = std::span<const nanwatch_step* const>;

// How many of the first `rows` one batch can say: the wire has one request id a
// batch, and replica digests for all rows or for none. At least 1 of 1.
size_t StepBatchRows(StepRows rows, size_t max_rows);

// `optimizers` holds the registered names; index 1 is the first of them, 0 the
// optimizer without a name. Session and sequence are left out.
nanwatch::v1::StepBatch EncodeSteps(StepRows rows,
                                    std::span<const std::string> optimizers,
                                    int64_t sent_time_us);

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_STEP_BATCH_H_
