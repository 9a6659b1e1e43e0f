// Names: of the ops and optimizers that a training has registered. The training
// adds them, the sender takes them.

#ifndef NANWATCH_CLIENT_NAMES_H_
#define NANWATCH_CLIENT_NAMES_H_

#include <nanwatch.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "nanwatch/v1/ingest.pb.h"

namespace nanwatch_client {

class Names {
 public:
  // --- Any thread of the training ---
  // The op's index; -1: it has no name, an impossible shape, or there are
  // 65,536 already: `why`, if given, says which.
  int32_t AddOp(const nanwatch_op& op, std::string* why = nullptr);
  // An op found no room: its statuses are lost, and counted.
  bool full() const { return full_.load(std::memory_order_relaxed); }
  // The optimizer's index; 0, the only one's: no name, or there are 7 already.
  int32_t AddOptimizer(const char* name);
  // Ops below this may be pushed. No lock.
  uint32_t ops() const { return ops_.load(std::memory_order_acquire); }

  // --- The sender ---
  // Rises with every name.
  uint32_t given() const { return given_.load(std::memory_order_acquire); }
  std::vector<std::string> optimizers() const;
  // Fills `out` with at most `most` ops from `first` on, and returns how many.
  uint32_t Copy(uint32_t first, uint32_t most,
                nanwatch::v1::OpNames* out) const;
  // The daemon has no room for ops from `first` on: their statuses are lost at
  // the push from here on, those of the others go on.
  void RefuseFrom(uint32_t first);
  // Another stream, perhaps another daemon: all may be offered again.
  void Allow();
  bool refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  void ShowLocked();

  std::atomic<uint32_t> ops_{0};
  std::atomic<uint32_t> given_{0};
  std::atomic<bool> refused_{false};
  std::atomic<bool> full_{false};

  mutable std::mutex mutex_;
  std::vector<nanwatch::v1::OpName> op_names_;
  std::vector<std::string> optimizers_;
  uint32_t refused_from_ = UINT32_MAX;
};

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_NAMES_H_
