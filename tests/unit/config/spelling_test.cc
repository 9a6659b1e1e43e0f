#include "config/spelling.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

TEST(Nearest, FindsTheMisspeltWord) {
  const std::vector<std::string> known = {"listen", "threads", "timeout"};
  EXPECT_EQ(Nearest("lisen", known), "listen");
  EXPECT_EQ(Nearest("thread", known), "threads");
  EXPECT_EQ(Nearest("time_out", known), "timeout");
}

TEST(Nearest, DoesNotGuessWildly) {
  EXPECT_EQ(Nearest("colour", {"listen", "threads"}), "");
  EXPECT_EQ(Nearest(std::string(100000, 'x'), {"listen"}), "");
  EXPECT_EQ(Nearest("listen", {}), "");
}

}  // namespace
}  // namespace nanwatch
