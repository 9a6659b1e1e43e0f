// TlsFiles: the server's certificate and key, and whom clients' certificates
// come from. Read again when a file changes.

#ifndef NANWATCH_RPC_TLS_FILES_H_
#define NANWATCH_RPC_TLS_FILES_H_

#include <string>

#include "base/result.h"
#include "rpc/options.h"

namespace nanwatch {

// PEM.
struct TlsTexts {
  std::string certificate;  // with those between it and its authority
  std::string key;
  std::string client_ca;  // empty: clients' certificates are not asked for
  bool operator==(const TlsTexts&) const = default;
};

// Reads the files and tries them: the key belongs to the certificate, and each
// holds what it should. An error names the file.
Result<TlsTexts> ReadTls(const TlsOptions& options);

// Changes when one of the files does.
std::string TlsStamp(const TlsOptions& options);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_TLS_FILES_H_
