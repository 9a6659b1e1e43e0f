// Identity: which run, which attempt and which rank this process is, from the
// call and the environment. The table of cases that every client obeys is
// tests/unit/client/identity_table.txt.

#ifndef NANWATCH_CLIENT_IDENTITY_H_
#define NANWATCH_CLIENT_IDENTITY_H_

#include <nanwatch.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nanwatch_client {

// Value of an environment variable; null when it is not set.
using Environment = std::function<const char*(const char* name)>;

struct Identity {
  std::string run_id;              // empty: the daemon makes one
  std::optional<int32_t> attempt;  // nullopt: the daemon counts
  int32_t rank = 0;
  int32_t local_rank = 0;
  int32_t world_size = 1;  // always more than `rank`
  // No run id although there are other ranks: they cannot be brought together.
  bool run_id_guessed = false;
  std::string job;  // of the environment; empty: not said
  // Of Kubernetes' downward API; empty: not said.
  std::string pod;
  std::string name_space;
  std::string node;
};

Identity FindIdentity(const nanwatch_run_options& options,
                      const Environment& environment);

// Where to look for the daemon, in gRPC's notation, best first. A call or
// NANWATCH_ADDRESS names one daemon: no other is tried then. What every client
// and command obeys is tests/unit/client/address_table.txt.
std::vector<std::string> FindAddresses(const char* address,
                                       const Environment& environment,
                                       uid_t user);

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_IDENTITY_H_
