// Names by which callers over the network are known: a token's, a
// certificate's, or one of HTTP's users.

#ifndef NANWATCH_MODEL_NETWORK_NAME_H_
#define NANWATCH_MODEL_NETWORK_NAME_H_

#include <cstddef>
#include <string_view>

namespace nanwatch {

// The longest label of a host has 63 bytes, of an e-mail's local part 64. Ours.
inline constexpr size_t kNetworkNameBytes = 128;
inline constexpr std::string_view kNetworkNameMarks = "._@:/+-";

// True for what may be shown as it is, and is no "uid 1000".
bool IsNetworkName(std::string_view name);

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_NETWORK_NAME_H_
