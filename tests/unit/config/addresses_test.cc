#include "config/addresses.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace nanwatch {
namespace {

Environment Variables(std::map<std::string, std::string> variables) {
  return [variables](const char* name) {
    const auto it = variables.find(name);
    return it == variables.end() ? std::string() : it->second;
  };
}

TEST(Addresses, SocketFollowsUnitRootAndUser) {
  const Environment user = Variables({{"XDG_RUNTIME_DIR", "/run/user/7"}});
  EXPECT_EQ(DefaultSocketPath(user, 7), "/run/user/7/nanwatch/ingest.sock");
  EXPECT_EQ(DefaultSocketPath(user, 0), "/run/nanwatch/ingest.sock");
  EXPECT_EQ(DefaultSocketPath(
                Variables({{"RUNTIME_DIRECTORY", "/run/nanwatch:/run/b"}}), 7),
            "/run/nanwatch/ingest.sock");
  EXPECT_EQ(DefaultSocketPath(Variables({}), 7), "/tmp/nanwatch-7/ingest.sock");
}

TEST(Addresses, APathIsAUnixSocket) {
  EXPECT_EQ(DaemonAddress("/path/x.sock"), "unix:/path/x.sock");
  for (const char* said : {"unix:/path/x.sock", "127.0.0.1:9766", ""}) {
    EXPECT_EQ(DaemonAddress(said), said);
  }
}

// As the client library does (identity_test.cc).
TEST(Addresses, ObeyTheTable) {
  std::ifstream file(ADDRESS_TABLE);
  std::map<std::string, std::string> variables;
  uid_t user = 0;
  int cases = 0;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string kind;
    std::string word;
    line >> kind;
    if (kind == "env") {
      variables.clear();
      while (line >> word) {
        const size_t equals = word.find('=');
        variables[word.substr(0, equals)] = word.substr(equals + 1);
      }
    }
    if (kind == "user") line >> user;
    if (kind != "is") continue;
    std::vector<std::string> is;
    while (line >> word) is.push_back(word);
    EXPECT_EQ(DaemonAddresses(Variables(variables), user), is) << text;
    ++cases;
  }
  EXPECT_GE(cases, 6);
}

TEST(Addresses, HistoryFollowsUnitRootAndUser) {
  EXPECT_EQ(DefaultHistoryPath(
                Variables({{"STATE_DIRECTORY", "/var/lib/nanwatch"}}), 7),
            "/var/lib/nanwatch/history.db");
  EXPECT_EQ(DefaultHistoryPath(Variables({{"HOME", "/root"}}), 0),
            "/var/lib/nanwatch/history.db");
  EXPECT_EQ(DefaultHistoryPath(
                Variables({{"XDG_STATE_HOME", "/s"}, {"HOME", "/h"}}), 7),
            "/s/nanwatch/history.db");
  EXPECT_EQ(DefaultHistoryPath(Variables({{"HOME", "/h"}}), 7),
            "/h/.local/state/nanwatch/history.db");
  EXPECT_EQ(DefaultHistoryPath(Variables({}), 7), "/tmp/nanwatch-7/history.db");
}

}  // namespace
}  // namespace nanwatch
