#include "base/folder.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace nanwatch {
namespace {

unsigned ModeOf(const std::string& path) {
  struct stat found = {};
  EXPECT_EQ(lstat(path.c_str(), &found), 0) << path;
  return found.st_mode & 07777;
}

class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    char name[] = "/tmp/nw-folder-XXXXXX";
    at_ = mkdtemp(name);
    before_ = umask(0);
  }
  ~FolderTest() override {
    umask(before_);
    std::filesystem::remove_all(at_);
  }
  std::string at_;
  mode_t before_;
};

TEST_F(FolderTest, WhatIsMadeIsOursAloneWhateverTheUmask) {
  ASSERT_TRUE(MakeFolder(at_ + "/a/b/c", 0710).ok());
  EXPECT_EQ(ModeOf(at_ + "/a"), 0700u);
  EXPECT_EQ(ModeOf(at_ + "/a/b"), 0700u);
  EXPECT_EQ(ModeOf(at_ + "/a/b/c"), 0710u);
}

TEST_F(FolderTest, WhatIsThereStaysAsItIs) {
  mkdir((at_ + "/a").c_str(), 0755);
  chmod((at_ + "/a").c_str(), 0755);
  EXPECT_TRUE(MakeFolder(at_ + "/a/", 0700).ok());
  EXPECT_EQ(ModeOf(at_ + "/a"), 0755u);
}

TEST_F(FolderTest, AFileInTheWayIsSaid) {
  ASSERT_TRUE(MakeFolder(at_ + "/a", 0700).ok());
  fclose(fopen((at_ + "/a/b").c_str(), "w"));
  EXPECT_FALSE(MakeFolder(at_ + "/a/b/c", 0700).ok());
}

}  // namespace
}  // namespace nanwatch
