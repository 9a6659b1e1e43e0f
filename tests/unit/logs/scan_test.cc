#include "logs/scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "logs/mark_search.h"
#include "logs/printed_scale.h"
#include "logs/table_row.h"
#include "model/scale_bound.h"

namespace nanwatch {
namespace {

TEST(Scan, MovesOnlyToWhatIsThere) {
  Scan scan("loss scale: 65536.0 | grad norm: 0.5");
  EXPECT_FALSE(scan.To("lm loss"));
  EXPECT_EQ(scan.at(), 0u);
  EXPECT_TRUE(scan.To("scale:"));
  EXPECT_EQ(scan.Number(), 65536.0);
  EXPECT_FALSE(scan.Skip("|"));
  scan.SkipBlanks();
  EXPECT_TRUE(scan.Skip("|"));
  EXPECT_EQ(scan.Until(':'), " grad norm");
  EXPECT_EQ(scan.Number(), 0.5);
  EXPECT_TRUE(scan.done());
  EXPECT_EQ(scan.peek(), '\0');
  EXPECT_EQ(scan.Number(), std::nullopt);
}

TEST(Scan, ReadsNumbersAsTheyArePrinted) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(WholeNumber(" 1.5e-3 "), 1.5e-3);
  EXPECT_EQ(WholeNumber("+7"), 7);
  EXPECT_EQ(WholeNumber("2.5f-3"), 2.5e-3) << "Julia";
  EXPECT_EQ(WholeNumber("-inf"), -infinity);
  EXPECT_EQ(WholeNumber("Infinity"), infinity);
  EXPECT_EQ(WholeNumber("1e999"), infinity);
  EXPECT_EQ(WholeNumber("1e-999"), 0);
  EXPECT_EQ(WholeNumber("-Inf32"), -infinity) << "Julia";
  for (const char* nan : {"nan", "NaN", "-nan", "nan.0", "nanxxx", "NaN32",
                          "NaN16", ".nan", ".NaN"}) {
    ASSERT_TRUE(WholeNumber(nan)) << nan;
    EXPECT_TRUE(std::isnan(*WholeNumber(nan))) << nan;
  }
  EXPECT_EQ(WholeNumber("-.inf"), -infinity) << "YAML";
  for (const char* none :
       {"", " ", "x", ".nans", ".info", ".nan.gz", "1.nan", "NaN320", "NaN33",
        "Inf16x", "12abc", "12f0", "1.5.", "1 2", "0x10", "--1"}) {
    EXPECT_EQ(WholeNumber(none), std::nullopt) << none;
  }
  EXPECT_EQ(Scan("  -12/200").Integer(), -12);
  EXPECT_EQ(Scan("12e3").Integer(), std::nullopt);
  EXPECT_EQ(Scan("99999999999999999999").Integer(), std::nullopt);
  const auto printed = Scan(" 0.000,").PrintedNumber();
  ASSERT_TRUE(printed);
  EXPECT_EQ(printed->text, "0.000");
}

TEST(Scan, ThousandsAndLakhsAreParted) {
  size_t size = 0;
  EXPECT_EQ(WithoutThousands("1,234,567 x", &size), "1234567");
  EXPECT_EQ(size, 9u);
  EXPECT_EQ(WithoutThousands("3,10,000/5,00,000", &size), "310000");
  EXPECT_EQ(size, 8u);
  EXPECT_EQ(WithoutThousands("1,02,40,000", &size), "10240000");
  EXPECT_EQ(WithoutThousands("5,000/5,00,000", &size), "5000");
  for (const char* none : {"1,20", "1,20,30", "1,20,300]", "1,20,300,40",
                           "01,20,300", "1,20,3000", "123,20,300", "1,20,"}) {
    EXPECT_EQ(WithoutThousands(none, &size), "") << none;
  }
}

// Those of few digits are read in a shorter way.
TEST(Scan, NumbersAreTheNearestDoubles) {
  for (const char* text : {"0",
                           "7",
                           "1.",
                           "9.9907",
                           "65536.0",
                           "0.1",
                           "3.141592653589793",
                           "123456789012345",
                           "1234567890123456",
                           "0.00000000000001",
                           "0.000000000000001",
                           "99999999999.9999",
                           "12345678.9012345",
                           "4.35",
                           "1e3",
                           ".5",
                           "2.675e-7",
                           "9.975250E+00",
                           "1e22",
                           "1e23",
                           "1.5e-22",
                           "123456789012345e22",
                           "9.9e-30",
                           "1e+05",
                           "1E-5",
                           "12.5e008"}) {
    const auto number = Scan(text).Number();
    ASSERT_TRUE(number) << text;
    EXPECT_EQ(*number, std::strtod(text, nullptr)) << text;
  }
  EXPECT_EQ(Scan("1.5x").Number(), std::nullopt);
  EXPECT_EQ(Scan("15_").Number(), std::nullopt);
  EXPECT_EQ(Scan("1.5.7").Number(), 1.5);
  EXPECT_EQ(Scan("000000000000000017").Integer(), 17);
  EXPECT_EQ(Scan("0000000000000000017").Integer(), 17);
  EXPECT_EQ(Scan("-9223372036854775807").Integer(), -9223372036854775807);
}

LogFact Scale(std::string_view text, ScaleText how) {
  LogFact fact;
  SetScale(text, how, &fact);
  return fact;
}

TEST(PrintedScale, ZeroIsOnlyZeroWhereAllDigitsArePrinted) {
  EXPECT_EQ(Scale("0", ScaleText::kExact)[StepField::kLossScale], 0);
  EXPECT_FALSE(Scale("0", ScaleText::kExact).scale_at_most);
  const LogFact rounded = Scale("0.0", ScaleText::kRounded);
  EXPECT_EQ(rounded[StepField::kLossScale], AtMost(0.03125));
  EXPECT_EQ(BoundOf(rounded[StepField::kLossScale]), 0.03125);
  EXPECT_TRUE(rounded.scale_at_most);
  EXPECT_EQ(Scale("0.000", ScaleText::kRounded)[StepField::kLossScale],
            AtMost(0x1p-11));
  EXPECT_EQ(Scale("0", ScaleText::kRounded)[StepField::kLossScale],
            AtMost(0.5));
  EXPECT_EQ(Scale("0.2", ScaleText::kRounded)[StepField::kLossScale], 0.25);
  EXPECT_EQ(Scale("0.1", ScaleText::kRounded)[StepField::kLossScale], 0.125);
  EXPECT_EQ(Scale("0.05", ScaleText::kRounded)[StepField::kLossScale], 0.05);
  EXPECT_EQ(Scale("0.2", ScaleText::kExact)[StepField::kLossScale], 0.2);
  EXPECT_EQ(Scale("0", ScaleText::kInteger)[StepField::kLossScale],
            AtMost(0.5));
  for (const double known : {0.0, 0.5, 0.1, 65536.0, 0.5 * (1 + 0x1p-52)}) {
    EXPECT_EQ(BoundOf(known), std::nullopt);
  }
  EXPECT_EQ(Scale("65536.0", ScaleText::kRounded)[StepField::kLossScale],
            65536);
}

TEST(PrintedScale, UnknownOnesStayUnset) {
  for (const char* text : {"-1.0", "-1", "", "auto", "12x"}) {
    EXPECT_FALSE(Scale(text, ScaleText::kRounded).has(StepField::kLossScale))
        << text;
  }
}

TEST(PrintedScale, Logarithms) {
  LogFact fact;
  SetLog2Scale(-2, &fact);
  EXPECT_EQ(fact[StepField::kLossScale], 0.25);
  SetLog2Scale(-2000, &fact);
  EXPECT_EQ(fact[StepField::kLossScale], 0);
  LogFact none;
  SetLog2Scale(std::nan(""), &none);
  EXPECT_FALSE(none.has(StepField::kLossScale));
}

TEST(MarkSearch, FindsWhatFindFinds) {
  const std::vector<MarkSearch::Mark> marks = {
      {"iteration ", 0}, {"ration", 1}, {"on", 2},      {"loss", 3},
      {"loss scale", 4}, {"ss", 5},     {"aab", 6},     {"aaab", 7},
      {"\xff", 8},       {"n/a", 2},    {"iteratio", 9}};
  const MarkSearch search(marks);
  // Every line of up to six letters of those that matter, and some of words.
  std::vector<std::string> lines = {"",
                                    "iteration 10 | loss scale: 1",
                                    "itiiteration",
                                    "losloss scal",
                                    "lossloss scale",
                                    "\xff\xff",
                                    "aaaaaab"};
  const std::string letters = "absio";
  for (size_t n = 0; n < 5 * 5 * 5 * 5 * 5 * 5; ++n) {
    std::string line;
    for (size_t left = n; left > 0; left /= 5) line += letters[left % 5];
    lines.push_back(line);
  }
  for (const std::string& line : lines) {
    MarkSearch::Groups expected;
    for (const MarkSearch::Mark& mark : marks) {
      if (line.find(mark.text) != std::string::npos) expected.Set(mark.group);
    }
    EXPECT_EQ(search.Find(line), expected) << line;
  }
  EXPECT_TRUE(MarkSearch({}).Find("anything").empty());
}

TEST(Scan, CallsHoldANumber) {
  for (const char* call :
       {"tensor(2.5, device='cuda:0')", "tensor([[2.5]])", "np.float64(2.5)",
        "<tf.Tensor: shape=(), dtype=float32, numpy=2.5>",
        "DTensor(local_tensor=2.5, device_mesh=M('cuda', [0, 1]))",
        "DTensor(local_tensor=tensor(2.5), placements=(R(),))",
        "Tensor(shape=[1], place=Place(gpu:0), stop_gradient=False, [2.5])",
        "Tensor(shape=[], dtype=float32, stop_gradient=False,  2.5)"}) {
    EXPECT_EQ(PrintedValue(call), 2.5) << call;
  }
  EXPECT_EQ(PrintedValue("Tensor(shape=[1], dtype=float32,"), std::nullopt);
}

TEST(Scan, CountsAreFiniteAndNotNegative) {
  EXPECT_EQ(AsCount(0), 0);
  EXPECT_EQ(AsCount(1e15), 1'000'000'000'000'000);
  for (const double none : {-1.0, 1.1e15, 1e300, HUGE_VAL, -HUGE_VAL}) {
    EXPECT_EQ(AsCount(none), std::nullopt) << none;
  }
  EXPECT_EQ(AsCount(std::nan("")), std::nullopt);
  EXPECT_EQ(AsCount(std::nullopt), std::nullopt);
}

TEST(TableRow, KeepsWhatQuotesHold) {
  TableRow row;
  ASSERT_TRUE(row.Split(R"(1, "a,b" ,"say ""x"",y",,2 )", ','));
  EXPECT_EQ(row.cells(), (std::vector<std::string_view>{
                             "1", "a,b", R"(say ""x"",y)", "", "2"}));
  EXPECT_FALSE(row.Split("1,\"torn", ','));
  ASSERT_TRUE(row.Split("", ','));
  EXPECT_EQ(row.cells().size(), 1u);
}

}  // namespace
}  // namespace nanwatch
