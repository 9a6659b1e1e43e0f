// Credentials: by what a connection over TCP is encrypted, and who speaks on
// it. What every client does is the same; tests/e2e/test_tls.py holds them
// together.

#ifndef NANWATCH_CLIENT_CREDENTIALS_H_
#define NANWATCH_CLIENT_CREDENTIALS_H_

#include <string>

#include "client_lib/src/identity.h"

namespace nanwatch_client {

// Paths; empty: none.
struct CredentialFiles {
  std::string ca;           // NANWATCH_CA; none: the system's authorities
  std::string certificate;  // NANWATCH_CERT
  std::string key;          // NANWATCH_KEY
  std::string token;        // NANWATCH_TOKEN_FILE
};
CredentialFiles FindCredentialFiles(const Environment& environment);

// What is in them, for one connection.
struct Credentials {
  bool tls = false;
  std::string target;  // the address in gRPC's notation
  std::string ca;
  std::string certificate;
  std::string key;
  std::string token;  // empty: none is said
};

// Reads what `address` asks for: all for "tls://HOST:PORT"; of others a token,
// and only for the loopback, since it would be read on the way. Returns why it
// cannot, a sentence; empty: it could. Read for each connection, so that files
// may change meanwhile.
std::string ReadCredentials(const std::string& address,
                            const CredentialFiles& files, Credentials* to);

// Says what to look at where no connection came to be and gRPC said so much of
// it; empty: that is not known here.
std::string Advice(const Credentials& credentials, const std::string& said);

}  // namespace nanwatch_client

#endif  // NANWATCH_CLIENT_CREDENTIALS_H_
