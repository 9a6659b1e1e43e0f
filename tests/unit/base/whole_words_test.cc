#include "base/whole_words.h"

#include <gtest/gtest.h>

namespace nanwatch {
namespace {

TEST(WholeWords, KeepsWholeWords) {
  EXPECT_EQ(WholeWords("no room left", 12), "no room left");
  EXPECT_EQ(WholeWords("no room left", 11), "no room\u2026");
  EXPECT_EQ(WholeWords("no room left", 10), "no room\u2026");
  EXPECT_EQ(WholeWords("no room left", 9), "no\u2026");
}

TEST(WholeWords, CutsASingleWordBetweenCharacters) {
  EXPECT_EQ(WholeWords("abcdefgh", 7), "abcd\u2026");
  EXPECT_EQ(WholeWords("\u00e4\u00e4\u00e4\u00e4", 7), "\u00e4\u00e4\u2026");
  EXPECT_EQ(WholeWords("\u00e4\u00e4\u00e4\u00e4", 6), "\u00e4\u2026");
}

}  // namespace
}  // namespace nanwatch
