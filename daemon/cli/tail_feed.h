// TailFeed: the records of followed logs to a daemon, through the client
// library, a session a rank. Never waits for long: what the daemon does not
// take, the library keeps, and drops at last.

#ifndef NANWATCH_CLI_TAIL_FEED_H_
#define NANWATCH_CLI_TAIL_FEED_H_

#include <nanwatch.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "logs/assembler.h"
#include "model/run.h"

namespace nanwatch {

class TailFeed {
 public:
  struct Options {
    std::string address;  // in gRPC's notation
    std::string job;
    // Empty: what the environment says (nanwatch.h), else the daemon makes one.
    std::string run_id;
    // The rank of the first session is the environment's, not the record's.
    bool rank_of_environment = false;
    // Whether the program whose log this is tells the daemon itself, and so
    // knows more than its log: then nothing is told here. Set: records wait
    // for the answer, which is no after kHookSeconds; one that begins to later
    // ends the sessions. Empty: it does not.
    std::function<bool()> tells_itself;
  };
  explicit TailFeed(Options options);
  // Closes the sessions, as lost as they may be.
  ~TailFeed();
  TailFeed(const TailFeed&) = delete;
  TailFeed& operator=(const TailFeed&) = delete;

  bool IsOpen(int32_t rank) const {
    return sessions_.contains(rank) || held_runs_.contains(rank) || silenced_;
  }
  // Begins a rank's session with what is known of the run by now. Once a rank.
  void Open(int32_t rank, const RunDescription& run);
  // Ranks must not run ahead of one another: what is pushed of several is
  // waited for every kWindowSteps steps, as long as the daemon takes it.
  // REQUIRES: IsOpen(record.rank).
  void Push(const LogRecord& record);

  // With the slices of TailJudge, below limits::kAlignedLeadSteps: the daemon
  // hears each session alone, and judges a step without those that are further
  // behind.
  static constexpr int64_t kWindowSteps = 48;

  // What there is to tell the user, once: that the daemon knows the run now,
  // that none answers.
  std::optional<std::string> News();
  // From the first record on. A training's hooks are there before its first
  // step; so long may a client need that begins then.
  static constexpr std::chrono::seconds kHookSeconds{10};
  // Records that wait for it at most.
  static constexpr size_t kHeldMax = 20000;

  // The run as the daemon knows it, or did when the sessions ended; empty: it
  // did not answer yet.
  std::string run_id() const;

  // Waits a few seconds at most until the daemon has all, and ends the
  // sessions. A sentence where it has not; empty: it has.
  std::string Close();

 private:
  struct Session {
    nanwatch_session* handle = nullptr;
    std::map<std::string, int32_t, std::less<>> optimizers;
    int pushed = 0;  // since the library was last waited for
  };

  bool IsHeld() const { return !held_runs_.empty(); }
  // What waits for whether the program speaks itself.
  void DecideHeld(bool at_end);
  void OpenSession(int32_t rank, const RunDescription& run);
  void PushRecord(const LogRecord& record);
  void KeepTogether(int64_t step);
  void Breathe(Session* session, int wait_ms);

  const Options options_;
  std::map<int32_t, Session> sessions_;
  std::map<int32_t, RunDescription> held_runs_;  // by rank
  std::deque<LogRecord> held_;
  std::chrono::steady_clock::time_point held_since_;
  bool silenced_ = false;  // the program speaks
  std::string closed_as_;  // the run, when the sessions ended
  std::string run_id_;
  int64_t together_ = -1;  // the step from which on ranks were not waited for
  bool silent_ = false;    // no daemon answered at first, and that is not told
  bool told_ = false;
  uint64_t hung_at_ = 0;  // records acknowledged when it was waited in vain
  bool hung_ = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_CLI_TAIL_FEED_H_
