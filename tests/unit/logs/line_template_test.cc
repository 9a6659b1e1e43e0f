#include "logs/line_template.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace nanwatch {
namespace {

// What stands at the numbers of `text`, a comma behind each; "-": another text.
std::string Numbers(const LineTemplate& line, std::string_view text) {
  LineTemplate::Places places;
  if (!line.Match(text, &places)) return "-";
  std::string numbers;
  for (size_t i = 0; i < line.numbers(); ++i) {
    const std::string at(text.substr(places[i]));
    char number[32];
    const int size = std::snprintf(number, sizeof number, "%g,",
                                   std::strtod(at.c_str(), nullptr));
    numbers.append(number, static_cast<size_t>(size));
  }
  return numbers;
}

TEST(LineTemplate, OtherNumbersInTheSameWords) {
  LineTemplate line;
  ASSERT_TRUE(line.Learn("step=10 loss=2.5, lr: 0.1"));
  EXPECT_EQ(line.numbers(), 3u);
  EXPECT_EQ(Numbers(line, "step=10 loss=2.5, lr: 0.1"), "10,2.5,0.1,");
  EXPECT_EQ(Numbers(line, "step=100000 loss=-12, lr: 0.001"),
            "100000,-12,0.001,");
  EXPECT_EQ(Numbers(line, "step=  7 loss=2, lr:0"), "7,2,0,");
}

TEST(LineTemplate, OtherWordsAreAnotherLine) {
  LineTemplate line;
  ASSERT_TRUE(line.Learn("step=10 loss=2.5"));
  EXPECT_EQ(Numbers(line, "step=10 loss=nan"), "-");
  EXPECT_EQ(Numbers(line, "step=10 cost=2.5"), "-");
  EXPECT_EQ(Numbers(line, "step=10 loss=2.5 "), "-");
  EXPECT_EQ(Numbers(line, "step=10 loss="), "-");
  EXPECT_EQ(Numbers(line, "step=10 loss"), "-");
  EXPECT_EQ(Numbers(line, " step=10 loss=2.5"), "-");
  EXPECT_EQ(Numbers(line, ""), "-");
}

// "loss_1" and "loss_2" are two names.
TEST(LineTemplate, DigitsOfAWordAreNoNumber) {
  LineTemplate line;
  ASSERT_TRUE(line.Learn("loss_1=2 lr=3.5e-05 2.5it/s"));
  EXPECT_EQ(line.numbers(), 3u);
  EXPECT_EQ(Numbers(line, "loss_1=3 lr=4e-05 7it/s"), "3,4e-05,7,");
  EXPECT_EQ(Numbers(line, "loss_2=3 lr=4e-05 7it/s"), "-");
}

TEST(LineTemplate, AnExponentIsOfItsNumber) {
  LineTemplate line;
  ASSERT_TRUE(line.Learn("lr=3.5e-05, loss=2, 3e"));
  EXPECT_EQ(line.numbers(), 3u);
  EXPECT_EQ(Numbers(line, "lr=4e-06, loss=2.5E+01, 4e"), "4e-06,25,4,");
  EXPECT_EQ(Numbers(line, "lr=0.1, loss=2, 4e"), "0.1,2,4,");
  EXPECT_EQ(Numbers(line, "lr=1, loss=2, 4"), "-");
}

TEST(LineTemplate, NothingIsLearnedOfTooMuch) {
  LineTemplate line;
  EXPECT_EQ(Numbers(line, ""), "-");
  std::string text;
  for (size_t i = 0; i < LineTemplate::kNumbersMax; ++i) text += "1 ,";
  EXPECT_TRUE(line.Learn(text));
  EXPECT_NE(Numbers(line, text), "-");
  text += "1";
  EXPECT_FALSE(line.Learn(text));
  EXPECT_EQ(Numbers(line, text), "-");
  EXPECT_FALSE(line.Learn(std::string(5000, 'a')));
}

}  // namespace
}  // namespace nanwatch
