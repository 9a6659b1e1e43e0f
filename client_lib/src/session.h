// Session: what a handle of nanwatch.h points to. The training's side; the
// sender's is sender.h.

#ifndef NANWATCH_CLIENT_SESSION_H_
#define NANWATCH_CLIENT_SESSION_H_

#include <nanwatch.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "client_lib/src/process.h"
#include "client_lib/src/sender.h"
#include "client_lib/src/shared.h"

namespace nanwatch_client {

class Session {
 public:
  // Throws when memory or threads are short, as every std type does here; the
  // C functions catch it.
  explicit Session(const nanwatch_run_options& options);
  // Ends without a word to the daemon, as a crash would. Use Close.
  ~Session();

  // False in a forked child, where nothing below may be called.
  bool Alive() const { return forks_ == Forks(); }

  void Push(const nanwatch_step& step);
  void Push(const nanwatch_op_status& status);
  int32_t RegisterOp(const nanwatch_op& op);
  int32_t RegisterOptimizer(const char* name);
  bool Poll(nanwatch_request* request);
  bool Flush(int timeout_ms);
  // True: everything was acknowledged. The daemon learns that the rank ended in
  // order if `in_order`.
  bool Close(int timeout_ms, bool in_order);
  void GetStats(nanwatch_stats* stats) const;

 private:
  class Turn;

  void Accept(bool urgent);
  std::string TroubleLocked() const;
  void Lose(uint64_t Lost::*count, int64_t step);

  const uint32_t forks_ = Forks();
  std::atomic<bool> pushing_{false};
  const std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

// What the sender is to say of this process.
SenderOptions MakeSenderOptions(const nanwatch_run_options& options);

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_SESSION_H_
