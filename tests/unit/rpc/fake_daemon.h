// A real RpcServer on a socket of its own, with a sink that a test looks into
// and a snapshot made by hand.

#ifndef NANWATCH_TESTS_UNIT_RPC_FAKE_DAEMON_H_
#define NANWATCH_TESTS_UNIT_RPC_FAKE_DAEMON_H_

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rpc/server.h"
#include "tests/unit/rpc/temp_dir.h"

namespace nanwatch {

class FakeSink : public IngestSink {
 public:
  Offered Offer(Arrival&& arrival, size_t) override {
    std::lock_guard lock(mutex_);
    if (full_ && !arrival.ended) return Offered::kFull;
    arrivals_.push_back(std::move(arrival));
    changed_.notify_all();
    return Offered::kTaken;
  }
  // The n-th arrival, from 0; waits for it.
  Arrival& Wait(size_t n) {
    std::unique_lock lock(mutex_);
    const bool there = changed_.wait_for(lock, std::chrono::seconds(10),
                                         [&] { return arrivals_.size() > n; });
    if (!there) {
      ADD_FAILURE() << "arrival " << n << " did not come";
      static Arrival none;
      return none;
    }
    return arrivals_[n];
  }
  size_t size() {
    std::lock_guard lock(mutex_);
    return arrivals_.size();
  }
  void set_full(bool full) {
    std::lock_guard lock(mutex_);
    full_ = full;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Arrival> arrivals_;  // references stay valid
  bool full_ = false;
};

class FakeDaemon {
 public:
  FakeDaemon() {
    options_.socket_path = dir / "ingest.sock";
    backend.snapshot = [this] {
      std::lock_guard lock(mutex_);
      return snapshot_;
    };
    backend.annotate = [this](const RunKey& run, const Annotation& said,
                              const Caller&) {
      annotated.emplace_back(run, said);
      return OkStatus();
    };
    backend.set_benchmark = [this](const RunKey& run, const BenchmarkSet& set,
                                   const Caller&) {
      benchmarks.emplace_back(run, set);
      return OkStatus();
    };
    backend.rule_name = [](RuleId rule) {
      return rule == RuleId::kScaleCollapse ? "scale_collapse" : "";
    };
    backend.rule_number = [](std::string_view name) {
      return name == "scale_collapse" ? std::optional(RuleId::kScaleCollapse)
                                      : std::nullopt;
    };
    backend.daemon = "nanwatchd/test";
    backend.clock = &clock;
  }
  // A call that goes on still asks for the snapshot.
  ~FakeDaemon() { server.reset(); }

  void Start() {
    auto started = RpcServer::Start(options_, sink, backend, clock);
    ASSERT_TRUE(started.ok()) << (started.ok() ? "" : started.error());
    server = std::move(*started);
  }
  void Publish(std::vector<RunView> runs) {
    auto snapshot = std::make_shared<Snapshot>();
    for (size_t i = 0; i < runs.size(); ++i) {
      snapshot->runs.Set(i, std::make_shared<RunView>(std::move(runs[i])));
    }
    std::lock_guard lock(mutex_);
    snapshot_ = std::move(snapshot);
  }
  std::string address() const { return "unix:" + options_.socket_path; }
  std::shared_ptr<grpc::Channel> Connect() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxSendMessageSize(-1);
    return grpc::CreateCustomChannel(
        address(), grpc::InsecureChannelCredentials(), arguments);
  }

  TempDir dir;
  ManualClock clock{FromMicros(1'700'000'000'000'000)};
  FakeSink sink;
  QueryBackend backend;
  std::vector<std::pair<RunKey, Annotation>> annotated;
  std::vector<std::pair<RunKey, BenchmarkSet>> benchmarks;
  RpcOptions options_;
  std::unique_ptr<RpcServer> server;

 private:
  std::mutex mutex_;
  std::shared_ptr<const Snapshot> snapshot_ = std::make_shared<Snapshot>();
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_RPC_FAKE_DAEMON_H_
