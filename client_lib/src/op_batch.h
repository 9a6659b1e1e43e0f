// OpBatch: rows of op statuses as the columns of the wire.

#ifndef NANWATCH_CLIENT_OP_BATCH_H_
#define NANWATCH_CLIENT_OP_BATCH_H_

#include <nanwatch.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "nanwatch/v1/ingest.pb.h"

namespace nanwatch_client {

using OpRows = std::span<const nanwatch_op_status* const>;

// How many of the first `rows` one batch can say: the wire has one request id a
// batch, and digests for all rows or for none. At least 1 of 1.
size_t OpBatchRows(OpRows rows, size_t max_rows);

// `op_elements[i]` is what the shape of op i holds, 0 when unknown. Rows of one
// step share the time of their first one. Session and sequence are left out.
nanwatch::v1::OpBatch EncodeOps(OpRows rows,
                                std::span<const uint64_t> op_elements,
                                int64_t sent_time_us);

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_OP_BATCH_H_
