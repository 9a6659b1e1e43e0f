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

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/event.h"

namespace nanwatch {

// A client's message, parsed and valid in itself (wire/). Times are still the
// client's.
struct OpenSessionMessage {
  SessionId session = 0;
  std::string run_id;  // empty: make one
  std::optional<int32_t> attempt;
  RunDescription run;
  RankDescription rank;
  Time client_time{};
  Sequence acked = 0;
};
struct ClientMessage {
  SessionId session = 0;
  Sequence sequence = 0;  // 0: OpenSessionMessage
  Time sent{};            // client's clock; epoch: not given
  // OpNamesAdded, StepBatch, OpBatch, Dropped, RankClosed or an opening.
  std::variant<OpenSessionMessage, OpNamesAdded, StepBatch, OpBatch, Dropped,
               RankClosed>
      body;
};

enum class RefusalReason : uint8_t {
  kInvalid,
  kBusy,
  kLimit,
  kUnknownSession,
  kOutOfSequence,
  kShuttingDown,
};
struct RefusedMessage {
  RefusalReason reason = RefusalReason::kInvalid;
  std::string message;  // what, where and what to do
  Sequence expected_sequence = 0;
  std::string limit;  // name in model/limits.h, if one was hit
};
// What the handshake answers.
struct OpenedSession {
  RunKey run;
  Sequence held_sequence = 0;
  uint32_t ops_held = 0;
};

struct Admitted {
  // To be appended to history as one group, then applied in order. Empty: a
  // duplicate (ack it again) or a resumed session.
  std::vector<Event> events;
  std::optional<OpenedSession> opened;    // answers an OpenSessionMessage
  std::optional<RefusedMessage> refused;  // then no events
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_ADMISSION_H_
