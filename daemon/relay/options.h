// Which daemon hears of all that this one keeps.

#ifndef NANWATCH_RELAY_OPTIONS_H_
#define NANWATCH_RELAY_OPTIONS_H_

#include <string>

#include "base/time.h"

namespace nanwatch {

struct RelayOptions {
  // "tls://HOST:PORT", "HOST:PORT" on the loopback, "unix:/PATH"; empty: none.
  std::string address;
  // Files, as the clients' NANWATCH_CA, _CERT, _KEY and _TOKEN_FILE.
  std::string ca;
  std::string cert;
  std::string key;
  std::string token_file;
  // How long the upstream is away until this daemon itself tells people. Twice
  // what a restart may take (60 s). Ours.
  Duration notify_after = std::chrono::minutes(2);
};

}  // namespace nanwatch

#endif  // NANWATCH_RELAY_OPTIONS_H_
