// sink: the raw sink that the daemon is measured against: the same service and
// messages on the callback API, parsed and dropped.

#include <grpcpp/grpcpp.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>

#include "nanwatch/v1/ingest.grpc.pb.h"

namespace {

namespace v1 = nanwatch::v1;

constexpr uint64_t kAckEvery = 64;

class Stream
    : public grpc::ServerBidiReactor<v1::IngestRequest, v1::IngestResponse> {
 public:
  Stream() { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    if (!ok) {
      std::lock_guard<std::mutex> lock(mutex_);
      ended_ = true;
      if (!writing_) Finish(grpc::Status::OK);
      return;
    }
    if (request_.has_open()) {
      v1::IngestResponse response;
      response.mutable_opened()->set_session(request_.open().session());
      Put(std::move(response));
    } else if (request_.has_close()) {
      Ack(request_.close().session(), request_.close().sequence());
    } else if (request_.has_steps()) {
      MaybeAck(request_.steps().session(), request_.steps().sequence());
    } else if (request_.has_ops()) {
      MaybeAck(request_.ops().session(), request_.ops().sequence());
    }
    StartRead(&request_);
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard<std::mutex> lock(mutex_);
    queue_.pop_front();
    if (ok && !queue_.empty()) {
      StartWrite(&queue_.front());
      return;
    }
    writing_ = false;
    if (ended_) Finish(grpc::Status::OK);
  }

  void OnDone() override { delete this; }

 private:
  void MaybeAck(uint64_t session, uint64_t sequence) {
    if (sequence % kAckEvery == 0) Ack(session, sequence);
  }
  void Ack(uint64_t session, uint64_t sequence) {
    v1::IngestResponse response;
    response.mutable_ack()->set_session(session);
    response.mutable_ack()->set_sequence(sequence);
    Put(std::move(response));
  }
  void Put(v1::IngestResponse response) {
    std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(response));
    if (writing_) return;
    writing_ = true;
    StartWrite(&queue_.front());
  }

  v1::IngestRequest request_;
  std::mutex mutex_;
  std::deque<v1::IngestResponse> queue_;
  bool writing_ = false;
  bool ended_ = false;
};

class Service : public v1::IngestService::CallbackService {
 public:
  grpc::ServerBidiReactor<v1::IngestRequest, v1::IngestResponse>* Ingest(
      grpc::CallbackServerContext*) override {
    return new Stream;
  }
};

}  // namespace

int main(int argc, char** argv) {
  std::string address;
  CLI::App app("Parses and drops.");
  app.add_option("--address", address)->required();
  CLI11_PARSE(app, argc, argv);
  Service service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  // Before gRPC makes its threads, so that only sigwait sees the signal.
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  std::puts("ready");
  std::fflush(stdout);
  int number = 0;
  sigwait(&set, &number);
  server->Shutdown(std::chrono::system_clock::now());
  return 0;
}
