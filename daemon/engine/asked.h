// Asked: what was asked of the trainers of a run.

#ifndef NANWATCH_ENGINE_ASKED_H_
#define NANWATCH_ENGINE_ASKED_H_

#include <cstdint>

namespace nanwatch {

struct Asked {
  uint64_t count = 0;  // requests ever
  uint64_t id = 0;     // outstanding; 0: none
  int64_t expires_at_step = 0;
  int64_t not_before_step = INT64_MIN;  // backoff
  uint64_t stop_id = 0;                 // of the newest request to stop
  bool stop = false;                    // asked because of stop_on, once
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_ASKED_H_
