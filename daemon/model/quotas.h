// Quotas: what one user may have of the daemon at once.

#ifndef NANWATCH_MODEL_QUOTAS_H_
#define NANWATCH_MODEL_QUOTAS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "model/limits.h"

namespace nanwatch {

// Of an account, or of a name over TCP; callers without a name are one user.
struct Quotas {
  size_t runs = limits::UserShare(limits::kRuns);       // attempts held
  size_t sessions = limits::UserShare(limits::kRanks);  // ranks of those
  // Of names of ops, as limits::kOpBytes counts.
  size_t op_bytes = limits::UserShare(limits::kOpBytes);
  // Of what runs say of themselves, as limits::kRunBytes counts.
  size_t run_bytes = limits::UserShare(limits::kRunBytes);
  // Of gRPC: on the unix socket of a user, over TCP of an address.
  size_t connections = limits::UserShare(limits::kStreams);
  size_t streams = limits::UserShare(limits::kStreams);
  // Calls of a kind at once; of no kind more than UserShare of its places.
  size_t queries = limits::UserShare(limits::kWatchers);
  int64_t bytes_per_second = limits::kUserBytesPerSecond;
};

// As for who judges what is recorded: there is one user, and nobody else.
inline constexpr Quotas kNoQuotas{
    .runs = SIZE_MAX,
    .sessions = SIZE_MAX,
    .op_bytes = SIZE_MAX,
    .run_bytes = SIZE_MAX,
    .connections = SIZE_MAX,
    .streams = SIZE_MAX,
    .queries = SIZE_MAX,
    .bytes_per_second = int64_t{1} << 50,
};

struct UserQuotas {
  Quotas each;
  std::map<std::string, Quotas, std::less<>> users;  // who has others

  const Quotas& Of(std::string_view user) const {
    const auto found = users.find(user);
    return found == users.end() ? each : found->second;
  }
};

// "user ann", or "callers without a name".
inline std::string QuotaHolder(std::string_view user) {
  return user.empty() ? "callers without a name" : "user " + std::string(user);
}

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_QUOTAS_H_
