#include "web/host_guard.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

TEST(HostGuard, LetsOwnNamesAndAddressesIn) {
  for (const char* host :
       {"", "localhost", "LocalHost:9765", "127.0.0.1", "10.1.2.3:80",
        "[::1]:9765", "[fe80::1]", "node7", "NODE7:9765"}) {
    EXPECT_TRUE(HostMayEnter(host, {"node7"})) << host;
  }
}

TEST(HostGuard, KeepsForeignNamesOut) {
  for (const char* host :
       {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
        "node7.evil.example:9765", "[evil]", "[", ":9765x", "1.2.3"}) {
    EXPECT_FALSE(HostMayEnter(host, {"node7"})) << host;
  }
}

}  // namespace
}  // namespace nanwatch
