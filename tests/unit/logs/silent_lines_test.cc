// Lines of which readers said nothing.

#include "logs/silent_lines.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "logs/recogniser.h"

namespace nanwatch {
namespace {

// Whether `other` is of the kind of `line`.
bool AreOneKind(std::string_view line, std::string_view other) {
  SilentLines lines;
  SilentLines::Kind kind;
  kind.silent.Set(7);
  lines.Learn(line, kind);
  EXPECT_TRUE(lines.Find(line)) << line;
  const auto found = lines.Find(other);
  EXPECT_TRUE(!found || found->silent == kind.silent);
  return found.has_value();
}

TEST(SilentLines, LinesOfOneKindDifferInDigits) {
  EXPECT_TRUE(AreOneKind("time (ms) | forward: 89.82 | other: 2.2",
                         "time (ms) | forward: 100.1 | other: 0.25"));
  EXPECT_TRUE(AreOneKind("[2024-05-05 12:04:07,004] saved /data/step4, done",
                         "[2024-06-11 09:15:59,250] saved /data/step12, done"));
  EXPECT_TRUE(AreOneKind("3 files", "12 files"));
  EXPECT_FALSE(AreOneKind("3 files", "files"));
  EXPECT_FALSE(AreOneKind("took 2.5 s", "took 2 s"));
  EXPECT_FALSE(AreOneKind("took 2.5 s", "took -2.5 s"));
  EXPECT_FALSE(AreOneKind("took 2.5 s", "took nan s"));
  EXPECT_FALSE(AreOneKind("took 2 s", "took  2 s"));
  EXPECT_FALSE(AreOneKind("took 2 s", "took 2 s."));
  EXPECT_FALSE(AreOneKind("took 2 s", "took 2"));
}

// "Top 1 acc" is an accuracy.
TEST(SilentLines, TheDigitsOfANameAreAPartOfIt) {
  EXPECT_TRUE(AreOneKind("Top 5 acc: 93.25", "Top 5 acc: 94.5"));
  EXPECT_FALSE(AreOneKind("Top 5 acc: 93.25", "Top 1 acc: 76.5"));
  EXPECT_FALSE(AreOneKind("x=2 top5=93.25", "x=2 top1=76.5"));
  EXPECT_TRUE(
      AreOneKind("Channel 03 : 3[3] -> 4[3]", "Channel 11 : 0[11] -> 12[0]"));
}

TEST(SilentLines, KeepsTheKindsThatComeAgain) {
  SilentLines lines;
  lines.Learn("again 1", {});
  for (char a = 'a'; a <= 'z'; ++a) {
    for (char b = 'a'; b <= 'z'; ++b) {
      const std::string other = {a, b};
      EXPECT_TRUE(lines.Find("again 2"));
      if (!lines.Find(other)) lines.Learn(other, {});
    }
  }
  EXPECT_TRUE(lines.Find("again 3"));
  EXPECT_FALSE(lines.Find("aa"));
  lines.Forget();
  EXPECT_FALSE(lines.Find("again 4"));
}

// What was known to say nothing ends the box above it all the same.
TEST(SilentLines, AReaderThatWaitsForALineIsGivenIt) {
  std::vector<uint64_t> told;
  Recogniser recogniser(nullptr, {}, [&told](const LogFact&, uint64_t line) {
    told.push_back(line);
  });
  for (int i = 1; i <= 100; ++i) {
    recogniser.ReadLine("| step | " + std::to_string(i) + " |");
    recogniser.ReadLine("| loss | 2.5 |");
    recogniser.ReadLine("wrote: " + std::to_string(i) + " files");
    recogniser.ReadLine("wrote: " + std::to_string(i) + " more files");
  }
  recogniser.Finish();
  ASSERT_EQ(told.size(), 100u);
  for (size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i], 4 * i + 3);
}

}  // namespace
}  // namespace nanwatch
