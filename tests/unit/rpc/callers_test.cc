#include "rpc/callers.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "rpc/account.h"

namespace nanwatch {
namespace {

// Of nobody on this machine.
constexpr uid_t kStranger = 3'999'999'999;

TEST(CallersTest, AsksTheKernelWhoseADescriptorIs) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const Callers callers({});
  const Caller caller = callers.Of("fd:" + std::to_string(pair[0]));
  const std::string number = "uid " + std::to_string(geteuid());
  EXPECT_EQ(caller.number, number);
  EXPECT_EQ(caller.name, AccountName(geteuid()).value_or(number));
  EXPECT_TRUE(caller.admin);
  close(pair[0]);
  close(pair[1]);
}

TEST(CallersTest, WhoIsNoUnixSocketIsNobody) {
  const Callers callers({"root"});
  int tube[2];
  ASSERT_EQ(pipe(tube), 0);
  for (const std::string& peer :
       {std::string("ipv4:127.0.0.1:4242"), std::string("ipv6:[::1]:4242"),
        std::string("unix:"), std::string(), std::string("fd:"),
        std::string("fd:x"), std::string("fd:-1"), std::string("fd:1x"),
        std::string("fd:99999999999"), "fd:" + std::to_string(tube[0])}) {
    const Caller caller = callers.Of(peer);
    EXPECT_EQ(caller.name, "") << peer;
    EXPECT_FALSE(caller.admin) << peer;
  }
  close(tube[0]);
  close(tube[1]);
}

TEST(CallersTest, RootTheDaemonsUserAndThoseOfTheListAreAdmins) {
  EXPECT_TRUE(Callers({}).OfUser(0).admin);
  EXPECT_TRUE(Callers({}).OfUser(geteuid()).admin);
  EXPECT_FALSE(Callers({}).OfUser(kStranger).admin);
  EXPECT_TRUE(Callers({"ann", "3999999999"}).OfUser(kStranger).admin);
  EXPECT_FALSE(Callers({"399999999"}).OfUser(kStranger).admin);
}

TEST(CallersTest, WhoHasNoAccountIsANumber) {
  const Caller caller = Callers({}).OfUser(kStranger);
  EXPECT_EQ(caller.name, "uid 3999999999");
  EXPECT_EQ(caller.number, caller.name);
}

}  // namespace
}  // namespace nanwatch
