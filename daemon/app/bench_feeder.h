// BenchFeeder: gives runs the benchmark that they ask for when they open
// (settings["benchmark"]), or that the configuration has for their job, out of
// the history. A restart that has none is given its attempts before.

#ifndef NANWATCH_APP_BENCH_FEEDER_H_
#define NANWATCH_APP_BENCH_FEEDER_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/time.h"
#include "model/event.h"
#include "model/snapshot.h"

namespace nanwatch {

class BenchFeeder {
 public:
  struct Options {
    std::string history_path;
    std::map<std::string, std::string> of_job;  // RUN or RUN@ATTEMPT, by job
    // Whether a run may be held against one of another owner, now.
    std::function<bool()> read_by_everyone;
    Time since{};  // runs that opened before have been looked at
  };
  // Posts the event; false: another time.
  using Post = std::function<bool(const RunKey& run, const BenchmarkSet& set)>;
  using Look = std::function<std::shared_ptr<const Snapshot>()>;
  BenchFeeder(Options options, Look look, Post post);
  // Begins a thread that looks again and again.
  void Start();
  // Ends it.
  ~BenchFeeder();
  BenchFeeder(const BenchFeeder&) = delete;
  BenchFeeder& operator=(const BenchFeeder&) = delete;

  // Looks at each open run once. Reads from disk. The thread's, or a test's.
  void RunOnce();

 private:
  void Feed(const RunView& run, const std::string& reference);
  void FeedEarlier(const RunView& run);
  void Give(const RunView& run, const BenchmarkSet& set);
  // Says why, once.
  void Leave(const RunView& run, const std::string& why);
  Result<std::shared_ptr<const Benchmark>> Read(const std::string& reference,
                                                const RunView& run) const;

  const Options options_;
  const Look look_;
  const Post post_;
  // --- The thread's.
  std::set<RunKey> seen_;
  size_t with_one_ = 0;  // runs that have a benchmark
  // ---
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_BENCH_FEEDER_H_
