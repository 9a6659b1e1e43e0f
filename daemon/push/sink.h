// Sink: one store of metrics, asked one request at a time.

#ifndef NANWATCH_PUSH_SINK_H_
#define NANWATCH_PUSH_SINK_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "push/moments.h"

namespace nanwatch {

struct SinkReply {
  enum class Verdict {
    kTaken,
    kLater,    // the same may be taken later
    kFailed,   // the same; it may also be for what the request holds
    kRefused,  // something in it never will be
  };
  Verdict verdict = Verdict::kLater;
  std::optional<Duration> retry_after;
  std::string why;        // it was not taken
  uint64_t rejected = 0;  // samples of what was taken
};

class Sink {
 public:
  virtual ~Sink() = default;
  // "remote_write": a label of metrics, and the end of the cursor file's name.
  virtual std::string_view name() const = 0;
  // For logs, without secrets.
  virtual std::string address() const = 0;
  // Takes all of it or nothing. Waits for the answer, at most some seconds.
  virtual SinkReply Send(std::span<const Moment> moments) = 0;
  // True: the store answers to what is of `now`; then it is what a request
  // holds that makes it fail.
  virtual bool Works(Time now) = 0;
  // What else there is to send. Called between Sends.
  virtual void Tend(Time /*now*/) {}
  // Ends a Send that is under way, and those to come. Any thread.
  virtual void Cancel() = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_PUSH_SINK_H_
