// Request: what the daemon asks of a trainer. Polled there; nothing is forced.

#ifndef NANWATCH_MODEL_REQUEST_H_
#define NANWATCH_MODEL_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/event.h"

namespace nanwatch {

struct Request {
  enum class Kind : uint8_t {
    kCollectOps,  // send op status of `ops` (empty: all) for `steps` steps
    kStop,        // somebody asks the training to stop
  };
  uint64_t id = 0;  // never 0; the same after replay
  SessionId session = 0;
  Kind kind = Kind::kCollectOps;
  std::vector<uint32_t> ops;
  uint32_t steps = 0;
  int64_t expires_at_step = 0;
  std::string reason;  // for kStop: in words, and by whom
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_REQUEST_H_
