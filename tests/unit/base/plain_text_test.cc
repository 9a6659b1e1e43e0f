#include "base/plain_text.h"

#include <gmock/gmock.h>

#include <string>

namespace nanwatch {
namespace {

std::string Plain(std::string_view text) {
  return PlainText(
      text, [](uint32_t code) { return "<" + std::to_string(code) + ">"; });
}

TEST(PlainTextTest, LettersOfAllScriptsStay) {
  for (const char* text :
       {"", "layer.0", "Größe", "損失", "слой", "🙂", "a b"}) {
    EXPECT_EQ(Plain(text), text);
  }
}

TEST(PlainTextTest, ControlsGo) {
  EXPECT_EQ(Plain("a\x1b[2Jb"), "a<27>[2Jb");
  EXPECT_EQ(Plain("a\nb\tc\x7f"), "a<10>b<9>c<127>");
  EXPECT_EQ(Plain(std::string_view("\0", 1)), "<0>");
  EXPECT_EQ(Plain("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0"),
            "<128><155><159>\xc2\xa0");
}

TEST(PlainTextTest, MarksThatTurnWhatIsReadGo) {
  EXPECT_EQ(Plain("\u202egnp.exe\u2066\u200f\u061c\u2028"),
            "<8238>gnp.exe<8294><8207><1564><8232>");
}

TEST(PlainTextTest, BytesThatAreNotUtf8AreTakenOneByOne) {
  EXPECT_EQ(Plain("a\x9b"
                  "31m"),
            "a<155>31m");
  EXPECT_EQ(Plain("\xe2\x80"), "<226><128>");           // cut
  EXPECT_EQ(Plain("\xc0\x9b"), "<192><155>");           // overlong
  EXPECT_EQ(Plain("\xe0\x82\x9b"), "<224><130><155>");  // overlong
  EXPECT_EQ(Plain("\xff"), "<255>");
}

}  // namespace
}  // namespace nanwatch
