#include "net/authorities.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

namespace nanwatch {
namespace {

// A program may run on another distribution than the one whose libraries it
// brings. The list of gRPC's core (load_system_roots_supported.cc) and of Go's
// crypto/x509 (root_linux.go).
constexpr std::array kUsual = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL 6
    "/etc/ssl/ca-bundle.pem",                             // openSUSE
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL, openEuler
    "/etc/ssl/cert.pem",                                  // Alpine
};

}  // namespace

std::span<const char* const> UsualAuthorities() { return kUsual; }

std::string AuthoritiesFile(std::span<const char* const> usual) {
  const char* const named = std::getenv("SSL_CERT_FILE");
  if (named != nullptr && *named != '\0') return named;
  for (const char* const path : usual) {
    if (access(path, R_OK) == 0) return path;
  }
  return {};
}

}  // namespace nanwatch
