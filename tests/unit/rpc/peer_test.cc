#include "rpc/peer.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

namespace nanwatch {
namespace {

TEST(PeerTest, KnowsWhoIsAtTheOtherEnd) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const Result<Peer> peer = ReadPeer(ends[0]);
  ASSERT_TRUE(peer.ok());
  EXPECT_EQ(peer->uid, getuid());
  EXPECT_EQ(peer->pid, getpid());
  close(ends[0]);
  close(ends[1]);
  EXPECT_FALSE(ReadPeer(ends[0]).ok());
}

TEST(PeerTest, LetsInWhomTheModeLetsIn) {
  const SocketOwner group_socket{1000, 50, 0660};
  EXPECT_TRUE(MayConnect({1000, 1000, 1, {}}, group_socket));  // the owner
  EXPECT_TRUE(MayConnect({0, 0, 1, {}}, group_socket));        // root
  EXPECT_TRUE(MayConnect({1001, 50, 1, {}}, group_socket));    // its group
  EXPECT_TRUE(MayConnect({1001, 1001, 1, {7, 50}}, group_socket));
  EXPECT_FALSE(MayConnect({1001, 1001, 1, {7}}, group_socket));

  const SocketOwner private_socket{1000, 50, 0600};
  EXPECT_TRUE(MayConnect({1000, 1000, 1, {}}, private_socket));
  EXPECT_FALSE(MayConnect({1001, 50, 1, {50}}, private_socket));

  const SocketOwner open_socket{1000, 50, 0666};
  EXPECT_TRUE(MayConnect({1001, 1001, 1, {}}, open_socket));
}

}  // namespace
}  // namespace nanwatch
