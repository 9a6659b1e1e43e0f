#include "rpc/network_name.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <vector>

namespace nanwatch {

bool IsNetworkName(std::string_view name) {
  return !name.empty() && name.size() <= kNetworkNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') ||
                  kNetworkNameMarks.find(c) != std::string_view::npos;
         });
}

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

}  // namespace nanwatch
