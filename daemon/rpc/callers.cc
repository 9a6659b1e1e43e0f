#include "rpc/callers.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "rpc/account.h"
#include "rpc/certificate_name.h"
#include "rpc/peer.h"

namespace nanwatch {
namespace {

constexpr std::string_view kHandedOn = "fd:";
// RFC 6750.
constexpr std::string_view kBearer = "Bearer ";
// Users of one machine, 200 B each; beyond, all are looked up anew. Ours.
constexpr size_t kUsersKnown = 4096;

std::optional<int> DescriptorOf(std::string_view peer) {
  if (!peer.starts_with(kHandedOn)) return std::nullopt;
  const char* const end = peer.data() + peer.size();
  int fd = -1;
  const auto [stop, error] =
      std::from_chars(peer.data() + kHandedOn.size(), end, fd);
  if (error != std::errc() || stop != end || fd < 0) return std::nullopt;
  return fd;
}

// gRPC's "ipv4:10.1.2.3:41000" and "ipv6:%5B::1%5D:41000" as people write it.
std::string PlainAddress(std::string_view peer) {
  std::string address(peer.substr(peer.find(':') + 1));
  for (const auto& [coded, plain] :
       {std::pair("%5B", "["), std::pair("%5D", "]"), std::pair("%25", "%")}) {
    const size_t at = address.find(coded);
    if (at != std::string::npos) address.replace(at, 3, plain);
  }
  return address;
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

Callers::Callers(AccessOptions access, TcpCallers tcp)
    : tokens_(tcp.tokens),
      tcp_(std::move(tcp)),
      access_(std::move(access)),
      read_by_everyone_(access_.read_by_everyone) {}

void Callers::Set(AccessOptions access) {
  MutexLock lock(mutex_);
  access_ = std::move(access);
  known_.clear();
  read_by_everyone_ = access_.read_by_everyone;
  edition_.fetch_add(1, std::memory_order_release);
}

Identity Callers::Identify(const grpc::ServerContextBase& context) {
  const auto& headers = context.client_metadata();
  const auto said = headers.find("authorization");
  std::optional<std::string> certificate;
  bool expired = false;
  const auto about = context.auth_context();
  if (about != nullptr && about->IsPeerAuthenticated()) {
    certificate = NameOfCertificate(*about).value_or("");
    expired = CertificateExpired(*about, SystemClock().Now());
  }
  return Identify(context.peer(),
                  said == headers.end() ? std::string_view()
                                        : std::string_view(said->second.data(),
                                                           said->second.size()),
                  std::move(certificate), expired);
}

Identity Callers::Identify(std::string_view peer, std::string_view said,
                           std::optional<std::string> certificate,
                           bool expired) {
  Identity identity;
  if (const std::optional<int> fd = DescriptorOf(peer)) {
    const Result<Peer> user = ReadPeer(*fd);
    if (user) {
      identity.uid = user->uid;
      identity.from = "pid " + std::to_string(user->pid);
      identity.refused = WhyNot(identity);
    } else {
      identity.refused = user.error();
    }
  } else {
    identity = IdentifyTcp(said, std::move(certificate), expired);
    identity.from = PlainAddress(peer);
    if (identity.refused.empty() && known_caller_) known_caller_(identity.from);
  }
  if (!identity.refused.empty() && told_) told_(peer, identity);
  return identity;
}

Identity Callers::IdentifyTcp(std::string_view said,
                              std::optional<std::string> certificate,
                              bool expired) {
  if (tcp_.anonymous) return {};
  Identity identity;
  if (expired) {
    identity.refused = "the certificate has expired: connect with a new one";
  } else if (said.starts_with(kBearer)) {
    said.remove_prefix(kBearer.size());
    identity.by_token = true;
    identity.name = tokens_.NameOf(said).value_or("");
    if (identity.name.empty()) {
      identity.refused =
          "the token is not known here: ask for a new one, or look whether "
          "NANWATCH_TOKEN_FILE is the right file";
    }
  } else if (certificate) {
    identity.name = *certificate;
    if (identity.name.empty()) {
      identity.refused =
          "the certificate has no name that counts here: an e-mail address, "
          "a URI or a DNS name among its alternative names (SAN)";
    }
  } else {
    identity.refused =
        "this daemon asks who you are: set NANWATCH_TOKEN_FILE, or "
        "NANWATCH_CERT and NANWATCH_KEY";
  }
  if (identity.refused.empty()) identity.refused = WhyNot(identity);
  return identity;
}

bool Callers::StillIn(std::string_view peer, Identity* identity) {
  identity->refused = WhyNot(*identity);
  if (identity->refused.empty()) return true;
  if (told_) told_(peer, *identity);
  return false;
}

std::string Callers::WhyNot(const Identity& identity) {
  if (identity.uid) {
    return MayConnect(*identity.uid)
               ? ""
               : "not among access.users and access.groups";
  }
  if (identity.by_token && !tokens_.Has(identity.name)) {
    return "no token is of " + identity.name + " any more";
  }
  return identity.name.empty() ? "" : WhyNot(identity.name);
}

std::string Callers::WhyNot(const std::string& name) const {
  MutexLock lock(mutex_);
  const auto among = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  if ((access_.users.empty() && access_.groups.empty()) ||
      among(access_.users) || among(access_.admins)) {
    return "";
  }
  return name + " is not among access.users";
}

Result<Caller> Callers::OfName(const std::string& name) const {
  if (std::string why = WhyNot(name); !why.empty()) return Error{why};
  Identity identity;
  identity.name = name;
  return Of(identity);
}

Caller Callers::Of(const Identity& identity) const {
  Caller caller;
  if (identity.uid) {
    caller = OfUser(*identity.uid);
  } else if (!identity.name.empty()) {
    MutexLock lock(mutex_);
    const std::vector<std::string>& admins = access_.admins;
    caller.name = caller.number = identity.name;
    caller.admin =
        std::find(admins.begin(), admins.end(), identity.name) != admins.end();
  }
  caller.from = identity.from;
  return caller;
}

Caller Callers::OfUser(uid_t uid) const { return Look(uid).caller; }

bool Callers::MayConnect(uid_t uid) const { return Look(uid).may_connect; }

bool Callers::MayRelay(const Identity& identity) const {
  const Caller caller = Of(identity);
  if (caller.admin) return true;
  MutexLock lock(mutex_);
  const std::vector<std::string>& relays = access_.relays;
  return std::any_of(relays.begin(), relays.end(), [&](const auto& one) {
    return one == caller.name ||
           (identity.uid && one == std::to_string(*identity.uid));
  });
}

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
  if (known_.size() >= kUsersKnown) known_.clear();
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
