#include "client_lib/src/socket_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace nanwatch_client {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SocketFileTest : public testing::Test {
 protected:
  SocketFileTest() {
    std::string made = testing::TempDir() + "nanwatch_socket_XXXXXX";
    EXPECT_NE(mkdtemp(made.data()), nullptr);
    folder_ = made;
  }
  ~SocketFileTest() override {
    unlink((folder_ + "/link").c_str());
    rmdir(folder_.c_str());
  }
  std::string folder_;
};

TEST_F(SocketFileTest, AFolderIsOnesOwnIfNobodyElseMayWriteToIt) {
  EXPECT_TRUE(IsOwnFolder(folder_, getuid()));
  EXPECT_FALSE(IsOwnFolder(folder_, getuid() + 1));
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  EXPECT_TRUE(IsOwnFolder(folder_, getuid()));
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_FALSE(IsOwnFolder(folder_, getuid()));
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
}

TEST_F(SocketFileTest, ALinkIsNoFolder) {
  const std::string link = folder_ + "/link";
  ASSERT_EQ(symlink(folder_.c_str(), link.c_str()), 0);
  EXPECT_FALSE(IsOwnFolder(link, getuid()));
  EXPECT_FALSE(IsOwnFolder(folder_ + "/none", getuid()));
}

TEST_F(SocketFileTest, OnlyAFileIsMissing) {
  EXPECT_THAT(WhyNotThere("unix:" + folder_), IsEmpty());
  EXPECT_THAT(WhyNotThere("host:1"), IsEmpty());
  EXPECT_THAT(WhyNotThere("unix:" + folder_ + "/none"),
              HasSubstr("no such socket"));
}

}  // namespace
}  // namespace nanwatch_client
