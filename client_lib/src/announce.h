// What `nanwatch run` wants to know of the program that it started: that it
// tells the daemon itself, and as which run.

#ifndef NANWATCH_CLIENT_ANNOUNCE_H_
#define NANWATCH_CLIENT_ANNOUNCE_H_

#include <string>

namespace nanwatch_client {

// Adds the run id and a newline to the file at `path` (of NANWATCH_ANNOUNCE, as
// a session is opened), in one write. Does nothing where there is none.
void Announce(const std::string& path, const std::string& run_id);

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_ANNOUNCE_H_
