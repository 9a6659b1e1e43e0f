#include "rpc/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "model/limits.h"
#include "tests/unit/rpc/temp_dir.h"

namespace nanwatch {
namespace {

using testing::HasSubstr;

// As `printf secret | sha256sum` says.
const std::string kSecret =
    "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
const std::string kOther(64, '0');

void Write(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  std::ofstream(fresh) << text;
  std::rename(fresh.c_str(), path.c_str());
}

TEST(TokensTest, KnowsWhoseATokenIs) {
  const TempDir dir;
  Write(dir / "tokens", "# users\n\nbob\t" + kOther + "\nann " + kSecret +
                            " # until May\nann " + kOther + "\r\n");
  Tokens tokens(dir / "tokens");
  ASSERT_TRUE(tokens.Load().ok());
  EXPECT_EQ(tokens.NameOf("secret"), "ann");
  for (const char* wrong : {"", "secre", "secret ", "Secret", "other"}) {
    EXPECT_EQ(tokens.NameOf(wrong), std::nullopt) << wrong;
  }
}

TEST(TokensTest, WithoutAFileNobodyIsKnown) {
  Tokens tokens("");
  EXPECT_TRUE(tokens.Load().ok());
  EXPECT_EQ(tokens.NameOf("secret"), std::nullopt);
}

TEST(TokensTest, AFileThatChangesHoldsAtOnceAndOneThatIsWrongDoesNot) {
  const TempDir dir;
  const std::string path = dir / "tokens";
  Tokens tokens(path);
  EXPECT_THAT(tokens.Load().error(), HasSubstr(path));
  Write(path, "ann " + kOther);
  EXPECT_EQ(tokens.NameOf("secret"), std::nullopt);
  Write(path, "ann " + kSecret);
  EXPECT_EQ(tokens.NameOf("secret"), "ann");
  for (const std::string& wrong : std::vector<std::string>{
           "ann " + kSecret.substr(1), "ann", "ann x",
           "ann " + kSecret + " more", "a\x1b " + kSecret}) {
    Write(path, wrong);
    EXPECT_EQ(tokens.NameOf("secret"), "ann") << wrong;
  }
  std::remove(path.c_str());
  EXPECT_EQ(tokens.NameOf("secret"), "ann");
  Write(path, "bob " + kSecret);
  EXPECT_EQ(tokens.NameOf("secret"), "bob");
}

TEST(TokensTest, SaysWhichLineIsWrongAndShowsNoSecret) {
  const auto wrong = ParseTokens("ann " + kSecret + "\nbob my-secret-token\n");
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error(), HasSubstr("line 2"));
  EXPECT_THAT(wrong.error(), Not(HasSubstr("my-secret")));
  EXPECT_FALSE(ParseTokens("uid 1000 " + kSecret).ok());
  EXPECT_FALSE(ParseTokens(std::string(129, 'a') + " " + kSecret).ok());
  EXPECT_EQ(ParseTokens("")->size(), 0u);
}

TEST(TokensTest, HasABound) {
  std::string text;
  for (size_t i = 0; i < limits::kTokens; ++i) text += "ann " + kOther + "\n";
  EXPECT_TRUE(ParseTokens(text).ok());
  EXPECT_FALSE(ParseTokens(text + "ann " + kOther).ok());
}

}  // namespace
}  // namespace nanwatch
