#include "rpc/certificate_name.h"

#include <grpc/grpc_security_constants.h>

#include <vector>

#include "model/network_name.h"
#include "net/tls_files.h"

namespace nanwatch {

std::optional<std::string> NameOfCertificate(const grpc::AuthContext& context) {
  for (const char* kind :
       {GRPC_PEER_EMAIL_PROPERTY_NAME, GRPC_PEER_URI_PROPERTY_NAME,
        GRPC_PEER_DNS_PROPERTY_NAME}) {
    const std::vector<grpc::string_ref> names =
        context.FindPropertyValues(kind);
    if (names.empty()) continue;
    std::string name(names[0].data(), names[0].size());
    if (!IsNetworkName(name)) return std::nullopt;
    return name;
  }
  return std::nullopt;
}

bool CertificateExpired(const grpc::AuthContext& context, Time now) {
  const std::vector<grpc::string_ref> shown =
      context.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (shown.empty()) return false;
  const auto valid = ValidityOf(std::string(shown[0].data(), shown[0].size()));
  return !valid || valid->end <= now;
}

}  // namespace nanwatch
