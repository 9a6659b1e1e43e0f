// Stream: one try to reach one daemon, and the ingest stream that comes of
// it. The only user of gRPC. Everything happens on the thread that calls;
// nothing waits longer than it is told.

#ifndef NANWATCH_CLIENT_STREAM_H_
#define NANWATCH_CLIENT_STREAM_H_

#include <memory>
#include <string>

#include "client_lib/src/credentials.h"
#include "nanwatch/v1/ingest.pb.h"

namespace nanwatch_client {

class Stream {
 public:
  enum class Event {
    kNone,      // the time is over
    kStarted,   // may write
    kWritten,   // may write again
    kResponse,  // *response was filled
    kEnded,     // for good; error() says why
  };

  explicit Stream(const Credentials& credentials);
  // Cancels what goes on.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Waits for what happens next.
  Event Wait(int timeout_ms, nanwatch::v1::IngestResponse* response);
  // `message` is a serialized IngestRequest. Only while nothing is being
  // written: after kStarted or kWritten.
  void Write(const std::string& message);

  // Why it ended; empty: the daemon ended it without an error.
  const std::string& error() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_STREAM_H_
