#include "rpc/callers.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

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

bool Names(const std::vector<std::string>& users, const Caller& caller,
           uid_t uid) {
  const std::string digits = std::to_string(uid);
  return std::any_of(users.begin(), users.end(), [&](const std::string& one) {
    return one == caller.name || one == digits;
  });
}

bool NamesOneOf(const std::vector<std::string>& names,
                const std::vector<gid_t>& groups) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const std::optional<gid_t> known = GroupNumber(name);
    return std::any_of(groups.begin(), groups.end(), [&](gid_t group) {
      return group == known || std::to_string(group) == name;
    });
  });
}

}  // namespace

Callers::Callers(AccessOptions access)
    : access_(std::move(access)), read_by_everyone_(access_.read_by_everyone) {}

void Callers::Set(AccessOptions access) {
  MutexLock lock(mutex_);
  access_ = std::move(access);
  known_.clear();
  read_by_everyone_ = access_.read_by_everyone;
  edition_.fetch_add(1, std::memory_order_release);
}

Caller Callers::Of(std::string_view peer) const {
  const std::optional<int> fd = DescriptorOf(peer);
  if (!fd) return {};
  const Result<Peer> user = ReadPeer(*fd);
  if (!user) return {};
  return OfUser(user->uid);
}

Caller Callers::OfUser(uid_t uid) const { return Look(uid).caller; }

bool Callers::MayConnect(uid_t uid) const { return Look(uid).may_connect; }

bool Callers::MayRead(std::string_view owner, const Caller& caller) const {
  return read_by_everyone_ || MayChange(owner, caller);
}

Callers::Known Callers::Look(uid_t uid) const {
  AccessOptions access;
  uint64_t edition = 0;
  {
    MutexLock lock(mutex_);
    const auto found = known_.find(uid);
    if (found != known_.end()) return found->second;
    access = access_;
    edition = edition_;
  }
  Known known = Ask(uid, access);
  const Caller& caller = known.caller;
  if (caller.name == caller.number) return known;  // it may be known later
  MutexLock lock(mutex_);
  if (edition != edition_) return known;
  if (known_.size() >= kKnown) known_.clear();
  known_.emplace(uid, known);
  return known;
}

Callers::Known Callers::Ask(uid_t uid, const AccessOptions& access) const {
  Known known;
  Caller& caller = known.caller;
  caller.number = "uid " + std::to_string(uid);
  caller.name = AccountName(uid).value_or(caller.number);
  // Who is asked for no group is no work for the name service.
  std::vector<gid_t> groups;
  if (!access.admin_groups.empty() || !access.groups.empty()) {
    groups = AccountGroups(uid);
  }
  caller.admin = uid == 0 || uid == geteuid() ||
                 Names(access.admins, caller, uid) ||
                 NamesOneOf(access.admin_groups, groups);
  known.may_connect =
      caller.admin || (access.users.empty() && access.groups.empty()) ||
      Names(access.users, caller, uid) || NamesOneOf(access.groups, groups);
  return known;
}

}  // namespace nanwatch
