#include "logs/line_splitter.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace nanwatch {
namespace {

using std::string_literals::operator""s;
using Lines = std::vector<std::string>;

Lines Split(const std::vector<std::string>& pieces) {
  Lines lines;
  LineSplitter splitter(
      [&lines](std::string_view line) { lines.emplace_back(line); });
  for (const std::string& piece : pieces) splitter.Feed(piece);
  splitter.Finish();
  return lines;
}

std::string Wide(std::string_view text, bool big_end) {
  std::string wide = big_end ? "\xfe\xff" : "\xff\xfe";
  for (const char c : text) {
    wide += big_end ? std::string{'\0', c} : std::string{c, '\0'};
  }
  return wide;
}

TEST(LineSplitter, KnowsTheEndsOfLines) {
  EXPECT_EQ(Split({"a\nb\r\nc\rd"}), (Lines{"a", "b", "c", "d"}));
  EXPECT_EQ(Split({"\n\n\r\n"}), Lines{});
  EXPECT_EQ(Split({""}), Lines{});
  EXPECT_EQ(Split({"  1%|#\r 50%|###\r100%|######\n"}),
            (Lines{"  1%|#", " 50%|###", "100%|######"}));
  EXPECT_EQ(Split({"no end"}), Lines{"no end"});
  EXPECT_EQ(Split({" 1/10 [>.]\b\b\b\b", "\b\b 2/10 [=>]\b\b\n3\n"}),
            (Lines{" 1/10 [>.]", " 2/10 [=>]", "3"}));
}

TEST(LineSplitter, SplitsAnyMixOfEndsInAnyPieces) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> pieces(1 + random() % 4);
    Lines expected(1);
    for (std::string& piece : pieces) {
      for (size_t left = random() % 12; left > 0; --left) {
        piece += "\r\nab"[random() % 4];
        if (piece.back() == '\r' || piece.back() == '\n') {
          expected.emplace_back();
        } else {
          expected.back() += piece.back();
        }
      }
    }
    std::erase(expected, "");
    ASSERT_EQ(Split(pieces), expected) << round;
  }
}

TEST(LineSplitter, KeepsAnyBytes) {
  const std::string odd = "a\0b\xff\x80"s;
  EXPECT_EQ(Split({odd + "\n" + odd}), (Lines{odd, odd}));
}

TEST(LineSplitter, GivesTheSameLinesHoweverTheyAreCut) {
  for (const std::string& text :
       {"iteration 1\r\nb\rc\n\n\0x\ny"s, Wide("one\r\ntwo\nthree", false),
        Wide("one\r\ntwo\nthree", true)}) {
    const Lines whole = Split({text});
    EXPECT_GE(whole.size(), 3u);
    for (size_t first = 0; first <= text.size(); ++first) {
      for (size_t second = first; second <= text.size(); ++second) {
        EXPECT_EQ(
            Split({text.substr(0, first), text.substr(first, second - first),
                   text.substr(second)}),
            whole)
            << first << ", " << second;
      }
    }
  }
}

TEST(LineSplitter, ReadsUtf16) {
  EXPECT_EQ(Split({Wide("step=1\nstep=2", false)}),
            (Lines{"step=1", "step=2"}));
  EXPECT_EQ(Split({Wide("step=1\nstep=2", true)}), (Lines{"step=1", "step=2"}));
  EXPECT_EQ(Split({"\xfe\xff"}), Lines{});
}

// As a program writes it that was told "utf-16-be": no mark.
TEST(LineSplitter, ReadsUtf16WithoutAByteOrderMark) {
  for (const bool big_end : {false, true}) {
    const std::string wide = Wide("step=1\nstep=2", big_end).substr(2);
    EXPECT_EQ(Split({wide}), (Lines{"step=1", "step=2"})) << big_end;
    EXPECT_EQ(Split({wide.substr(0, 3), wide.substr(3)}),
              (Lines{"step=1", "step=2"}));
  }
  // Holes of a file that was cut while it was written.
  EXPECT_EQ(Split({"\0\0\0\0a\nb"s}), (Lines{"\0\0\0\0a"s, "b"}));
}

TEST(LineSplitter, CutsALineOf100MegabytesInConstantMemory) {
  Lines lines;
  LineSplitter splitter([&lines](std::string_view line) {
    ASSERT_LE(line.size(), kLogLineMax);
    lines.emplace_back(line);
  });
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 100; ++i) splitter.Feed(piece);
  splitter.Feed("\nnext\n");
  splitter.Finish();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], std::string(kLogLineMax, 'x'));
  EXPECT_EQ(lines[1], "next");
  EXPECT_EQ(splitter.cut_lines(), 1u);
  EXPECT_EQ(splitter.bytes(), (100u << 20) + 6);
}

}  // namespace
}  // namespace nanwatch
