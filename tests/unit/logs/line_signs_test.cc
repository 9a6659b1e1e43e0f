#include "logs/line_signs.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace nanwatch {
namespace {

// A letter for each sign that `line` holds.
std::string Signs(std::string_view line) {
  const LineSigns signs = SignsOf(line);
  std::string found;
  if (signs.escape) found += 'e';
  if (signs.hash) found += '#';
  if (signs.parenthesis) found += '(';
  if (signs.slash) found += '/';
  if (signs.quote) found += '\'';
  if (signs.other) found += 'o';
  return found;
}

TEST(LineSigns, OfAnyPlaceInLinesOfAnySize) {
  EXPECT_EQ(Signs(""), "");
  for (size_t size = 1; size < 70; ++size) {
    std::string line(size, 'x');
    EXPECT_EQ(Signs(line), "");
    for (size_t at = 0; at < size; ++at) {
      for (const char sign : {'#', '(', '/', '\''}) {
        line[at] = sign;
        EXPECT_EQ(Signs(line), std::string(1, sign)) << size << ' ' << at;
      }
      line[at] = '\x1b';
      EXPECT_EQ(Signs(line), "e") << size << ' ' << at;
      line[at] = '\x80';
      EXPECT_EQ(Signs(line), "o") << size << ' ' << at;
      line[at] = 'x';
    }
  }
}

TEST(LineSigns, OfAllThatALineHolds) {
  EXPECT_EQ(Signs("#1 (2/3) 'q' \x1b[0m \xc3\xa9"), "e#(/'o");
  EXPECT_EQ(Signs(")\"&.$\x7f\x1a"), "");
}

}  // namespace
}  // namespace nanwatch
