#include "net/local_user.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace nanwatch {
namespace {

// A connection on this machine: the client's end speaks `client`, what listens
// speaks `server`, IPv4 or IPv6.
class Pair {
 public:
  Pair(int client, int server) {
    const int listener = socket(server, SOCK_STREAM, 0);
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_addr = client == AF_INET ? in6addr_any : in6addr_loopback;
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* at = server == AF_INET ? reinterpret_cast<sockaddr*>(&four)
                                       : reinterpret_cast<sockaddr*>(&six);
    const socklen_t size = server == AF_INET ? sizeof four : sizeof six;
    if (bind(listener, at, size) != 0 || listen(listener, 1) != 0) return;
    sockaddr_storage bound{};
    socklen_t bytes = sizeof bound;
    getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &bytes);
    four.sin_port = six.sin6_port =
        reinterpret_cast<sockaddr_in*>(&bound)->sin_port;
    six.sin6_addr = in6addr_loopback;
    theirs_ = socket(client, SOCK_STREAM, 0);
    const auto* to = client == AF_INET ? reinterpret_cast<sockaddr*>(&four)
                                       : reinterpret_cast<sockaddr*>(&six);
    if (connect(theirs_, to, client == AF_INET ? sizeof four : sizeof six) ==
        0) {
      ours_ = accept(listener, nullptr, nullptr);
    }
    close(listener);
  }
  ~Pair() {
    close(ours_);
    CloseTheirs();
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  void CloseTheirs() {
    close(theirs_);
    theirs_ = -1;
  }
  int ours() const { return ours_; }

 private:
  int theirs_ = -1;
  int ours_ = -1;
};

TEST(LocalUserTest, IsWhoMadeTheSocketAsLongAsHeHasIt) {
  for (const auto& [client, server] :
       {std::pair(AF_INET, AF_INET), std::pair(AF_INET, AF_INET6),
        std::pair(AF_INET6, AF_INET6)}) {
    Pair pair(client, server);
    if (pair.ours() < 0 && server == AF_INET6) continue;  // there is no IPv6
    ASSERT_GE(pair.ours(), 0);
    EXPECT_EQ(LocalUser(pair.ours()), geteuid()) << client << ' ' << server;
    // Whose it was, the kernel says it is root's.
    pair.CloseTheirs();
    EXPECT_EQ(LocalUser(pair.ours()), std::nullopt);
  }
}

TEST(LocalUserTest, WhatIsNoConnectionIsNobodys) {
  int tube[2];
  ASSERT_EQ(pipe(tube), 0);
  EXPECT_EQ(LocalUser(tube[0]), std::nullopt);
  EXPECT_EQ(LocalUser(-1), std::nullopt);
  close(tube[0]);
  close(tube[1]);
}

}  // namespace
}  // namespace nanwatch
