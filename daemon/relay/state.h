// RelayState: what a relay knows beside its history, in a file of its own that
// is replaced as a whole. What of a session is held upstream, the upstream
// says; so a file that is a second old costs nothing but reading that second
// again.

#ifndef NANWATCH_RELAY_STATE_H_
#define NANWATCH_RELAY_STATE_H_

#include <string>

#include "base/result.h"
#include "model/event.h"
#include "nanwatch/v1/history.pb.h"

namespace nanwatch {

// A missing or damaged file is a new state with a key of its own, which begins
// with the oldest event that is left.
v1::RelayState ReadRelayState(const std::string& path);
// On disk when it returns. 0600.
Status WriteRelayState(const std::string& path, const v1::RelayState& state);

// The id under which the session `name` of this daemon is known upstream. It
// comes of the secret key: who reads a history or an export cannot go on with
// it.
SessionId UpstreamId(const std::string& key, SessionId name);

}  // namespace nanwatch

#endif  // NANWATCH_RELAY_STATE_H_
