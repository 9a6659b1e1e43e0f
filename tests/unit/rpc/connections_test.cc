#include "rpc/connections.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace nanwatch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ConnectionsTest : public testing::Test {
 protected:
  ~ConnectionsTest() override {
    for (const int fd : open_) close(fd);
  }
  int Socket() {
    open_.push_back(socket(AF_UNIX, SOCK_STREAM, 0));
    return open_.back();
  }
  void CloseAll() {
    for (const int fd : open_) close(fd);
    open_.clear();
  }

  Connections connections_;
  std::vector<int> open_;
};

TEST_F(ConnectionsTest, CountsThoseOfEachThatAreOpen) {
  EXPECT_TRUE(connections_.Add("ann", Socket(), 2, seconds(1)));
  EXPECT_TRUE(connections_.Add("ann", Socket(), 2, seconds(1)));
  EXPECT_FALSE(connections_.Add("ann", Socket(), 2, seconds(1)));
  EXPECT_TRUE(connections_.Add("bob", Socket(), 2, seconds(1)));
  CloseAll();
  // Others have the numbers by now.
  const int mine = Socket();
  EXPECT_TRUE(connections_.Add("ann", mine, 2, seconds(2)));
  EXPECT_TRUE(connections_.Add("ann", Socket(), 2, seconds(2)));
  EXPECT_FALSE(connections_.Add("ann", Socket(), 2, seconds(3)));
}

TEST_F(ConnectionsTest, LooksNotForEachWhoComesInVain) {
  EXPECT_TRUE(connections_.Add("ann", Socket(), 1, seconds(1)));
  EXPECT_FALSE(connections_.Add("ann", Socket(), 1, seconds(1)));
  CloseAll();
  EXPECT_FALSE(
      connections_.Add("ann", Socket(), 1, seconds(1) + milliseconds(50)));
  EXPECT_TRUE(
      connections_.Add("ann", Socket(), 1, seconds(1) + milliseconds(150)));
}

TEST_F(ConnectionsTest, CutsWhoHasMoreToSayThanIsRead) {
  const std::string much(32 << 10, 'x');
  int ours[3];
  int theirs[3];
  for (int i = 0; i < 3; ++i) {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ours[i] = pair[0];
    theirs[i] = pair[1];
    open_.insert(open_.end(), {pair[0], pair[1]});
    connections_.Add("user-" + std::to_string(i), ours[i], 10, seconds(1));
  }
  EXPECT_TRUE(connections_.CutWhoPresses(10, seconds(2)).empty());
  const auto say = [&](int i, size_t bytes) {
    ASSERT_EQ(send(theirs[i], much.data(), bytes, 0),
              static_cast<ssize_t>(bytes));
  };
  say(0, 100);
  say(1, 20 << 10);
  say(2, 30 << 10);
  EXPECT_THAT(connections_.CutWhoPresses(1, seconds(2)),
              testing::ElementsAre("user-2"));
  EXPECT_EQ(send(theirs[2], "x", 1, MSG_NOSIGNAL), -1);
  EXPECT_EQ(send(theirs[1], "x", 1, MSG_NOSIGNAL), 1);
  EXPECT_EQ(send(theirs[0], "x", 1, MSG_NOSIGNAL), 1);
  // He comes again, some time later.
  EXPECT_FALSE(connections_.Add("user-2", Socket(), 10, seconds(3)));
  EXPECT_TRUE(connections_.Add("user-1", Socket(), 10, seconds(3)));
  EXPECT_TRUE(connections_.Add("user-2", Socket(), 10, seconds(5)));
  // Who is ended again waits twice as long, not those beside him.
  connections_.Cut("fd:" + std::to_string(ours[2]), seconds(5));
  EXPECT_FALSE(connections_.Add("user-2", Socket(), 10, seconds(8)));
  EXPECT_TRUE(connections_.Add("user-2", Socket(), 10, seconds(9)));
  connections_.Cut("fd:" + std::to_string(ours[1]), seconds(5));
  EXPECT_EQ(send(theirs[1], "x", 1, MSG_NOSIGNAL), -1);
  EXPECT_EQ(send(theirs[0], "x", 1, MSG_NOSIGNAL), 1);
}

TEST_F(ConnectionsTest, ManyWhoLeftAreForgottenAndWhoIsHereIsNot) {
  EXPECT_TRUE(connections_.Add("ann", Socket(), 1, seconds(1)));
  for (int i = 0; i < 10000; ++i) {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_TRUE(connections_.Add(std::to_string(i), fd, 1, seconds(1)));
    close(fd);
  }
  EXPECT_FALSE(connections_.Add("ann", Socket(), 1, seconds(2)));
}

}  // namespace
}  // namespace nanwatch
