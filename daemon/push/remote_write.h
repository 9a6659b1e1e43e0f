// Prometheus remote write 1.0 over HTTP.

#ifndef NANWATCH_PUSH_REMOTE_WRITE_H_
#define NANWATCH_PUSH_REMOTE_WRITE_H_

#include <memory>

#include "push/options.h"
#include "push/sink.h"

namespace nanwatch {

// `options.remote_write.url` is given.
std::unique_ptr<Sink> NewRemoteWrite(const PushOptions& options);

}  // namespace nanwatch

#endif  // NANWATCH_PUSH_REMOTE_WRITE_H_
