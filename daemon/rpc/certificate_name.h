// What a caller's certificate says over gRPC.

#ifndef NANWATCH_RPC_CERTIFICATE_NAME_H_
#define NANWATCH_RPC_CERTIFICATE_NAME_H_

#include <grpcpp/security/auth_context.h>

#include <optional>
#include <string>

#include "base/time.h"

namespace nanwatch {

// Reads the name out of the certificate of a caller: of its alternative names
// (SAN) the first e-mail address, else the first URI, else the first DNS name.
// nullopt: it has none that is a name here, or there is no certificate.
std::optional<std::string> NameOfCertificate(const grpc::AuthContext& context);

// True where it has expired since the handshake, or was not looked at in one:
// OpenSSL resumes a session for two hours without.
bool CertificateExpired(const grpc::AuthContext& context, Time now);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_CERTIFICATE_NAME_H_
