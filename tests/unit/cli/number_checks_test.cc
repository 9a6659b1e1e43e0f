#include "cli/number_checks.h"

#include <gmock/gmock.h>

#include <string>

namespace nanwatch {
namespace {

std::string Said(const CLI::Validator& check, std::string text) {
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

}  // namespace
}  // namespace nanwatch
