// Admission: who may enter, and as what. Turns a client's parsed message into
// the events that it makes: duplicates out, attempts resolved, times shifted to
// the daemon's clock. What leaves here is final: history keeps it, the engine
// believes it.
//
// The time of a record is the client's shifted by the session's offset (the
// smallest arrival - client time seen), never after arrival, rising by at least
// 1 ms a record of the rank. It is stored with the record.

#ifndef NANWATCH_ENGINE_ADMISSION_H_
#define NANWATCH_ENGINE_ADMISSION_H_

#include <optional>
#include <vector>

#include "model/client_message.h"
#include "model/event.h"

namespace nanwatch {

struct Admitted {
  // To be appended to history as one group, then applied in order. Empty: a
  // duplicate (ack it again) or a resumed session.
  std::vector<Event> events;
  std::optional<OpenedSession> opened;    // answers an OpenSessionMessage
  std::optional<RefusedMessage> refused;  // then no events
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_ADMISSION_H_
