// Callers: which user is behind a call.
//
// gRPC does not show the socket of a call. But the daemon accepts the unix
// socket itself and hands the descriptor on, and gRPC 1.51 names the peer of
// such a connection after it: "fd:12". A call holds its connection, and the
// connection its descriptor, so the kernel can be asked for as long as the call
// lasts, and nobody else can have the number.

#ifndef NANWATCH_RPC_CALLERS_H_
#define NANWATCH_RPC_CALLERS_H_

#include <sys/types.h>

#include <atomic>
#include <map>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "model/caller.h"
#include "rpc/options.h"

namespace nanwatch {

// Any thread.
class Callers {
 public:
  explicit Callers(AccessOptions access);

  // Another choice, and what was known of users is asked for anew.
  void Set(AccessOptions access);
  // Rises with each Set(): what was asked before may be another answer now.
  uint64_t edition() const { return edition_.load(std::memory_order_acquire); }

  // `peer` as ServerContext::peer() says it, of a call that is not over. A peer
  // that is no unix socket is nobody.
  Caller Of(std::string_view peer) const;
  // What the name service says of a user is asked for once, here.
  Caller OfUser(uid_t uid) const;
  // True for admins and those of access.users and access.groups; for everyone
  // where both are empty.
  bool MayConnect(uid_t uid) const;
  // True for everyone, unless a run is shown to its owner alone.
  bool MayRead(std::string_view owner, const Caller& caller) const;

 private:
  struct Known {
    Caller caller;
    bool may_connect = false;
  };
  Known Look(uid_t uid) const;
  Known Ask(uid_t uid, const AccessOptions& access) const;

  mutable Mutex mutex_;
  AccessOptions access_ GUARDED_BY(mutex_);
  // Users who have an account; at most kKnown.
  mutable std::map<uid_t, Known> known_ GUARDED_BY(mutex_);
  std::atomic<bool> read_by_everyone_;
  std::atomic<uint64_t> edition_{1};
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_CALLERS_H_
