// The bytes of one message of an ingest stream.

#ifndef NANWATCH_RPC_MESSAGE_BYTES_H_
#define NANWATCH_RPC_MESSAGE_BYTES_H_

#include <grpcpp/grpcpp.h>

#include "nanwatch/v1/ingest.pb.h"

namespace nanwatch {

// Reads the first bytes only; whatever was read by then stays in `request`.
void ParseBeginning(const grpc::ByteBuffer& bytes, v1::IngestRequest* request);
// Returns false where they are no message.
bool ParseWhole(grpc::ByteBuffer* bytes, v1::IngestRequest* request);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_MESSAGE_BYTES_H_
