// TlsDoor: how HTTP speaks TLS. At each handshake it looks whether its files
// have changed: connections that stand go on with what they had.

#ifndef NANWATCH_WEB_TLS_DOOR_H_
#define NANWATCH_WEB_TLS_DOOR_H_

#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "model/self_sample.h"
#include "net/tls_files.h"
#include "web/options.h"

namespace nanwatch {

class TlsDoor {
 public:
  // An error says what is wrong with which file.
  static Result<std::unique_ptr<TlsDoor>> Make(const WebProtection& protection);

  // For one more connection, which holds on to it. Any thread.
  std::shared_ptr<SSL_CTX> Context();
  // How long what it shows is valid. Any thread.
  void AppendSamples(std::vector<SelfSample>* samples) const;

 private:
  TlsDoor(const WebProtection& protection, std::unique_ptr<TlsFiles> files)
      : protection_(protection), files_(std::move(files)) {}
  Status Renew(const TlsTexts& texts) REQUIRES_LOCK(mutex_);

  const WebProtection protection_;
  const std::unique_ptr<TlsFiles> files_;
  Mutex mutex_;
  std::shared_ptr<SSL_CTX> context_ GUARDED_BY(mutex_);
};

// The name in a certificate that a client showed and that was verified: the
// first of its e-mail addresses, else of its URIs, else of its DNS names (SAN);
// empty: it has none. nullopt: there is no such certificate.
std::optional<std::string> NameOfClient(const SSL* connection);

}  // namespace nanwatch

#endif  // NANWATCH_WEB_TLS_DOOR_H_
