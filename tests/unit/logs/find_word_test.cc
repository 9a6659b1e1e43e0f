#include "logs/find_word.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace nanwatch {
namespace {

TEST(FindWord, AsTheStandardLibraryDoes) {
  // Of two letters, so that words are everywhere, and nearly everywhere.
  uint32_t seed = 1;
  const auto letter = [&seed] {
    seed = seed * 1664525 + 1013904223;
    return "ab"[seed >> 31];
  };
  for (size_t size = 0; size < 70; ++size) {
    std::string line;
    while (line.size() < size) line += letter();
    for (size_t length = 1; length < 9; ++length) {
      std::string word;
      while (word.size() < length) word += letter();
      for (size_t at = 0; at <= size + 1; ++at) {
        ASSERT_EQ(FindWord(line, word, at),
                  std::string_view(line).find(word, at))
            << line << " " << word << " " << at;
      }
    }
  }
}

TEST(FindWord, NothingBehindTheLineIsRead) {
  const std::string text = "a loss of 2.5 and a norm of 0.3, nan";
  const std::string_view line = std::string_view(text).substr(0, 34);
  EXPECT_FALSE(HasWord(line, "nan"));
  EXPECT_TRUE(HasWord(line, " n"));
}

}  // namespace
}  // namespace nanwatch
