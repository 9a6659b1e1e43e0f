// Shared: what a session's pushing thread and its sender share. It lives until
// both are done with it.

#ifndef NANWATCH_CLIENT_SHARED_H_
#define NANWATCH_CLIENT_SHARED_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "client_lib/src/gap.h"
#include "client_lib/src/names.h"
#include "client_lib/src/redial.h"
#include "client_lib/src/request_box.h"
#include "client_lib/src/ring.h"

namespace nanwatch_client {

struct Shared {
  explicit Shared(size_t ring_bytes) : ring(ring_bytes) {}

  // --- Pushing thread to sender ---
  Ring ring;
  Gap gap;
  Names names;
  // An overflow or a non-finite value waits: do not let it wait for a batch.
  std::atomic<bool> urgent{false};
  std::atomic<uint64_t> accepted{0};  // records that went into the ring
  std::atomic<uint64_t> lost{0};      // records that did not

  // --- Sender to everybody ---
  std::atomic<uint64_t> sent{0};
  std::atomic<uint64_t> acked{0};
  std::atomic<uint64_t> not_durable{0};  // the part of `acked` not on its disk
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> reconnects{0};
  RequestBox requests;

  // --- Under the mutex; never taken by a push ---
  mutable std::mutex mutex;
  std::condition_variable changed;  // of anything below, and of acked, refused
  bool connected = false;
  std::string run_id;
  int32_t attempt = 0;
  std::string error;
  // The newest of the caller's records or ops that were not taken, a sentence:
  // no new stream mends it, so it stays.
  std::string mistake;
  std::string address;  // whose answer is waited for
  std::optional<SteadyTime> silent_since;
  bool flush = false;  // do not wait for batches to fill
  // Set once: send what there is until `deadline`, then end.
  bool ending = false;
  // With `ending`: the rank ended in order; say so.
  bool closing = false;
  SteadyTime deadline{};
  bool ended = false;  // the sender is gone
};

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_SHARED_H_
