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

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "model/caller.h"

namespace nanwatch {

// Any thread.
class Callers {
 public:
  // `admins`: accounts and numbers. Root and this process's user are, too.
  explicit Callers(std::vector<std::string> admins);

  // `peer` as ServerContext::peer() says it, of a call that is not over. A peer
  // that is no unix socket is nobody.
  Caller Of(std::string_view peer) const;
  // What the name service says of a user is asked for once, here.
  Caller OfUser(uid_t uid) const;

 private:
  Caller Look(uid_t uid) const;

  const std::vector<std::string> admins_;
  mutable Mutex mutex_;
  // Users who have an account; at most kKnown.
  mutable std::map<uid_t, Caller> known_ GUARDED_BY(mutex_);
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_CALLERS_H_
