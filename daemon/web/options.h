// WebOptions, and where the HTTP side listens.

#ifndef NANWATCH_WEB_OPTIONS_H_
#define NANWATCH_WEB_OPTIONS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "net/tls_files.h"

namespace nanwatch {

// What web.config_file says, the file that exporters share: TLS, users,
// headers.
struct WebProtection {
  enum class ClientCertificate { kNone, kIfGiven, kNeeded };

  TlsOptions tls;
  ClientCertificate client = ClientCertificate::kNone;
  // A client's certificate has one of these alternative names (SAN); empty:
  // any.
  std::vector<std::string> allowed_sans;
  // In OpenSSL's words; 0 and empty: its own choice.
  int min_version = 0;
  int max_version = 0;
  std::string ciphers;  // of TLS 1.2
  std::string groups;
  bool server_prefers = true;  // its order of `ciphers` goes before a client's
  // Added to each reply; in place of ours, where we send one of that name.
  std::vector<std::pair<std::string, std::string>> headers;
  std::map<std::string, std::string> users;  // name -> bcrypt

  bool encrypts() const { return !tls.certificate.empty(); }
  // Everybody who gets an answer has said who he is.
  bool asks() const {
    return !users.empty() || client == ClientCertificate::kNeeded;
  }
};

struct WebOptions {
  // ADDRESS:PORT, [ADDRESS]:PORT for IPv6; port 0: any free one. Empty: no HTTP
  // at all. The default is inside the range that Prometheus exporters share
  // (9100 to 9999).
  std::string listen = "127.0.0.1:9765";
  // Names under which a browser or scraper may call, beside localhost, this
  // machine's own name and plain IP addresses.
  std::vector<std::string> allowed_hosts;
  // Requests answered at once; others wait. 1 .. 64.
  int threads = 4;
  // Whether browsers may acknowledge and mute. Where nobody is asked who he is,
  // those on this machine alone: what nobody owns, and the daemon's own user
  // his.
  bool annotations = true;
  // A client that has not sent its request, or reads nothing of the reply, for
  // so long is cut off. Short, since requests are one packet and whoever holds
  // the connection open holds one of the connections served at once, which are
  // `threads` and 128 more. 1 .. 300.
  int timeout_seconds = 2;
  std::string config_file;  // of `protection`; empty: none
  WebProtection protection;
  // Listens beyond the loopback, whatever `protection` lacks.
  bool insecure = false;
};

}  // namespace nanwatch

#endif  // NANWATCH_WEB_OPTIONS_H_
