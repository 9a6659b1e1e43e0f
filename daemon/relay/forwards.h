// Forwards: what a relay has to say upstream, made of the events of its own
// history in their order.
//
//   RunOpened, RankOpened            a session opens, or comes back
//   OpNames, batches, Dropped        the message that they came of, under its
//                                    own sequence; a batch that was split where
//                                    its steps went back is one again
//   RecordsEnded, RankClosed         its close
//   RankLost                         the client's stream broke
//   RunClosed                        ranks that are lost will not come back
//
// Rules, what a person said here, and checkpoints are this daemon's own.

#ifndef NANWATCH_RELAY_FORWARDS_H_
#define NANWATCH_RELAY_FORWARDS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "model/event.h"
#include "nanwatch/v1/ingest.pb.h"

namespace nanwatch {

struct Forward {
  enum class Kind { kOpen, kMessage, kLost, kRunOver };
  Kind kind = Kind::kMessage;
  SessionId session = 0;  // as this daemon calls it; 0: kRunOver
  Sequence sequence = 0;  // of kMessage; of kLost: of the message before
  RunKey run;             // here
  uint64_t first_id = 0;  // of the first event that it was made of
  Time now{};             // of the last
  size_t bytes = 0;
  // Without the id of the session, and the time at which it is sent.
  v1::IngestRequest request;
  bool done = false;  // nothing more is to be said of it
};

class Forwards {
 public:
  // What of runs is known from before the first event.
  void Know(SessionId session, const RunKey& run, const v1::RunInfo& info);
  void Take(const StampedEvent& stamped, std::deque<Forward>* queue);
  // The first event of what is not whole yet; 0: there is none.
  uint64_t unfinished() const { return unfinished_; }

 private:
  struct Session {
    Sequence newest = 0;  // of its messages
    StepColumns parts;    // of a batch whose last part is still to come
    v1::ProgramEnd end;   // of the close that is still to come
    bool broke = false;   // by it
  };

  void TakeMessage(const StampedEvent& stamped, Forward* out);

  std::map<RunKey, v1::RunInfo> runs_;  // open ones
  std::map<SessionId, Session> sessions_;
  uint64_t unfinished_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_RELAY_FORWARDS_H_
