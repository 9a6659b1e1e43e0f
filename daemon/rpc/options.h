// Where the daemon listens for gRPC, and who may do what.

#ifndef NANWATCH_RPC_OPTIONS_H_
#define NANWATCH_RPC_OPTIONS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "model/limits.h"
#include "model/quotas.h"
#include "net/tls_files.h"

namespace nanwatch {

// Users are accounts, or numbers ("1000"); so are groups, of which the name
// service says the members.
struct AccessOptions {
  // Who may change every run, beside root and the daemon's own user.
  std::vector<std::string> admins;
  std::vector<std::string> admin_groups;
  // Who may connect, beside those; both empty: whoever the socket lets in.
  std::vector<std::string> users;
  std::vector<std::string> groups;
  // Who may, as an admin may, open sessions for the owners that it names.
  std::vector<std::string> relays;
  // False: a run is shown to its owner and to admins.
  bool read_by_everyone = true;
};

struct RpcOptions {
  // Path of the unix socket; empty: none.
  std::string socket_path;
  // Who may connect, as for a file; read and write are one.
  unsigned socket_mode = 0660;
  // Name of the socket's group; empty: the process's.
  std::string socket_group;
  // "127.0.0.1:9766", port 0 for any; empty (the default): no TCP. Without
  // `tls` only loopback addresses.
  std::string tcp_address;
  TlsOptions tls;
  // A file of tokens by which callers over TCP say who they are (tokens.h);
  // empty: none.
  std::string tokens;
  // Without `tls`: callers over TCP are not asked who they are.
  bool tcp_anonymous = false;
  AccessOptions access;
  UserQuotas quotas;
  // Resident memory from which on openings and names of ops are refused; from
  // an eighth more on, records are, too.
  size_t memory_bytes = limits::kResidentBytes;
};

}  // namespace nanwatch

#endif  // NANWATCH_RPC_OPTIONS_H_
