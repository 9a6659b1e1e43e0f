// Pusher: sends each step of the committed history to a store of metrics. A
// thread of its own; nobody waits for it.
//
// The history is the queue. A file beside it, HISTORY.NAME, says how far it is
// sent: it is written when a request was answered, so that what is sent twice
// after a kill is at most one request. What is in memory is bounded: 4,096
// moments or one batch of a client, and 20,000 lanes; 32 MB.
//
// A request that is refused is split, down to single samples: what is wrong
// with one costs no other.

#ifndef NANWATCH_PUSH_PUSHER_H_
#define NANWATCH_PUSH_PUSHER_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/self_sample.h"
#include "push/moments.h"
#include "push/options.h"
#include "push/sink.h"

namespace nanwatch {

class Pusher {
 public:
  // Why samples are given up.
  enum class Dropped {
    kTooOld,     // than push.max_age
    kFuture,     // the wall clock was set back
    kRefused,    // by the store
    kUnordered,  // more than one record a millisecond, for long
    kCrowded,    // more series than are sent
  };
  static constexpr int kDroppeds = 5;

  // `committed`: the newest event that is on disk; any thread.
  Pusher(PushOptions options, std::string history_path,
         std::function<uint64_t()> committed, std::unique_ptr<Sink> sink,
         Clock& clock);
  ~Pusher();
  Pusher(const Pusher&) = delete;
  Pusher& operator=(const Pusher&) = delete;

  // Begins the thread.
  void Start();
  // Sends what is committed by now, for at most `most`, and ends the thread.
  void Finish(Duration most);
  // One turn; waits at most `wait` where there is nothing to do.
  void RunOnce(Duration wait);
  // Any thread.
  void AppendSamples(std::vector<SelfSample>* samples) const;

 private:
  struct Figures {
    std::atomic<uint64_t> taken{0};
    std::array<std::atomic<uint64_t>, kDroppeds> dropped{};
    std::atomic<uint64_t> failures{0};
    std::atomic<uint64_t> through{0};
    std::atomic<int64_t> oldest_ms{0};  // of what waits; 0: nothing does
  };
  // Of a request: what is sent together.
  struct Part {
    std::vector<Moment> moments;
    bool single = false;  // one sample of a moment that was refused
  };

  void Load();
  void Save(Time now);
  void ReadHistory(Time now);
  void Gather(Time now);
  void SendFront(Time now);
  // Gives up what of the part is too old, or of the future.
  void DropOutdated(Time now, Part* part);
  void TakeRefused();
  void Wait(const SinkReply& reply, Time now);
  void FinishChunk(Time now);
  void Drop(Dropped why, uint64_t samples);
  // Of what waits; null: nothing does.
  const Moment* Oldest() const;
  void Publish();

  const PushOptions options_;
  const std::string history_path_;
  const std::function<uint64_t()> committed_;
  const std::unique_ptr<Sink> sink_;
  const std::string state_path_;
  Clock& clock_;
  Figures figures_;

  // --- The thread's.
  Moments moments_;
  std::deque<Moment> queue_;
  std::vector<Moment> chunk_;  // of one request, also when that was split
  std::deque<Part> parts_;     // of it, that are still to be sent
  uint64_t read_ = 0;          // the newest event that was read
  uint64_t skip_ = 0;          // rows of the next one that are sent
  uint64_t born_ = 0;          // events from before the first start
  Time gathered_{};            // the oldest of queue_ waits since then
  int failed_ = 0;             // answers that may be for what the chunk holds
  // Samples of the last moment that was sent alone: refused, and all. Where
  // all were, the next one is not split.
  int singles_refused_ = 0;
  int singles_ = 0;
  bool whole_refused_ = false;
  bool unsaved_ = false;
  bool warned_ = false;
  Backoff backoff_;
  Time not_before_{};
  Time saved_{};
  std::minstd_rand random_{std::random_device{}()};
  LogThrottle throttle_{std::chrono::minutes(1)};
  // ---
  std::atomic<bool> hurry_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace nanwatch

#endif  // NANWATCH_PUSH_PUSHER_H_
