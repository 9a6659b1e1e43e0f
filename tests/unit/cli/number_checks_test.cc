#include "cli/number_checks.h"

#include <gmock/gmock.h>

#include <string>

namespace nanwatch {
namespace {

std::string Said(const OptionCheck& check, std::string text) {
  return check(text);
}

TEST(ParseSpan, NeedsItsUnit) {
  EXPECT_EQ(ParseSpan("90s"), 90);
  EXPECT_EQ(ParseSpan("5m"), 300);
  EXPECT_EQ(ParseSpan("2h"), 7200);
  EXPECT_EQ(ParseSpan("1d"), 86400);
  for (const char* text : {"", "5", "m", "5x", "5 m", "-5m", "0s", "1.5h",
                           "3651d", "99999999999999999999s"}) {
    EXPECT_EQ(ParseSpan(text), std::nullopt) << text;
  }
}

TEST(NumberChecks, SayTheNumberAndNoBoundOfThreeHundredDigits) {
  EXPECT_EQ(Said(WholeNumber(), "0"), "");
  EXPECT_EQ(Said(WholeNumber(), "2147483647"), "");
  EXPECT_EQ(Said(PositiveNumber(), "0.5"), "");
  for (const char* text : {"-1", "x", "", "1.5", "2147483648"}) {
    const std::string said = Said(WholeNumber(), text);
    EXPECT_THAT(said, testing::HasSubstr("whole number")) << text;
    EXPECT_LT(said.size(), 80u);
  }
  for (const char* text : {"0", "-1", "inf", "nan", "1x", ""}) {
    const std::string said = Said(PositiveNumber(), text);
    EXPECT_THAT(said, testing::HasSubstr("above 0")) << text;
    EXPECT_LT(said.size(), 80u);
  }
}

TEST(NumberChecks, ASpanBecomesItsSeconds) {
  std::string text = "2h";
  EXPECT_EQ(Span()(text), "");
  EXPECT_EQ(text, "7200");
  EXPECT_THAT(Said(Span(), "5"), testing::HasSubstr("unit"));
}

TEST(NumberChecks, BoundsAreWithinAndNumbersAreReadWhole) {
  const OptionCheck ranks = Between(0, 1 << 20);
  EXPECT_EQ(ranks.shape, "INT in [0 - 1048576]");
  for (const char* text : {"0", "1048576", "0x10"}) {
    EXPECT_EQ(Said(ranks, text), "") << text;
  }
  for (const char* text : {"-1", "1048577", "1.5", "", "3 ", "4294967296"}) {
    EXPECT_EQ(Said(ranks, text),
              std::string("Value ") + text + " not in range 0 to 1048576");
  }
  const OptionCheck seconds = Between(0.1, 86400.0);
  EXPECT_EQ(seconds.shape, "FLOAT in [0.1 - 86400]");
  EXPECT_EQ(Said(seconds, "0.5"), "");
  EXPECT_EQ(Said(seconds, "0"),
            "Value 0 not in range 0.100000 to 86400.000000");
  EXPECT_NE(Said(seconds, "1s"), "");
}

}  // namespace
}  // namespace nanwatch
