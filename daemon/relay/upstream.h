// Upstream: one connection to the daemon that hears of all, and the ingest
// stream on it. Everything happens on the thread that calls.

#ifndef NANWATCH_RELAY_UPSTREAM_H_
#define NANWATCH_RELAY_UPSTREAM_H_

#include <memory>
#include <string>

#include "base/time.h"
#include "nanwatch/v1/ingest.pb.h"
#include "relay/options.h"

namespace nanwatch {

class Upstream {
 public:
  enum class Happened {
    kNothing,   // the time is over
    kStarted,   // may write
    kWritten,   // may write again
    kResponse,  // *response was filled
    kEnded,     // for good; error() says why
  };

  // Reads the files that `options` name, and begins to connect.
  explicit Upstream(const RelayOptions& options);
  // Cancels what goes on.
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  Happened Wait(Duration most, v1::IngestResponse* response);
  // Only while nothing is being written: after kStarted or kWritten. Returns
  // how many bytes go over the wire.
  size_t Write(const v1::IngestRequest& request);
  // A sentence.
  std::string error() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nanwatch

#endif  // NANWATCH_RELAY_UPSTREAM_H_
