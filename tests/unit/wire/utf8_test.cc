#include "wire/utf8.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

TEST(Utf8Test, TakesWhatIsUtf8) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("loss/Log"));
  EXPECT_TRUE(IsUtf8("\xc3\xa9\xe6\xa2\xaf\xe5\xba\xa6\xf0\x9f\x94\xa5"));
  EXPECT_TRUE(IsUtf8(std::string_view("\0", 1)));
}

TEST(Utf8Test, RefusesWhatIsNot) {
  EXPECT_FALSE(IsUtf8("\xe9"));              // Latin-1
  EXPECT_FALSE(IsUtf8("\xc3"));              // cut
  EXPECT_FALSE(IsUtf8("\xc3("));             // no continuation
  EXPECT_FALSE(IsUtf8("\xc0\xaf"));          // overlong
  EXPECT_FALSE(IsUtf8("\xe0\x80\xaf"));      // overlong
  EXPECT_FALSE(IsUtf8("\xed\xa0\x80"));      // surrogate
  EXPECT_FALSE(IsUtf8("\xf4\x90\x80\x80"));  // beyond U+10FFFF
  EXPECT_FALSE(IsUtf8("\xff"));
}

}  // namespace
}  // namespace nanwatch
