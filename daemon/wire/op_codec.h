// Batches of op statuses: protobuf <-> model.

#ifndef NANWATCH_WIRE_OP_CODEC_H_
#define NANWATCH_WIRE_OP_CODEC_H_

#include "model/op.h"
#include "nanwatch/v1/ingest.pb.h"
#include "wire/complaint.h"
#include "wire/op_shapes.h"

namespace nanwatch {

// `to` is empty before. `shapes` gives the element counts that are not listed,
// and which ops there are. Null (stored batches): what is not listed is 0,
// unknown, and any op index goes. A row whose count of elements is 0 may have
// any counts.
Verdict ReadOps(const v1::OpBatch& from, const OpShapes* shapes, OpColumns* to);

// Without session, sequence and sent time. `to` is empty before. Every row's
// element count is listed, so that ReadOps needs no shapes.
void WriteOps(const OpColumns& from, v1::OpBatch* to);

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_OP_CODEC_H_
