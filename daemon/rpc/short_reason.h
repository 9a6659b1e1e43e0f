// A reason that fits where the client keeps it.

#ifndef NANWATCH_RPC_SHORT_REASON_H_
#define NANWATCH_RPC_SHORT_REASON_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace nanwatch {

// The client's API has room for 255 bytes; a logger puts words around them.
inline constexpr size_t kReasonBytes = 200;

// `reason`, or as many of its first sentences as fit, or else of its words; an
// ellipsis tells that it was cut. Never inside a UTF-8 character.
std::string ShortReason(std::string_view reason, size_t bytes = kReasonBytes);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_SHORT_REASON_H_
