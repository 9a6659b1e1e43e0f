#include "rpc/callers.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "rpc/account.h"
#include "rpc/peer.h"

namespace nanwatch {
namespace {

constexpr std::string_view kHandedOn = "fd:";
// Users of one machine, 200 B each; beyond, all are looked up anew. Ours.
constexpr size_t kKnown = 4096;

std::optional<int> DescriptorOf(std::string_view peer) {
  if (!peer.starts_with(kHandedOn)) return std::nullopt;
  const char* const end = peer.data() + peer.size();
  int fd = -1;
  const auto [stop, error] =
      std::from_chars(peer.data() + kHandedOn.size(), end, fd);
  if (error != std::errc() || stop != end || fd < 0) return std::nullopt;
  return fd;
}

}  // namespace

Callers::Callers(std::vector<std::string> admins)
    : admins_(std::move(admins)) {}

Caller Callers::Of(std::string_view peer) const {
  const std::optional<int> fd = DescriptorOf(peer);
  if (!fd) return {};
  const Result<Peer> user = ReadPeer(*fd);
  if (!user) return {};
  return OfUser(user->uid);
}

Caller Callers::OfUser(uid_t uid) const {
  {
    MutexLock lock(mutex_);
    const auto found = known_.find(uid);
    if (found != known_.end()) return found->second;
  }
  Caller caller = Look(uid);
  if (caller.name == caller.number) return caller;  // it may be known later
  MutexLock lock(mutex_);
  if (known_.size() >= kKnown) known_.clear();
  known_.emplace(uid, caller);
  return caller;
}

Caller Callers::Look(uid_t uid) const {
  const std::string digits = std::to_string(uid);
  Caller caller;
  caller.number = "uid " + digits;
  caller.name = AccountName(uid).value_or(caller.number);
  caller.admin =
      uid == 0 || uid == geteuid() ||
      std::any_of(admins_.begin(), admins_.end(), [&](const std::string& one) {
        return one == caller.name || one == digits;
      });
  return caller;
}

}  // namespace nanwatch
