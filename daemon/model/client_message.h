// ClientMessage: what a client said, parsed and valid in itself, and what it
// may be answered. Between wire/ (which validates), rpc/ (which carries) and
// engine/ (which admits).

#ifndef NANWATCH_MODEL_CLIENT_MESSAGE_H_
#define NANWATCH_MODEL_CLIENT_MESSAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "model/caller.h"
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
  // Of a relay: when the session opened there.
  std::optional<Time> relayed;
};
// The rank reports no more.
struct CloseMessage {
  std::optional<ProgramEnd> end;  // absent: in order
};
// Of a relay: the stream of the session's client broke.
struct LostMessage {
  std::string reason;
};
// Of a relay: people heard of these incidents already. Of no session.
struct ToldMessage {
  struct Told {
    RunKey run;
    uint64_t incident = 0;
  };
  std::vector<Told> told;
};
struct ClientMessage {
  SessionId session = 0;
  Sequence sequence = 0;  // 0: OpenSessionMessage, LostMessage, ToldMessage
  Time sent{};            // client's clock; epoch: not given
  // OpNamesAdded, StepBatch, OpBatch, Dropped, a close or an opening.
  std::variant<OpenSessionMessage, OpNamesAdded, StepBatch, OpBatch, Dropped,
               CloseMessage, LostMessage, ToldMessage>
      body;
  Caller caller;  // who says it: set by rpc/
};

enum class RefusalReason : uint8_t {
  kInvalid,
  kBusy,
  kLimit,
  kUnknownSession,
  kOutOfSequence,
  kShuttingDown,
  kForbidden,  // the run is another user's
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
  bool resumed = false;       // the session was there already
  bool next_attempt = false;  // of a run that was there already
  std::string owner;          // of the run; empty: it is everybody's
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_CLIENT_MESSAGE_H_
