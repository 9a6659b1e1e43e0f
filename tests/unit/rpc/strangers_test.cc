#include "rpc/strangers.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "net/peer_address.h"

namespace nanwatch {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

class StrangersTest : public testing::Test {
 protected:
  StrangersTest() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* at = reinterpret_cast<sockaddr*>(&address);
    socklen_t bytes = sizeof address;
    EXPECT_EQ(bind(listener, at, bytes), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    getsockname(listener, at, &bytes);
    client_ = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(client_, at, bytes), 0);
    server_ = accept(listener, nullptr, nullptr);
    close(listener);
    from_ = PeerAndPort(server_);
    strangers_.Add(server_);
  }
  ~StrangersTest() override {
    close(client_);
    close(server_);
  }
  // All of it arrives.
  void Send(size_t bytes) {
    std::string some(16 << 10, 'x');
    while (bytes > 0) {
      const size_t size = std::min(bytes, some.size());
      ASSERT_EQ(send(client_, some.data(), size, 0),
                static_cast<ssize_t>(size));
      ASSERT_EQ(recv(server_, some.data(), size, MSG_WAITALL),
                static_cast<ssize_t>(size));
      bytes -= size;
    }
  }

  Strangers strangers_;
  int client_ = -1;
  int server_ = -1;
  std::string from_;
};

TEST_F(StrangersTest, WhoSendsMuchAndSaysNotWhoHeIsFloods) {
  EXPECT_THAT(from_, testing::StartsWith("127.0.0.1:"));
  Send(200 << 10);
  EXPECT_THAT(strangers_.WhoFlood(seconds(1)), IsEmpty());
  Send(100 << 10);
  EXPECT_THAT(strangers_.WhoFlood(seconds(2)), ElementsAre(from_));
  EXPECT_THAT(strangers_.WhoFlood(seconds(2)), IsEmpty()) << "it was said";
}

TEST_F(StrangersTest, WhoSendsAsMuchOverALongTimeDoesNot) {
  for (int i = 1; i < 5; ++i) {
    Send(200 << 10);
    EXPECT_THAT(strangers_.WhoFlood(seconds(11 * i)), IsEmpty());
  }
}

TEST_F(StrangersTest, WhoSaysWhoHeIsMaySendWhatHeLikes) {
  strangers_.Know(from_);
  Send(1 << 20);
  EXPECT_THAT(strangers_.WhoFlood(seconds(1)), IsEmpty());
}

TEST_F(StrangersTest, WhoLeftIsForgotten) {
  Send(300 << 10);
  close(server_);
  server_ = -1;
  EXPECT_THAT(strangers_.WhoFlood(seconds(1)), IsEmpty());
}

}  // namespace
}  // namespace nanwatch
