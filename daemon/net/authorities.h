// The authorities that a server's certificate is checked by.

#ifndef NANWATCH_NET_AUTHORITIES_H_
#define NANWATCH_NET_AUTHORITIES_H_

#include <span>
#include <string>

namespace nanwatch {

// Where distributions keep them, each in one file.
std::span<const char* const> UsualAuthorities();

// Returns the file with the system's authorities: SSL_CERT_FILE, else the first
// of `usual` that is there; empty: none is.
std::string AuthoritiesFile(std::span<const char* const> usual);

}  // namespace nanwatch

#endif  // NANWATCH_NET_AUTHORITIES_H_
