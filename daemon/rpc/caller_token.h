// Who stands behind a call.
//
// gRPC does not show the socket of a call. But the daemon accepts the unix
// socket itself, and SO_PEERCRED says who connects. So a caller that wants its
// name to be believed connects once more, from an abstract address that begins
// with kAskAddress; it is told a token, and the connection is closed. With its
// calls it sends the token as metadata under kTokenKey.

#ifndef NANWATCH_RPC_CALLER_TOKEN_H_
#define NANWATCH_RPC_CALLER_TOKEN_H_

#include <sys/types.h>

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/time.h"

namespace nanwatch {

inline constexpr std::string_view kAskAddress = "nanwatch-who-";
inline constexpr char kTokenKey[] = "nanwatch-token";

// The daemon's side. Any thread.
class CallerTokens {
 public:
  // A new token for `uid`: 32 hexadecimal digits. Empty: the system has no
  // random bytes. At most limits::kCallerTokens are known, the newest.
  std::string Give(Time now, uid_t uid);
  // Nullopt: no token of ours, or older than five minutes.
  std::optional<uid_t> Who(Time now, std::string_view token) const;

 private:
  struct Given {
    std::string token;
    uid_t uid = 0;
    Time at{};
  };

  mutable Mutex mutex_;
  std::deque<Given> given_ GUARDED_BY(mutex_);  // the oldest first
};

// True: the accepted connection `fd` comes from a kAskAddress.
bool AsksForToken(int fd);

// The caller's side: a token from the daemon at `address` ("unix:/path", as
// gRPC has it). Empty: it gives none, as over TCP or when it is older. Waits at
// most two seconds.
std::string AskForToken(const std::string& address);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_CALLER_TOKEN_H_
