// PlayedRelay: one that says what was recorded, over a connection of its own.
// As a relay it waits for the answer to an opening, keeps the order of what it
// says, says again what was refused for the moment, and comes back.

#ifndef NANWATCH_TESTS_E2E_PLAYED_RELAY_H_
#define NANWATCH_TESTS_E2E_PLAYED_RELAY_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "played_job.h"

namespace nanwatch {

class PlayedRelay {
 public:
  // `job` must outlive it; so must it itself what gRPC calls.
  PlayedRelay(PlayedJob* job, int number, std::string token,
              const std::shared_ptr<grpc::ChannelCredentials>& credentials);

  // Connects, if it is not and may; says the next message, if it is time and
  // none is on its way. Any thread.
  void Pump();

 private:
  class Stream;
  using Clock = std::chrono::steady_clock;

  struct Session {
    uint64_t sent = 0;
    uint64_t acked = 0;
    bool asked = false;
    bool opened = false;       // on this stream
    bool ever_opened = false;  // on any
  };

  void PumpLocked();
  void Written();
  void Take(const v1::IngestResponse& response);
  void TakeAck(const v1::Ack& ack);
  void Rewind(const v1::Refusal& refusal);
  void Ended(const grpc::Status& status);

  PlayedJob* const job_;
  const int number_;
  const std::string token_;
  grpc::GenericStub stub_;
  std::mutex mutex_;
  std::map<uint64_t, Session> sessions_;  // by recorded ids
  Stream* stream_ = nullptr;              // null: there is none now
  size_t next_ = 0;
  bool writing_ = false;
  Clock::time_point not_before_{};
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_E2E_PLAYED_RELAY_H_
