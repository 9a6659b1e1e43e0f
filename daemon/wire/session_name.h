// What a session is called behind the wire. Its id, which only the client and
// the daemon know, lets who has it go on with the session. So it is never kept:
// history, exports and all that is shown hold a hash of it.

#ifndef NANWATCH_WIRE_SESSION_NAME_H_
#define NANWATCH_WIRE_SESSION_NAME_H_

#include "model/event.h"

namespace nanwatch {

// Returns the first 8 bytes of SHA-256 over the id; 0 of 0: no session.
SessionId SessionName(SessionId secret);

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_SESSION_NAME_H_
