#include "tests/golden/words_file.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

TEST(WordsFileTest, ReadsWhatItWrites) {
  const WordsFile words = {{"A.Empty", {""}},
                           {"A.Two", {"One.", "Two\n\n- lines\n"}},
                           {"B.One/0", {"(words)"}}};
  const std::string text = Format(words);
  EXPECT_EQ(text,
            "[A.Empty]\n(nothing)\n\n"
            "[A.Two]\nOne.\nTwo\n  \n  - lines\n  \n\n"
            "[B.One/0]\n(words)\n");
  EXPECT_EQ(ParseWords(text), words);
  EXPECT_EQ(ParseWords(""), WordsFile());
}

}  // namespace
}  // namespace nanwatch
