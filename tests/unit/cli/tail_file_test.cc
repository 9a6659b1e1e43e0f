#include "cli/tail_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace nanwatch {
namespace {

using News = FollowedFile::News;

class FollowedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "/tail-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = folder + "/train.log";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& text) const {
    std::ofstream(path_, std::ios::app) << text;
  }
  // What one look gives: all there is; news are noted in news_.
  std::string Look(FollowedFile* file, size_t most = 1000) {
    std::string all;
    while (true) {
      const FollowedFile::Piece piece = file->Read(most);
      if (piece.news != News::kNone) news_.push_back(piece.news);
      if (piece.bytes.empty()) return all;
      EXPECT_LE(piece.bytes.size(), most);
      all += piece.bytes;
    }
  }

  std::filesystem::path folder_;
  std::string path_;
  std::vector<News> news_;
};

TEST_F(FollowedFileTest, GivesWhatIsWritten) {
  Write("one\n");
  FollowedFile file(path_, true);
  EXPECT_EQ(Look(&file), "one\n");
  EXPECT_EQ(Look(&file), "");
  Write("two\nthr");
  EXPECT_EQ(Look(&file, 2), "two\nthr");
  Write("ee\n");
  EXPECT_EQ(Look(&file), "ee\n");
  EXPECT_TRUE(news_.empty());
}

TEST_F(FollowedFileTest, PassesOverWhatStandsThere) {
  Write("one\n");
  FollowedFile file(path_, false);
  EXPECT_EQ(Look(&file), "");
  Write("two\n");
  EXPECT_EQ(Look(&file), "two\n");
}

TEST_F(FollowedFileTest, AppearsLaterAndIsReadFromItsStart) {
  FollowedFile file(path_, false);
  EXPECT_FALSE(file.there());
  EXPECT_EQ(Look(&file), "");
  Write("one\n");
  EXPECT_EQ(Look(&file), "one\n");
  EXPECT_EQ(news_, std::vector<News>{News::kAppeared});
  EXPECT_TRUE(file.there());
}

TEST_F(FollowedFileTest, IsLeftForAnotherWhenNothingMoreComes) {
  Write("one\n");
  FollowedFile file(path_, true);
  EXPECT_EQ(Look(&file), "one\n");
  std::ofstream writer(path_, std::ios::app);
  std::filesystem::rename(path_, path_ + ".1");
  EXPECT_EQ(Look(&file), "");  // no other is there yet
  Write("three\n");
  EXPECT_EQ(Look(&file), "");
  writer << "two\n" << std::flush;  // it has not noticed
  EXPECT_EQ(Look(&file), "two\n");
  EXPECT_EQ(Look(&file) + Look(&file), "three\n");
  EXPECT_EQ(news_, std::vector<News>{News::kReplaced});
}

TEST_F(FollowedFileTest, IsReadFromItsStartWhenItWasCut) {
  Write("one\ntwo\n");
  FollowedFile file(path_, true);
  EXPECT_EQ(Look(&file), "one\ntwo\n");
  std::filesystem::resize_file(path_, 0);
  Write("three\n");
  EXPECT_EQ(Look(&file), "three\n");
  EXPECT_EQ(news_, std::vector<News>{News::kCut});
}

TEST_F(FollowedFileTest, IsKnownToBeAnotherThoughItIsLonger) {
  Write("one\n");
  FollowedFile file(path_, true);
  EXPECT_EQ(Look(&file), "one\n");
  std::filesystem::resize_file(path_, 0);
  Write("another\nthree\n");
  EXPECT_EQ(Look(&file), "another\nthree\n");
  EXPECT_EQ(news_, std::vector<News>{News::kCut});
}

// A program that does not append goes on at its old place.
TEST_F(FollowedFileTest, AHoleIsPassedOver) {
  std::ofstream writer(path_);
  writer << std::string(5000, 'x') << std::flush;
  FollowedFile file(path_, true);
  EXPECT_EQ(Look(&file).size(), 5000u);
  std::filesystem::resize_file(path_, 0);
  writer << "two\n" << std::flush;
  EXPECT_EQ(Look(&file), "two\n");
  writer << "three\n" << std::flush;
  EXPECT_EQ(Look(&file), "three\n");
  EXPECT_EQ(news_, std::vector<News>{News::kCut});
}

TEST_F(FollowedFileTest, SaysOnceThatItCannotBeRead) {
  std::filesystem::create_directory(path_);
  FollowedFile file(path_, true);
  EXPECT_EQ(Look(&file) + Look(&file), "");
  EXPECT_EQ(news_, std::vector<News>{News::kDenied});
  EXPECT_NE(file.error().find(path_), std::string::npos);
}

}  // namespace
}  // namespace nanwatch
