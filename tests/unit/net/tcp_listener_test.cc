#include "net/tcp_listener.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <future>

namespace nanwatch {
namespace {

using testing::HasSubstr;

constexpr auto kLong = std::chrono::seconds(10);

Result<std::unique_ptr<TcpListener>> ListenAt(const std::string& address) {
  return TcpListener::Listen(*ParseTcpAddress(address), SIZE_MAX);
}

int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address),
            0);
  return fd;
}

int OptionOf(int fd, int level, int option) {
  int value = 0;
  socklen_t bytes = sizeof value;
  getsockopt(fd, level, option, &value, &bytes);
  return value;
}

TEST(TcpListenerTest, HandsConnectionsOnThatEndWithTheirHost) {
  for (const char* address : {"127.0.0.1:0", "0.0.0.0:0", "[::]:0"}) {
    auto listener = ListenAt(address);
    ASSERT_TRUE(listener.ok()) << listener.error();
    std::promise<int> came;
    (*listener)->Start([&](int fd) { came.set_value(fd); });
    const int client = Connect((*listener)->port());
    auto taken = came.get_future();
    ASSERT_EQ(taken.wait_for(kLong), std::future_status::ready);
    const int fd = taken.get();
    EXPECT_EQ(OptionOf(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(OptionOf(fd, IPPROTO_TCP, TCP_KEEPIDLE), 60);
    EXPECT_EQ(OptionOf(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 120'000);
    EXPECT_EQ(OptionOf(fd, IPPROTO_TCP, TCP_NODELAY), 1);
    close(fd);
    close(client);
  }
}

TEST(TcpListenerTest, SaysWhatStandsInTheWay) {
  const auto listener = ListenAt("127.0.0.1:0");
  ASSERT_TRUE(listener.ok()) << listener.error();
  const auto taken =
      ListenAt("127.0.0.1:" + std::to_string((*listener)->port()));
  ASSERT_FALSE(taken.ok());
  EXPECT_THAT(taken.error(), HasSubstr("choose another port"));
  // Of no machine (RFC 5737).
  const auto foreign = ListenAt("192.0.2.1:0");
  ASSERT_FALSE(foreign.ok());
  EXPECT_THAT(foreign.error(), HasSubstr("choose another address"));
}

TEST(AcceptorTest, RefusesWhereOthersNeedTheFiles) {
  const auto listener = ListenAt("127.0.0.1:0");
  ASSERT_TRUE(listener.ok()) << listener.error();
  const int listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  ASSERT_EQ(listen(listening, 8), 0);
  sockaddr_in bound{};
  socklen_t bytes = sizeof bound;
  getsockname(listening, reinterpret_cast<sockaddr*>(&bound), &bytes);
  auto acceptor = Acceptor::Make(listening, "here", /*files=*/3);
  ASSERT_TRUE(acceptor.ok()) << acceptor.error();
  std::atomic<int> taken = 0;
  (*acceptor)->Start([&](int fd) {
    ++taken;
    close(fd);
  });
  const int client = Connect(ntohs(bound.sin_port));
  const timeval limit{10, 0};
  setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte = 0;
  EXPECT_EQ(recv(client, &byte, 1, 0), 0) << "closed";
  (*acceptor)->Stop();
  EXPECT_EQ(taken, 0);
  close(client);
  acceptor->reset();
  close(listening);
}

}  // namespace
}  // namespace nanwatch
