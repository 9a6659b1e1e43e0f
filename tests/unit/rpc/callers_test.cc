#include "rpc/callers.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "rpc/account.h"
#include "tests/unit/rpc/temp_dir.h"

namespace nanwatch {
namespace {

// Of nobody on this machine.
constexpr uid_t kStranger = 3'999'999'999;

TEST(CallersTest, AsksTheKernelWhoseADescriptorIs) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  Callers callers({});
  const Caller caller = callers.Of(
      callers.Identify("fd:" + std::to_string(pair[0]), "", std::nullopt));
  const std::string number = "uid " + std::to_string(geteuid());
  EXPECT_EQ(caller.number, number);
  EXPECT_EQ(caller.name, AccountName(geteuid()).value_or(number));
  EXPECT_TRUE(caller.admin);
  close(pair[0]);
  close(pair[1]);
}

TEST(CallersTest, WhoIsNoUnixSocketIsNobody) {
  Callers callers({.admins = {"root"}});
  int tube[2];
  ASSERT_EQ(pipe(tube), 0);
  for (const std::string& peer :
       {std::string("ipv4:127.0.0.1:4242"), std::string("ipv6:[::1]:4242"),
        std::string("unix:"), std::string(), std::string("fd:"),
        std::string("fd:x"), std::string("fd:-1"), std::string("fd:1x"),
        std::string("fd:99999999999"), "fd:" + std::to_string(tube[0])}) {
    const Identity who = callers.Identify(peer, "", std::nullopt);
    EXPECT_NE(who.refused, "") << peer;
    const Caller caller = callers.Of(who);
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
  EXPECT_TRUE(
      Callers({.admins = {"ann", "3999999999"}}).OfUser(kStranger).admin);
  EXPECT_FALSE(Callers({.admins = {"399999999"}}).OfUser(kStranger).admin);
}

// An account that every system has, and no admin.
passwd Nobody() {
  const passwd* found = getpwnam("nobody");
  return found == nullptr ? passwd{} : *found;
}

TEST(CallersTest, MembersOfAnAdminsGroupAreAdmins) {
  const passwd nobody = Nobody();
  ASSERT_NE(nobody.pw_uid, 0u);
  const group* theirs = getgrgid(nobody.pw_gid);
  ASSERT_NE(theirs, nullptr);
  const std::string number = std::to_string(nobody.pw_gid);
  for (const std::string& name : {std::string(theirs->gr_name), number}) {
    const Callers callers({.admin_groups = {"no-such-group", name}});
    EXPECT_TRUE(callers.OfUser(nobody.pw_uid).admin) << name;
    EXPECT_FALSE(callers.OfUser(kStranger).admin);
  }
  EXPECT_FALSE(Callers({.admin_groups = {"no-such-group", number + "0"}})
                   .OfUser(nobody.pw_uid)
                   .admin);
}

TEST(CallersTest, ListsSayWhoMayConnect) {
  const passwd nobody = Nobody();
  ASSERT_NE(nobody.pw_uid, 0u);
  EXPECT_TRUE(Callers({}).MayConnect(kStranger));
  for (const AccessOptions& access :
       {AccessOptions{.users = {"nobody"}},
        AccessOptions{.groups = {std::to_string(nobody.pw_gid)}}}) {
    const Callers callers(access);
    EXPECT_TRUE(callers.MayConnect(nobody.pw_uid));
    EXPECT_FALSE(callers.MayConnect(kStranger));
    EXPECT_TRUE(callers.MayConnect(0)) << "an admin";
    EXPECT_FALSE(callers.OfUser(nobody.pw_uid).admin);
  }
}

TEST(CallersTest, AnotherChoiceIsAskedForAnew) {
  const passwd nobody = Nobody();
  ASSERT_NE(nobody.pw_uid, 0u);
  Callers callers({});
  const uint64_t before = callers.edition();
  const Caller other{"ann", "uid 1000", false};
  EXPECT_FALSE(callers.OfUser(nobody.pw_uid).admin);
  EXPECT_TRUE(callers.MayRead("bob", other));
  callers.Set({.admins = {"nobody"}, .read_by_everyone = false});
  EXPECT_NE(callers.edition(), before);
  EXPECT_TRUE(callers.OfUser(nobody.pw_uid).admin);
  EXPECT_FALSE(callers.MayRead("bob", other));
  EXPECT_TRUE(callers.MayRead("ann", other));
  EXPECT_TRUE(callers.MayRead("", other));
}

TEST(CallersTest, OverTcpATokenOrACertificateSaysTheName) {
  const TempDir dir;
  // As `printf secret | sha256sum` says.
  std::ofstream(dir / "tokens")
      << "ann 2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
  Callers callers({.admins = {"chief"}}, {.tokens = dir / "tokens"});
  std::vector<std::string> refused;
  callers.OnRefused([&](std::string_view peer, const Identity& who) {
    refused.push_back(std::string(peer) + " " + who.refused);
  });
  const std::string peer = "ipv4:10.0.0.1:4242";
  const Identity ann = callers.Identify(peer, "Bearer secret", "node-7");
  EXPECT_EQ(ann.refused, "");
  EXPECT_EQ(callers.Of(ann).name, "ann");
  EXPECT_EQ(callers.Of(ann).from, "10.0.0.1:4242");
  EXPECT_EQ(callers.Identify("ipv6:%5B::1%5D:7", "", "n").from, "[::1]:7");
  EXPECT_FALSE(callers.Of(ann).admin);
  const Identity node = callers.Identify(peer, "", "node-7");
  EXPECT_EQ(callers.Of(node).name, "node-7");
  EXPECT_TRUE(callers.Of(callers.Identify(peer, "", "chief")).admin);
  EXPECT_TRUE(refused.empty());
  // A wrong token is refused, whatever else there is.
  for (const char* said : {"Bearer Secret", "Bearer ", "Bearer  secret"}) {
    EXPECT_NE(callers.Identify(peer, said, "node-7").refused, "") << said;
  }
  for (const char* said : {"", "secret", "Basic secret"}) {
    EXPECT_NE(callers.Identify(peer, said, std::nullopt).refused, "") << said;
  }
  EXPECT_NE(callers.Identify(peer, "", "").refused, "") << "no name in it";
  EXPECT_NE(callers.Identify(peer, "Bearer secret", "node-7", true).refused, "")
      << "it has expired";
  EXPECT_EQ(refused.size(), 8u);
  for (const std::string& one : refused) {
    EXPECT_EQ(one.find("ecret"), std::string::npos) << one;
  }
}

// Of a stream that is open.
TEST(CallersTest, WhoIsTakenBackIsNotStillIn) {
  const TempDir dir;
  // Of "secret" and of "other".
  const std::string ann =
      "ann 2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\n";
  const std::string bob = "bob " + std::string(64, '0') + "\n";
  const auto write = [&](const std::string& text) {
    std::ofstream(dir / "new") << text;
    std::rename((dir / "new").c_str(), (dir / "tokens").c_str());
  };
  write(ann + bob);
  Callers callers({.users = {}}, {.tokens = dir / "tokens"});
  ASSERT_TRUE(callers.LoadTokens().ok());
  int told = 0;
  callers.OnRefused([&](std::string_view, const Identity&) { ++told; });
  Identity who = callers.Identify("ipv4:10.1.2.3:4", "Bearer secret", {});
  Identity by_certificate = callers.Identify("ipv4:10.1.2.3:4", "", "eve");
  EXPECT_TRUE(callers.StillIn("", &who));
  // Another token of the same name.
  write("ann " + std::string(64, '1') + "\n" + bob);
  EXPECT_NE(callers.Identify("", "Bearer secret", {}).refused, "");
  EXPECT_TRUE(callers.StillIn("", &who));
  EXPECT_EQ(told, 1);
  const uint64_t edition = callers.edition();
  write(bob);
  EXPECT_NE(callers.Identify("", "Bearer secret", {}).refused, "");
  EXPECT_GT(callers.edition(), edition);
  EXPECT_FALSE(callers.StillIn("", &who));
  EXPECT_NE(who.refused.find("ann"), std::string::npos);
  EXPECT_EQ(told, 3);
  EXPECT_TRUE(callers.StillIn("", &by_certificate));
  callers.Set({.users = {"bob"}});
  EXPECT_FALSE(callers.StillIn("", &by_certificate));
}

TEST(CallersTest, AnonymousCallersAreNobody) {
  Callers callers({}, {.anonymous = true});
  const Identity who = callers.Identify("ipv4:127.0.0.1:1", "Bearer x", {});
  EXPECT_EQ(who.refused, "");
  EXPECT_EQ(callers.Of(who).name, "");
  EXPECT_FALSE(callers.Of(who).admin);
}

TEST(CallersTest, ListsHoldOverTcpToo) {
  Callers callers({.admins = {"chief"}, .users = {"ann"}}, {});
  const auto refused = [&](const char* name) {
    return callers.Identify("ipv4:10.0.0.1:1", "", name).refused;
  };
  EXPECT_EQ(refused("ann"), "");
  EXPECT_EQ(refused("chief"), "");
  EXPECT_NE(refused("bob"), "");
}

// The name of a certificate gives no right of root or of the daemon.
TEST(CallersTest, ANameOverTcpIsNoAccount) {
  Callers callers({});
  const Identity who = callers.Identify("ipv4:10.0.0.1:1", "", "root");
  EXPECT_EQ(callers.Of(who).name, "root");
  EXPECT_FALSE(callers.Of(who).admin);
}

TEST(CallersTest, WhoHasNoAccountIsANumber) {
  const Caller caller = Callers({}).OfUser(kStranger);
  EXPECT_EQ(caller.name, "uid 3999999999");
  EXPECT_EQ(caller.number, caller.name);
}

}  // namespace
}  // namespace nanwatch
