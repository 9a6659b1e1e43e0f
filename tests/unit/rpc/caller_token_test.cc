#include "rpc/caller_token.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include "model/limits.h"
#include "rpc/unix_listener.h"
#include "tests/unit/rpc/temp_dir.h"

namespace nanwatch {
namespace {

const Time kNow = FromMicros(1'700'000'000'000'000);

TEST(CallerTokensTest, KnowsWhomItGaveATokenForFiveMinutes) {
  CallerTokens tokens;
  const std::string ann = tokens.Give(kNow, 1000);
  const std::string bob = tokens.Give(kNow, 1001);
  EXPECT_EQ(ann.size(), 32u);
  EXPECT_NE(ann, bob);
  EXPECT_EQ(tokens.Who(kNow, ann), 1000u);
  EXPECT_EQ(tokens.Who(kNow + std::chrono::minutes(5), bob), 1001u);
  EXPECT_EQ(tokens.Who(kNow + std::chrono::minutes(6), bob), std::nullopt);
  EXPECT_EQ(tokens.Who(kNow, ""), std::nullopt);
  EXPECT_EQ(tokens.Who(kNow, ann.substr(1)), std::nullopt);
}

TEST(CallerTokensTest, RemembersTheNewestOnly) {
  CallerTokens tokens;
  const std::string oldest = tokens.Give(kNow, 1000);
  const std::string second = tokens.Give(kNow, 1001);
  for (size_t i = 1; i < limits::kCallerTokens; ++i) tokens.Give(kNow, 1);
  EXPECT_EQ(tokens.Who(kNow, oldest), std::nullopt);
  EXPECT_EQ(tokens.Who(kNow, second), 1001u);
}

class AskForTokenTest : public testing::Test {
 protected:
  // Answers `answer` to who asks, and counts who does not.
  void Serve(const std::string& answer) {
    auto listener = UnixListener::Listen(dir_ / "sock", 0600, "");
    ASSERT_TRUE(listener.ok()) << listener.error();
    listener_ = std::move(*listener);
    listener_->Start([this, answer](int fd, const Peer& peer) {
      EXPECT_EQ(peer.uid, geteuid());
      EXPECT_TRUE(AsksForToken(fd));
      send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
      close(fd);
    });
  }
  std::string address() const { return "unix:" + (dir_ / "sock"); }

  TempDir dir_;
  std::unique_ptr<UnixListener> listener_;
};

TEST_F(AskForTokenTest, BringsTheDaemonsAnswer) {
  const std::string token(32, 'a');
  Serve(token);
  EXPECT_EQ(AskForToken(address()), token);
  EXPECT_EQ(AskForToken("unix://" + (dir_ / "sock")), token);
}

// An older daemon begins to speak HTTP/2.
TEST_F(AskForTokenTest, WhatIsNoTokenIsNone) {
  Serve(std::string("\0\0\x12\x04\0\0\0\0\0", 9));
  EXPECT_EQ(AskForToken(address()), "");
}

TEST_F(AskForTokenTest, NobodyToAskIsNone) {
  EXPECT_EQ(AskForToken(address()), "");
  EXPECT_EQ(AskForToken("127.0.0.1:1"), "");
}

TEST(AsksForTokenTest, AnOrdinaryConnectionDoesNot) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  EXPECT_FALSE(AsksForToken(pair[0]));
  close(pair[0]);
  close(pair[1]);
  EXPECT_FALSE(AsksForToken(-1));
}

}  // namespace
}  // namespace nanwatch
