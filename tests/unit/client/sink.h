// Sink: an ingest service for tests. Acknowledges what it gets, in sequence,
// unless told otherwise, and remembers it, also from one start to the next.

#ifndef NANWATCH_TESTS_UNIT_CLIENT_SINK_H_
#define NANWATCH_TESTS_UNIT_CLIENT_SINK_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "nanwatch/v1/ingest.pb.h"

namespace nanwatch_client {

// A folder of its own in the temp folder, gone at the end.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  std::string Path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class Sink {
 public:
  // Called with each message before it is taken; a refusal refuses it.
  using Refuse = std::function<std::optional<nanwatch::v1::Refusal>(
      const nanwatch::v1::IngestRequest&)>;

  explicit Sink(std::string socket_path);
  ~Sink();

  void Start();
  void Stop();
  // As a daemon does that lost its history.
  void Forget();

  void set_refuse(Refuse refuse);
  void set_acks(bool acks);    // false: takes, and says nothing
  void set_reads(bool reads);  // false: after the handshake, no more
  // Told with every ack from now on, as of a session whose steps went back.
  void set_moved_to(int32_t attempt);
  // Sent with the next handshake.
  void set_request(const nanwatch::v1::Request& request);

  // False: `done` was not true within 10 s. Looks again at each message.
  bool WaitFor(const std::function<bool(const Sink&)>& done);
  // Under the lock of WaitFor, or while stopped.
  const std::vector<nanwatch::v1::IngestRequest>& taken() const {
    return taken_;
  }
  size_t opens() const { return opens_.size(); }

  std::vector<nanwatch::v1::OpenSession> Opens() const;
  // Steps and op names taken, in order.
  std::vector<int64_t> Steps() const;
  std::vector<std::string> OpNames() const;
  nanwatch::v1::Dropped Dropped() const;  // the sum
  std::string address() const { return "unix:" + socket_path_; }

 private:
  class Service;
  struct Held {
    uint64_t sequence = 0;
    uint32_t ops = 0;
  };
  // The answer to a message, if it gets one. Fills `reads`.
  std::optional<nanwatch::v1::IngestResponse> Take(
      const nanwatch::v1::IngestRequest& message);
  nanwatch::v1::IngestResponse Open(const nanwatch::v1::OpenSession& open);

  const std::string socket_path_;
  std::unique_ptr<Service> service_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Held> held_;
  std::vector<nanwatch::v1::IngestRequest> taken_;
  std::vector<nanwatch::v1::OpenSession> opens_;
  std::optional<nanwatch::v1::Request> request_;
  Refuse refuse_;
  bool acks_ = true;
  bool reads_ = true;
  std::optional<int32_t> moved_to_;
  bool stopping_ = false;
};

}  // namespace nanwatch_client

#endif  // NANWATCH_TESTS_UNIT_CLIENT_SINK_H_
