// RunOpened, and what it says of the attempts before, to what history keeps of
// it, and back.

#ifndef NANWATCH_WIRE_RUN_OPENED_CODEC_H_
#define NANWATCH_WIRE_RUN_OPENED_CODEC_H_

#include "model/event.h"
#include "nanwatch/v1/history.pb.h"
#include "wire/complaint.h"

namespace nanwatch {

void WriteRunOpened(const RunOpened& from, v1::StoredRunOpened* to);
Verdict ReadRunOpened(const v1::StoredRunOpened& from, RunOpened* to);

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_RUN_OPENED_CODEC_H_
