#include "net/local_user.h"

#include <netinet/in.h>
#include <spdlog/fmt/fmt.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace nanwatch {
namespace {

// One end of a connection, as the kernel writes it: "0100007F:2694".
struct End {
  std::string v4;  // empty: it has none
  std::string v6;
};

using Words = std::array<uint32_t, 4>;

std::string TextOf(const Words& words, in_port_t port) {
  return fmt::format("{:08X}{:08X}{:08X}{:08X}:{:04X}", words[0], words[1],
                     words[2], words[3], ntohs(port));
}

std::string TextOf(uint32_t word, in_port_t port) {
  return fmt::format("{:08X}:{:04X}", word, ntohs(port));
}

End EndOf(const sockaddr_storage& address) {
  const auto mapped = [](uint32_t word, in_port_t port) {
    return End{TextOf(word, port), TextOf({0, 0, htonl(0xffff), word}, port)};
  };
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return mapped(v4.sin_addr.s_addr, v4.sin_port);
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  Words words{};
  std::memcpy(words.data(), &v6.sin6_addr, sizeof words);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
    return mapped(words[3], v6.sin6_port);
  return {"", TextOf(words, v6.sin6_port)};
}

// Of the socket from `from` to `to`, while a program has it: the others are
// root's, whoever had them.
std::optional<uid_t> Look(const char* file, const std::string& from,
                          const std::string& to) {
  std::ifstream sockets(file);
  std::string line;
  while (!from.empty() && std::getline(sockets, line)) {
    std::istringstream words(line);
    std::string number;
    std::string local;
    std::string remote;
    std::string state;
    std::string skipped;
    uid_t uid = 0;
    uint64_t inode = 0;
    words >> number >> local >> remote >> state >> skipped >> skipped >>
        skipped >> uid >> skipped >> inode;
    if (!words || local != from || remote != to) continue;
    constexpr const char* kEstablished = "01";
    if (state == kEstablished && inode != 0) return uid;
  }
  return std::nullopt;
}

}  // namespace

std::optional<uid_t> LocalUser(int fd) {
  sockaddr_storage ours{};
  sockaddr_storage theirs{};
  socklen_t bytes = sizeof ours;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&ours), &bytes) != 0) {
    return std::nullopt;
  }
  bytes = sizeof theirs;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&theirs), &bytes) != 0) {
    return std::nullopt;
  }
  const End from = EndOf(theirs);
  const End to = EndOf(ours);
  const auto found = Look("/proc/self/net/tcp", from.v4, to.v4);
  return found ? found : Look("/proc/self/net/tcp6", from.v6, to.v6);
}

}  // namespace nanwatch
