// Op names: protobuf <-> model.

#ifndef NANWATCH_WIRE_OP_NAME_CODEC_H_
#define NANWATCH_WIRE_OP_NAME_CODEC_H_

#include "model/op.h"
#include "nanwatch/v1/ingest.pb.h"
#include "wire/complaint.h"

namespace nanwatch {

// `to` is empty before, in both.
Verdict ReadOpNames(const v1::OpNames& from, OpNames* to);
void WriteOpNames(const OpNames& from, v1::OpNames* to);

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_OP_NAME_CODEC_H_
