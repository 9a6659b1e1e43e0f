// Relay: forwards what the history has committed to another daemon, which
// judges the whole job. A thread of its own; nobody waits for it.
//
// The cursor of a session is what the upstream says that it holds, when the
// session is opened there. The relay's file (state.h) says where in the history
// to begin. What is sent and not acknowledged is at most kWindowBytes.

#ifndef NANWATCH_RELAY_RELAY_H_
#define NANWATCH_RELAY_RELAY_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "model/client_message.h"
#include "model/request.h"
#include "model/self_sample.h"
#include "relay/forwards.h"
#include "relay/options.h"
#include "relay/state.h"
#include "relay/upstream.h"

namespace nanwatch {

// What the daemon gives a relay and takes from it. Any thread.
struct RelaySeam {
  std::string history_path;
  std::function<uint64_t()> committed;  // the newest event that is on disk
  // Of a session of this daemon, and its run here.
  std::function<void(const RunKey& run, Request request)> ask;
  // Whether people are to hear of trouble from this daemon.
  std::function<void(bool alone)> alone;
  // What it told people, while it was alone, since this was asked last.
  std::function<std::vector<ToldMessage::Told>()> told;
};

class Relay {
 public:
  Relay(RelayOptions options, RelaySeam seam, Clock& clock);
  // Begins the thread.
  void Start();
  // Sends what is committed by now, for at most `most`, and ends the thread.
  void Finish(Duration most);
  // Ends it.
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // One turn; waits at most `wait` for something to happen.
  void RunOnce(Duration wait);
  void AppendSamples(std::vector<SelfSample>* samples) const;

 private:
  struct Session {
    v1::OpenSession open;
    RunKey run;            // here
    Sequence acked = 0;    // held upstream
    Sequence sent = 0;     // on this stream
    bool started = false;  // it was opened upstream, and not closed
    bool lost = false;     // its client's stream broke, and that was said
    bool asked = false;    // it was opened on this stream
    bool opened = false;   // ... and that was answered
    bool refused = false;  // for good, on this stream
  };
  struct Figures {
    std::atomic<bool> connected{false};
    std::atomic<uint64_t> through{0};
    std::atomic<int64_t> oldest_us{0};  // of what waits; 0: nothing does
    std::atomic<uint64_t> messages{0};
    std::atomic<uint64_t> bytes{0};
    std::atomic<uint64_t> refused{0};
    std::atomic<uint64_t> missing{0};
    std::atomic<uint64_t> reconnects{0};
  };

  void Load();
  void Save(Time now);
  void ReadHistory();
  void Connect(Time now);
  void Disconnect(const std::string& why, Time now);
  // False: nothing can be sent now.
  bool SendNext(Time now);
  // True: it was sent.
  bool SendMessage(Forward* out, Time now);
  bool SendLost(Forward* out);
  bool SendOpenOf(Forward* out);
  void SendOpen(SessionId name, Session* session);
  bool SendTold();  // true: there was something
  void Write(const v1::IngestRequest& request);
  void Take(const v1::IngestResponse& response, Time now);
  void TakeOpened(const v1::SessionOpened& opened, Time now);
  void TakeRefusal(const v1::Refusal& refusal, Time now);
  // Of a session that cannot be opened.
  void TakeRefusedSession(const v1::Refusal& refusal, Session* session,
                          Time now);
  void TakeRequest(const v1::Request& request);
  // What of the session was not acknowledged is sent again, after `pause`.
  void Rewind(Session* session, Duration pause, Time now);
  void DropDone();
  void Finish(const Forward& out);
  void Arrive();
  void LookAfter(Time now);
  // Of what repeats: once a minute.
  bool MayLog(Time now);
  Session* Find(SessionId name);
  Session* FindUpstream(SessionId id, SessionId* name);

  const RelayOptions options_;
  const RelaySeam seam_;
  const std::string state_path_;
  Clock& clock_;
  Figures figures_;

  // --- The thread's.
  std::string key_;
  std::map<SessionId, Session> sessions_;       // by their names here
  std::map<SessionId, SessionId> by_upstream_;  // names by ids upstream
  Forwards messages_;
  std::deque<Forward> queue_;  // read, and not held upstream
  size_t queue_bytes_ = 0;
  size_t next_ = 0;    // of the queue: to be sent next
  uint64_t read_ = 0;  // the newest event that was read
  bool unsaved_ = false;
  bool save_now_ = false;               // a session ended
  std::unique_ptr<Upstream> upstream_;  // null: away
  bool writing_ = false;
  bool started_ = false;
  // What it told people and the upstream may not know yet.
  std::vector<ToldMessage::Told> told_;
  bool said_told_ = false;  // on this stream, all of it
  std::deque<SessionId> to_open_;
  Backoff backoff_{std::chrono::milliseconds(100), std::chrono::seconds(10)};
  std::minstd_rand random_{std::random_device{}()};
  Time not_before_{};  // to connect, or to send
  Time saved_{};
  Time begun_{};  // the stream
  Time heard_{};  // of the upstream, or nothing was to be heard
  Time good_{};   // all is well upstream since then
  bool away_ = true;
  bool alone_ = false;
  LogThrottle throttle_{std::chrono::minutes(1)};
  // ---
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace nanwatch

#endif  // NANWATCH_RELAY_RELAY_H_
