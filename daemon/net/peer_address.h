// The other end of a TCP connection.

#ifndef NANWATCH_NET_PEER_ADDRESS_H_
#define NANWATCH_NET_PEER_ADDRESS_H_

#include <string>

namespace nanwatch {

// "10.1.2.3", "fe80::1"; an IPv4 address behind IPv6 as IPv4. Empty: it is
// gone.
std::string PeerAddress(int fd);
// "10.1.2.3:4711", "[fe80::1]:4711". Empty: it is gone, or no TCP.
std::string PeerAndPort(int fd);

}  // namespace nanwatch

#endif  // NANWATCH_NET_PEER_ADDRESS_H_
