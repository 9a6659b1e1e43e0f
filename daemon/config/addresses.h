// Where daemon, clients and commands meet when nobody says where.

#ifndef NANWATCH_CONFIG_ADDRESSES_H_
#define NANWATCH_CONFIG_ADDRESSES_H_

#include <sys/types.h>

#include <functional>
#include <string>

namespace nanwatch {

// A variable's value; empty: not set.
using Environment = std::function<std::string(const char* name)>;
Environment ProcessEnvironment();

// As a systemd unit $RUNTIME_DIRECTORY/ingest.sock (/run/nanwatch), as root
// /run/nanwatch/ingest.sock, else $XDG_RUNTIME_DIR/nanwatch/ingest.sock.
// Without that variable /tmp/nanwatch-UID/ingest.sock: clients do not look
// there by themselves, they need NANWATCH_ADDRESS.
std::string DefaultSocketPath(const Environment& environment, uid_t user);

// $STATE_DIRECTORY, as root /var/lib/nanwatch, $XDG_STATE_HOME/nanwatch,
// ~/.local/state/nanwatch or /tmp/nanwatch-UID; the file is history.db.
std::string DefaultHistoryPath(const Environment& environment, uid_t user);

// For commands, in gRPC's notation ("unix:..."): NANWATCH_ADDRESS, else the
// first of the user's and the system's socket that exists, else the user's.
std::string FindDaemon();

}  // namespace nanwatch

#endif  // NANWATCH_CONFIG_ADDRESSES_H_
