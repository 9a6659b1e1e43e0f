// ClientSecrets: by what a command's connection is encrypted, and who speaks on
// it. The training clients do the same (client_lib/src/credentials.h).

#ifndef NANWATCH_RPC_CLIENT_SECRETS_H_
#define NANWATCH_RPC_CLIENT_SECRETS_H_

#include <functional>
#include <string>
#include <string_view>

namespace nanwatch {

struct ClientSecrets {
  bool tls = false;
  std::string target;  // the address in gRPC's notation
  std::string ca;      // PEM; empty: the system's authorities
  std::string certificate;
  std::string key;
  std::string token;    // empty: none is said
  std::string problem;  // why what was named cannot be used; empty: it can
};

// For "tls://HOST:PORT" all that NANWATCH_CA, NANWATCH_CERT, NANWATCH_KEY and
// NANWATCH_TOKEN_FILE name; for the loopback the token; for others nothing.
ClientSecrets ReadClientSecrets(
    const std::string& address,
    const std::function<std::string(const std::string&)>& environment);

// Says what to look at where no connection came to be and gRPC said so much of
// it; empty: that is not known here.
std::string Advice(const ClientSecrets& secrets, std::string_view said);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_CLIENT_SECRETS_H_
