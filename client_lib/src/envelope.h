// Envelope: a serialized IngestRequest around an inner message that was
// serialized before its session and sequence were known.

#ifndef NANWATCH_CLIENT_ENVELOPE_H_
#define NANWATCH_CLIENT_ENVELOPE_H_

#include <cstdint>
#include <string>

#include "nanwatch/v1/ingest.pb.h"

namespace nanwatch_client {

// `body` has neither session (field 1) nor sequence (field 2), which all inner
// messages but OpenSession have in common.
std::string Envelope(nanwatch::v1::IngestRequest::KindCase kind,
                     uint64_t session, uint64_t sequence,
                     const std::string& body);

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_ENVELOPE_H_
