// ReplyBudget: what all streams' answers that wait may take together. Any
// thread.

#ifndef NANWATCH_RPC_REPLY_BUDGET_H_
#define NANWATCH_RPC_REPLY_BUDGET_H_

#include <atomic>
#include <cstddef>

#include "model/limits.h"

namespace nanwatch {

class ReplyBudget {
 public:
  void Take(size_t bytes) { held_ += bytes; }
  void Give(size_t bytes) { held_ -= bytes; }
  bool over() const { return held_ > limits::kUnreadReplyBytes; }

 private:
  std::atomic<size_t> held_{0};
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_REPLY_BUDGET_H_
