// Names by which callers over TCP are known: a token's, or a certificate's.

#ifndef NANWATCH_RPC_NETWORK_NAME_H_
#define NANWATCH_RPC_NETWORK_NAME_H_

#include <grpcpp/security/auth_context.h>

#include <optional>
#include <string>
#include <string_view>

namespace nanwatch {

// The longest label of a host has 63 bytes, of an e-mail's local part 64. Ours.
inline constexpr size_t kNetworkNameBytes = 128;
inline constexpr std::string_view kNetworkNameMarks = "._@:/+-";

// True for what may be shown as it is, and is no "uid 1000".
bool IsNetworkName(std::string_view name);

// Reads the name out of the certificate of a caller: of its alternative names
// (SAN) the first e-mail address, else the first URI, else the first DNS name.
// nullopt: it has none that is a name here, or there is no certificate.
std::optional<std::string> NameOfCertificate(const grpc::AuthContext& context);

}  // namespace nanwatch

#endif  // NANWATCH_RPC_NETWORK_NAME_H_
