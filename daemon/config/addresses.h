// Where daemon, clients and commands meet when nobody says where.

#ifndef NANWATCH_CONFIG_ADDRESSES_H_
#define NANWATCH_CONFIG_ADDRESSES_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace nanwatch {

// A variable's value; empty: not set.
using Environment = std::function<std::string(const char* name)>;
Environment ProcessEnvironment();

// As a systemd unit $RUNTIME_DIRECTORY/ingest.sock (/run/nanwatch), as root
// /run/nanwatch/ingest.sock, else $XDG_RUNTIME_DIR/nanwatch/ingest.sock.
// Without that variable /tmp/nanwatch-UID/ingest.sock.
std::string DefaultSocketPath(const Environment& environment, uid_t user);

// $STATE_DIRECTORY, as root /var/lib/nanwatch, $XDG_STATE_HOME/nanwatch,
// ~/.local/state/nanwatch or /tmp/nanwatch-UID; the file is history.db.
std::string DefaultHistoryPath(const Environment& environment, uid_t user);

// What a person may say, in gRPC's notation: "/path" is "unix:/path", the rest
// stays as it is. The client library reads NANWATCH_ADDRESS in the same way.
std::string DaemonAddress(const std::string& said);

// Where commands and clients look, in gRPC's notation, the best first:
// NANWATCH_ADDRESS alone; else the user's sockets, and the system's. The table
// that both obey is tests/unit/client/address_table.txt.
std::vector<std::string> DaemonAddresses(const Environment& environment,
                                         uid_t user);

// For commands: the first of this process' DaemonAddresses that exists, else
// $XDG_RUNTIME_DIR's, else the system's. One in /tmp only in a folder of the
// user's own.
std::string FindDaemon();

}  // namespace nanwatch

#endif  // NANWATCH_CONFIG_ADDRESSES_H_
