#include "config/addresses.h"

#include <gmock/gmock.h>

#include <map>

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
