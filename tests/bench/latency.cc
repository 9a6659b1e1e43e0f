// latency: from a batch handed to gRPC to its verdict in the published
// snapshot, while another client sends 10,000 steps/s and history is on. The
// daemon runs in this process, so that the snapshot can be looked at without a
// wait.

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/daemon.h"
#include "base/clock.h"
#include "nanwatch/v1/ingest.grpc.pb.h"

namespace nanwatch {
namespace {

using Clock = std::chrono::steady_clock;

class Client {
 public:
  Client(const std::string& address, const std::string& run, uint64_t session)
      : run_(run), session_(session) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = v1::IngestService::NewStub(grpc::CreateCustomChannel(
        address, grpc::InsecureChannelCredentials(), arguments));
    stream_ = stub_->Ingest(&context_);
    v1::IngestRequest open;
    open.mutable_open()->set_session(session);
    open.mutable_open()->mutable_run()->set_run_id(run);
    open.mutable_open()->mutable_run()->set_framework("pytorch");
    open.mutable_open()->mutable_rank();
    stream_->Write(open);
    v1::IngestResponse answer;
    stream_->Read(&answer);
    reader_ = std::thread([this] {
      v1::IngestResponse response;
      while (stream_->Read(&response)) {
      }
    });
  }
  ~Client() {
    stream_->WritesDone();
    reader_.join();
    stream_->Finish();
  }

  // One batch of `rows` steps; its last step number.
  int64_t Send(int rows) {
    v1::IngestRequest request;
    v1::StepBatch* batch = request.mutable_steps();
    batch->set_session(session_);
    batch->set_sequence(++sequence_);
    for (int i = 0; i < rows; ++i) {
      batch->add_step_deltas(i == 0 ? step_ : 1);
      batch->add_time_us_deltas(i == 0 ? NowMicros() : 1);
      batch->mutable_loss()->add_values(2.0);
      batch->mutable_loss_scale()->add_values(65536);
      batch->mutable_grad_norm()->add_values(1.0);
    }
    batch->mutable_overflow()->set_values(std::string((rows + 7) / 8, '\0'));
    step_ += rows;
    stream_->Write(request);
    return step_ - 1;
  }
  const std::string& run() const { return run_; }

 private:
  static int64_t NowMicros() { return ToMicros(SystemClock().Now()); }

  const std::string run_;
  const uint64_t session_;
  uint64_t sequence_ = 0;
  int64_t step_ = 0;
  grpc::ClientContext context_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  std::unique_ptr<
      grpc::ClientReaderWriter<v1::IngestRequest, v1::IngestResponse>>
      stream_;
  std::thread reader_;
};

double MillisUntilPublished(Daemon& daemon, Client* client) {
  const auto begun = Clock::now();
  const int64_t step = client->Send(1);
  while (true) {
    const auto run = daemon.snapshot()->Find(client->run());
    if (run != nullptr && run->last_step >= step) break;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return std::chrono::duration<double, std::milli>(Clock::now() - begun)
      .count();
}

int Main(const std::string& history) {
  DaemonConfig config = DefaultConfig();
  config.server.socket_path = history + ".sock";
  config.history.path = history;
  config.web.listen = "127.0.0.1:0";
  auto daemon = Daemon::Start(std::move(config), SystemClock());
  if (!daemon.ok()) {
    std::fprintf(stderr, "%s\n", daemon.error().c_str());
    return 1;
  }
  const std::string address = (*daemon)->ingest_address();
  std::atomic<bool> stop{false};
  std::thread load([&] {
    Client client(address, "load", 1);
    auto next = Clock::now();
    while (!stop) {
      client.Send(100);
      next += std::chrono::milliseconds(10);
      std::this_thread::sleep_until(next);
    }
  });
  std::vector<double> millis;
  {
    Client probe(address, "probe", 2);
    for (int i = 0; i < 2000; ++i) {
      millis.push_back(MillisUntilPublished(**daemon, &probe));
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  }
  stop = true;
  load.join();
  (*daemon)->Stop();
  std::sort(millis.begin(), millis.end());
  std::printf("{\"p50_ms\": %.3f, \"p99_ms\": %.3f}\n",
              millis[millis.size() / 2], millis[millis.size() * 99 / 100]);
  return 0;
}

}  // namespace
}  // namespace nanwatch

int main(int argc, char** argv) {
  return argc == 2 ? nanwatch::Main(argv[1]) : 2;
}
