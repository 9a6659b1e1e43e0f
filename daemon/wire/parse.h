// Parse: the border where a client's bytes become nouns. Nothing behind it
// validates again.

#ifndef NANWATCH_WIRE_PARSE_H_
#define NANWATCH_WIRE_PARSE_H_

#include <cstddef>
#include <optional>

#include "model/client_message.h"
#include "nanwatch/v1/ingest.pb.h"
#include "wire/op_shapes.h"

namespace nanwatch {

struct Parsed {
  // Session and sequence are set as far as they were said. When `refused` is
  // set and the message had a sequence, the body is the Dropped that takes the
  // message's place: so the sequence counts as used, the loss is counted, and
  // what follows is not out of sequence.
  ClientMessage message;
  std::optional<RefusedMessage> refused;
};

// `shapes` are those of the message's session on its stream: read for op
// statuses, added to by op names. Null: the session is not open there (such a
// message is still parsed, unless it needs them). `relayed`: its names were
// told once, perhaps on another stream, and its batches need no shapes.
Parsed Parse(const v1::IngestRequest& request, OpShapes* shapes,
             bool relayed = false);

// For `bytes` bytes that protobuf did not take; `partial` is what it read until
// then. Says whether it is a string that is not UTF-8, and where.
Parsed ParseMalformed(const v1::IngestRequest& partial, size_t bytes);

// Says that a message is too large. `beginning` is made from its first bytes.
Parsed ParseOversized(const v1::IngestRequest& beginning, size_t bytes);

// The session that a message is about; 0: none.
SessionId SessionOf(const v1::IngestRequest& request);

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_PARSE_H_
