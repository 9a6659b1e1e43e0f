// Batcher: takes what waits in the ring and makes messages of it.

#ifndef NANWATCH_CLIENT_BATCHER_H_
#define NANWATCH_CLIENT_BATCHER_H_

#include <nanwatch.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client_lib/src/outbox.h"
#include "client_lib/src/shared.h"

namespace nanwatch_client {

class Batcher {
 public:
  // Rows of one message. The daemon may want fewer, and says so when a session
  // is opened.
  struct Limits {
    size_t steps = 512;
    size_t ops = 1024;
  };

  explicit Batcher(Shared* shared) : shared_(*shared) {}

  void set_limits(const Limits& limits) { limits_ = limits; }

  // Moves what waits, at most 16,384 rows, into `outbox`: op names, then op
  // statuses, then steps, then what was lost. So a step's ops arrive before the
  // step.
  void Drain(int64_t now_us, Outbox* outbox);

  // Op names from `first` on, before all others: for a daemon that lost them.
  void ResendOpNames(uint32_t first, uint32_t end, Outbox* outbox);
  uint32_t op_names_taken() const { return op_names_taken_; }

 private:
  void TakeRows();
  void LoseRefused(Lost lost, int64_t step, std::string why);
  void LoseWrongRows();
  void TakeNames(Outbox* outbox);
  void PushOps(int64_t now_us, Outbox* outbox);
  void PushSteps(int64_t now_us, Outbox* outbox);
  void PushLost(Outbox* outbox);

  Shared& shared_;
  Limits limits_;
  std::vector<const nanwatch_step*> steps_;
  std::vector<const nanwatch_op_status*> ops_;
  std::vector<uint64_t> op_elements_;  // of op names taken
  std::vector<std::string> optimizers_;
  uint32_t op_names_taken_ = 0;
  int64_t newest_step_ = 0;   // of those that can be
  uint32_t given_taken_ = 0;  // Names::given(), when names were taken last
};

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_BATCHER_H_
