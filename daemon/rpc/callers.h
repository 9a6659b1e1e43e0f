// Callers: who is behind a call.
//
// On the unix socket gRPC does not show the socket of a call. But the daemon
// accepts it itself and hands the descriptor on, and gRPC 1.51 names the peer
// of such a connection after it: "fd:12". A call holds its connection, and the
// connection its descriptor, so the kernel can be asked for as long as the call
// lasts, and nobody else can have the number. Over TCP a token or a certificate
// says the name.

#ifndef NANWATCH_RPC_CALLERS_H_
#define NANWATCH_RPC_CALLERS_H_

#include <grpcpp/server_context.h>
#include <sys/types.h>

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "model/caller.h"
#include "rpc/options.h"
#include "rpc/tokens.h"

namespace nanwatch {

// Who a call said he is, when it began.
struct Identity {
  std::optional<uid_t> uid;  // of a peer on the unix socket
  std::string name;          // of one over TCP; empty: nobody was asked
  std::string from;          // as Caller's
  bool by_token = false;     // that says the name
  // Why he is not let in, a sentence; empty: he is.
  std::string refused;
};

// How callers over TCP say who they are.
struct TcpCallers {
  std::string tokens;      // a file; empty: none
  bool anonymous = false;  // nobody is asked
};

// Any thread.
class Callers {
 public:
  explicit Callers(AccessOptions access, TcpCallers tcp = {});

  // Reads the file of tokens for the first time.
  Status LoadTokens() { return tokens_.Load(); }
  // `told` is called for each who is not let in, with the peer.
  void OnRefused(std::function<void(std::string_view, const Identity&)> told) {
    told_ = std::move(told);
  }

  // `known` is called for each call over TCP of who is let in, with his
  // address.
  void OnKnown(std::function<void(const std::string&)> known) {
    known_caller_ = std::move(known);
  }

  // Another choice, and what was known of users is asked for anew.
  void Set(AccessOptions access);
  // Rises with each Set() and with each change of the tokens: what was asked
  // before may be another answer now.
  uint64_t edition() {
    return edition_.load(std::memory_order_acquire) + tokens_.edition();
  }

  // Of a call that is not over.
  Identity Identify(const grpc::ServerContextBase& context);
  // Of a call's peer() and what it said in its header `authorization`.
  Identity Identify(std::string_view peer, std::string_view said,
                    std::optional<std::string> certificate,
                    bool expired = false);
  // False: who was let in is not let in any more, and that was told.
  bool StillIn(std::string_view peer, Identity* identity);
  Caller Of(const Identity& identity) const;
  // Of a name that was proven elsewhere. An error says why he is not let in.
  Result<Caller> OfName(const std::string& name) const;
  // What the name service says of a user is asked for once, here.
  Caller OfUser(uid_t uid) const;
  // True for admins and those of access.users and access.groups; for everyone
  // where both are empty.
  bool MayConnect(uid_t uid) const;
  // True for admins and those of access.relays: they may speak for others.
  bool MayRelay(const Identity& identity) const;
  // True for everyone, unless a run is shown to its owner alone.
  bool MayRead(std::string_view owner, const Caller& caller) const;
  bool read_by_everyone() const { return read_by_everyone_; }

 private:
  struct Known {
    Caller caller;
    bool may_connect = false;
  };
  Known Look(uid_t uid) const;
  Known Ask(uid_t uid, const AccessOptions& access) const;
  Identity IdentifyTcp(std::string_view said,
                       std::optional<std::string> certificate, bool expired);
  // Why he is not let in, a sentence; empty: he is.
  std::string WhyNot(const Identity& identity);
  std::string WhyNot(const std::string& name) const;

  Tokens tokens_;
  const TcpCallers tcp_;
  std::function<void(std::string_view, const Identity&)> told_;
  std::function<void(const std::string&)> known_caller_;
  mutable Mutex mutex_;
  AccessOptions access_ GUARDED_BY(mutex_);
  // Users who have an account; at most kKnown.
  mutable std::map<uid_t, Known> known_ GUARDED_BY(mutex_);
  std::atomic<bool> read_by_everyone_;
  std::atomic<uint64_t> edition_{1};
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_CALLERS_H_
