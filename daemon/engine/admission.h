// Admission: who may enter, and as what. Turns a client's parsed message into
// the events that it makes: duplicates out, attempts resolved, times shifted to
// the daemon's clock. What leaves here is final: history keeps it, the engine
// believes it.
//
// The time of a record is the client's shifted by the session's offset (the
// smallest arrival - client time seen), never after arrival, rising by at least
// 1 ms a record of the rank (by less, down to nothing, where a rank is faster
// than that: arrival is the ceiling). It is stored with the record. A client
// whose clock jumped by more than a minute gets a new offset; records that are
// more than that behind their own client's clock, in every batch, are shifted
// by the least of it.
//
// Attempts. The client's number holds when it gives one, unless that attempt
// has ended for the rank. Else the daemon counts: the next number when a rank
// whose session ended opens again, or when a rank's steps go back behind what
// it had finished (of the same optimizer; the same number again is another try
// of the step). Other ranks join the newest attempt. A batch whose steps go
// back in its middle is split there:
//   StepBatch of the old attempt, RecordsEnded (of the rank, or of the attempt
//   when nobody is left there, and then RunClosed),
//   RunOpened (when the attempt is new), RankOpened (the same session),
//   OpNamesAdded (all that the session had said), StepBatch of the new attempt
// so that every event belongs to exactly one attempt. Only the last part
// carries the message's sequence: half of it is never taken for the whole.

#ifndef NANWATCH_ENGINE_ADMISSION_H_
#define NANWATCH_ENGINE_ADMISSION_H_

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/client_message.h"
#include "model/event.h"
#include "model/quotas.h"

namespace nanwatch {

class Registry;
class RunState;
struct RankState;
struct SessionEntry;

struct Admitted {
  // To be appended to history as one group, then applied in order. Empty: a
  // duplicate (ack it again) or a resumed session.
  std::vector<Event> events;
  std::optional<OpenedSession> opened;  // answers an OpenSessionMessage
  // Then nothing of the message is taken. For kInvalid and kLimit `events` may
  // still hold one event, which only says that the sequence is used: the client
  // does not send it again.
  std::optional<RefusedMessage> refused;
  bool duplicate = false;
  // Its steps went back: the attempt in which the session goes on.
  std::optional<int32_t> moved_to;
};

class Admission {
 public:
  // Reads `registry` and changes nothing that decides. `registry` must outlive
  // this.
  explicit Admission(const Registry& registry) : registry_(registry) {}

  Admitted Admit(Time now, ClientMessage message, std::string_view fresh_id);
  // Returns events as Engine::Lose does.
  std::vector<Event> Lose(SessionId session, std::string_view reason) const;
  // What owners may have from here on.
  void SetQuotas(UserQuotas quotas) { quotas_ = std::move(quotas); }
  // Forgets a session that will not be heard again.
  void Forget(SessionId session) { clocks_.erase(session); }

 private:
  // What is known of a session's clock; not of the state that decides.
  struct SessionClock {
    std::optional<Duration> offset;  // daemon - client
    std::optional<Duration> lag;  // least of sent - newest record; 0: a relay
    Sequence acked = 0;           // what the client said it was acked
  };

  Admitted Open(Time now, OpenSessionMessage message, const Caller& caller,
                std::string_view fresh_id);
  Admitted Resume(const OpenSessionMessage& message,
                  const SessionEntry& session, Duration skew);
  std::optional<RefusedMessage> TooMany(const RunKey& key,
                                        const OpenSessionMessage& message,
                                        std::string_view owner) const;
  std::optional<RefusedMessage> TooManyOps(const RankState& rank,
                                           const OpNames& names,
                                           const RunState& run) const;
  // Of one run more.
  std::optional<RefusedMessage> TooManyRuns(const RunKey& key,
                                            std::string_view owner) const;
  RunKey Resolve(const OpenSessionMessage& message,
                 std::string_view fresh_id) const;
  void SupersedeOlder(const RunKey& key, std::vector<Event>* events) const;

  Admitted Take(Time now, ClientMessage message, const SessionEntry& session);
  std::optional<RefusedMessage> CheckBody(const ClientMessage& message,
                                          const SessionEntry& session) const;
  void Shift(Time now, Time sent, SessionId session, const RankState& rank,
             StepColumns* columns);
  void Shift(Time now, Time sent, SessionId session, OpColumns* columns);
  Duration Offset(Time now, Time sent, Time newest, SessionId session);
  void Steps(StepColumns columns, Event event, const SessionEntry& session,
             Admitted* admitted) const;
  void NextAttempt(const Event& event, const SessionEntry& session,
                   int32_t attempt, std::vector<Event>* events) const;
  // `end`: of the rank's program; absent: in order.
  void Closing(Event closed, const std::optional<ProgramEnd>& end,
               const SessionEntry& session, std::vector<Event>* events) const;
  // Of the rank that `event` is of.
  static Event RecordsEndOf(const Event& event, RecordsEnded::How how);

  const Registry& registry_;
  UserQuotas quotas_{kNoQuotas, {}};
  std::unordered_map<SessionId, SessionClock> clocks_;  // looked up only
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_ADMISSION_H_
