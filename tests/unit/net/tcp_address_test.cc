#include "net/tcp_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nanwatch {
namespace {

using testing::HasSubstr;

TEST(TcpAddressTest, KnowsTheLoopback) {
  EXPECT_EQ(ParseTcpAddress("localhost:9766")->host, "127.0.0.1");
  EXPECT_EQ(ParseTcpAddress("127.9.9.9:0")->port, 0);
  EXPECT_EQ(ParseTcpAddress("[::1]:1")->host, "[::1]");
  for (const char* here : {"localhost:1", "127.9.9.9:1", "[::1]:1"}) {
    EXPECT_TRUE(ParseTcpAddress(here)->loopback) << here;
  }
  for (const char* open : {"0.0.0.0:1", "10.0.0.1:1", "[::]:1", "[fe80::1]:1",
                           "[::2]:1", "128.0.0.1:1"}) {
    EXPECT_FALSE(ParseTcpAddress(open)->loopback) << open;
  }
}

TEST(TcpAddressTest, TakesAddressesOfMachinesOnly) {
  for (const char* wrong :
       {"", "9766", "127.0.0.1", "127.0.0.1:", ":1", "127.0.0.1:65536",
        "127.0.0.1:-1", "127.0.0.1:1x", "node-4:9766", "::1:9766", "[::1:1",
        "[127.0.0.1]:1", "127.1:1"}) {
    const auto parsed = ParseTcpAddress(wrong);
    ASSERT_FALSE(parsed.ok()) << wrong;
    EXPECT_THAT(parsed.error(), HasSubstr("write IP-ADDRESS:PORT"));
  }
}

}  // namespace
}  // namespace nanwatch
