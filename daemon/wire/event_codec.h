// The bytes of an event, as history and exports keep it (history.proto's
// StoredEvent). Decodes alone: no session, no table beside it.
//
// Lossless: NaN, infinities, absent and not collected come back as they went
// in; NaN payloads too. Times are microseconds.

#ifndef NANWATCH_WIRE_EVENT_CODEC_H_
#define NANWATCH_WIRE_EVENT_CODEC_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/event.h"

namespace nanwatch {

// Whether numbers of fp32 take eight bytes, which every version reads, or four.
enum class Floats : uint8_t { kWide, kNarrow };

// Replaces `*out`, whose capacity is kept. Any thread.
void EncodeEvent(const Event& event, std::string* out,
                 Floats floats = Floats::kWide);

// An error for bytes that EncodeEvent cannot have made: damaged, or of a newer
// version. Never crashes, never allocates more than a small multiple of
// `bytes`. Any thread.
Result<Event> DecodeEvent(std::string_view bytes);

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_EVENT_CODEC_H_
