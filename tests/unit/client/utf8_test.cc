#include "client_lib/src/utf8.h"

#include <gmock/gmock.h>

#include <string>

namespace nanwatch_client {
namespace {

TEST(CleanUtf8Test, KeepsWhatIsValid) {
  EXPECT_EQ(CleanUtf8("loss/Log \u00e4 \u6f22 \U0001F600"),
            "loss/Log \u00e4 \u6f22 \U0001F600");
  EXPECT_EQ(CleanUtf8(static_cast<const char*>(nullptr)), "");
}

TEST(CleanUtf8Test, ReplacesWhatIsNot) {
  EXPECT_EQ(CleanUtf8("a\x80z"), "a?z") << "a continuation alone";
  EXPECT_EQ(CleanUtf8("\xc0\xaf"), "??") << "overlong";
  EXPECT_EQ(CleanUtf8("\xed\xa0\x80"), "???") << "a surrogate";
  EXPECT_EQ(CleanUtf8("\xf4\x90\x80\x80"), "????") << "beyond U+10FFFF";
  EXPECT_EQ(CleanUtf8("\xe6\xbc"), "??") << "cut short";
}

TEST(CleanUtf8Test, CutsBetweenCharacters) {
  EXPECT_EQ(CleanUtf8("abc\u00e4", 4), "abc");
  EXPECT_EQ(CleanUtf8("abc\u00e4", 5), "abc\u00e4");
  EXPECT_EQ(CleanUtf8(std::string(600, 'x').c_str()).size(), kNameBytes);
}

}  // namespace
}  // namespace nanwatch_client
