// The numbers of a line, and the words between them.

#include "logs/number_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<double> NumbersIn(std::string_view line) {
  NumberRow row;
  std::vector<double> values;
  if (!row.Read(line)) return values;
  for (const RowNumber& number : row.numbers()) values.push_back(number.value);
  return values;
}

uint64_t WordsOf(std::string_view line) {
  NumberRow row;
  row.Read(line);
  return row.words();
}

TEST(NumberRow, FindsNumbersAndNoPartsOfWords) {
  EXPECT_THAT(NumbersIn("upd 300 | obj -6.5e-01 |"), ElementsAre(300, -0.65));
  EXPECT_THAT(NumbersIn("gpu0 fp16 v2: 7."), ElementsAre(7));
  EXPECT_THAT(NumbersIn("no number, information"), IsEmpty());
  EXPECT_TRUE(std::isnan(NumbersIn("loss nan").at(0)));
  EXPECT_EQ(NumbersIn("loss -inf").at(0), -INFINITY);
  EXPECT_THAT(NumbersIn("(it 0121/0600)"), ElementsAre(121, 600));
}

TEST(NumberRow, NumbersOfOtherLanguagesAndSentences) {
  EXPECT_THAT(NumbersIn("loss 2.5f-1 of 2.5E+1, 1e3."),
              ElementsAre(0.25, 25, 1000));
  EXPECT_TRUE(std::isnan(NumbersIn("loss -1.#IND00 x").at(0)));
  EXPECT_EQ(NumbersIn("loss -1.#INF").at(0), -INFINITY);
  EXPECT_THAT(NumbersIn("Verlust 5,25, Schritt 3,"), ElementsAre(5.25, 3));
  EXPECT_THAT(NumbersIn("ep0 bt12 gpu3 7"), ElementsAre(0, 12, 7));
}

TEST(NumberRow, ClocksAndDatesAreWords) {
  EXPECT_THAT(NumbersIn("2025-01-31 12:01:07.250 step 4"), ElementsAre(4));
  EXPECT_THAT(NumbersIn("[06:50:41] 4"), ElementsAre(4));
  EXPECT_THAT(NumbersIn("2026_08_19_16_07_49 4"), ElementsAre(4));
}

TEST(NumberRow, ACommaIsAPointWhereTheLineHasNoOther) {
  EXPECT_THAT(NumbersIn("Verlust 5,58"), ElementsAre(5.58));
  EXPECT_THAT(NumbersIn("03.04.2024 08:12:20 Schritt 50 Verlust 4,5153"),
              ElementsAre(50, 4.5153));
  EXPECT_THAT(NumbersIn("17.5,20,1.25"), ElementsAre(17.5, 20, 1.25));
  EXPECT_THAT(NumbersIn("1,2,3"), ElementsAre(1, 2, 3));
}

TEST(NumberRow, LinesOfOneStatementHaveTheSameWords) {
  EXPECT_EQ(WordsOf("upd   9 | obj  8.5"), WordsOf("upd 100 | obj -0.25"));
  EXPECT_EQ(WordsOf("loss 1.5"), WordsOf("loss nan"));
  EXPECT_NE(WordsOf("upd 9 | obj 8.5"), WordsOf("upd 9 | kl 8.5"));
}

TEST(NumberRow, RefusesDumps) {
  std::string dump;
  for (int i = 0; i < 40; ++i) dump += "1.5 ";
  EXPECT_THAT(NumbersIn(dump), IsEmpty());
  EXPECT_THAT(NumbersIn(std::string(1000, ' ') + "1.5"), IsEmpty());
}

}  // namespace
}  // namespace nanwatch
