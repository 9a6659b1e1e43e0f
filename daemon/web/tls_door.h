// TlsDoor: how HTTP speaks TLS. At each handshake it looks whether its files
// have changed: connections that stand go on with what they had.

#ifndef NANWATCH_WEB_TLS_DOOR_H_
#define NANWATCH_WEB_TLS_DOOR_H_

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "net/tls_files.h"
#include "web/options.h"

namespace nanwatch {

class TlsDoor {
 public:
  // An error says what is wrong with which file.
  static Result<std::unique_ptr<TlsDoor>> Make(const WebProtection& protection);

  // For one more connection, which holds on to it. Any thread.
  std::shared_ptr<SSL_CTX> Context();

 private:
  TlsDoor(const WebProtection& protection, std::unique_ptr<TlsFiles> files)
      : protection_(protection), files_(std::move(files)) {}
  Status Renew(const TlsTexts& texts) REQUIRES_LOCK(mutex_);

  const WebProtection protection_;
  const std::unique_ptr<TlsFiles> files_;
  Mutex mutex_;
  std::shared_ptr<SSL_CTX> context_ GUARDED_BY(mutex_);
};

// The names of a certificate that a client showed and that was verified: DNS
// names, e-mail addresses, IP addresses and URIs (SAN), in this order of kinds:
// e-mail, URI, DNS, IP. Empty: it showed none.
std::vector<std::string> NamesOfClient(const SSL* connection);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_TLS_DOOR_H_
