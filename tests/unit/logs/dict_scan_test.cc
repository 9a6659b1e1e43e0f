#include "logs/dict_scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace nanwatch {
namespace {

// "key=value;" of each pair, and "whole" if nothing is torn off.
std::string Pairs(std::string_view text) {
  DictScan dict(text);
  std::string pairs;
  while (dict.Next()) {
    pairs.append(dict.key()).append("=").append(dict.value()).append(";");
  }
  return pairs.append(dict.whole() ? "whole" : "");
}

TEST(DictScan, ReadsJsonAndPython) {
  EXPECT_EQ(Pairs(R"({"a": 1, "b":"x, }", "c": [1, {"d": 2}], "e": NaN} z)"),
            R"(a=1;b=x, };c=[1, {"d": 2}];e=NaN;whole)");
  EXPECT_EQ(Pairs("{'a': 'it\\'s', 'b': (1, 2), 'c': {'d': ']'} }"),
            "a=it\\'s;b=(1, 2);c={'d': ']'};whole");
  EXPECT_EQ(Pairs("{}"), "whole");
}

TEST(DictScan, SaysWhatIsTorn) {
  EXPECT_EQ(Pairs("{'a': 1, 'b': 2.5"), "a=1;");
  EXPECT_EQ(Pairs("{'a': 1, 'b': 'x"), "a=1;");
  EXPECT_EQ(Pairs("{'a': 1, 'b"), "a=1;");
  EXPECT_EQ(Pairs("{'a': 1, b: 2}"), "a=1;");
  EXPECT_EQ(Pairs("{'a': [1, 2}"), "");
  EXPECT_EQ(Pairs("{"), "");
}

TEST(DictScan, Numbers) {
  DictScan dict(
      "{'a': '1.5', 'b': [2e-05], 'c': -Infinity, 'd': None, 'e': "
      "3.0, 'f': -1, 'g': 1e300, 'h': 'nan'}");
  ASSERT_TRUE(dict.Next());
  EXPECT_EQ(dict.Number(), 1.5);
  EXPECT_TRUE(dict.quoted());
  ASSERT_TRUE(dict.Next());
  EXPECT_EQ(dict.Number(), 2e-05);
  EXPECT_FALSE(dict.quoted());
  ASSERT_TRUE(dict.Next());
  EXPECT_EQ(dict.Number(), -INFINITY);
  ASSERT_TRUE(dict.Next());
  EXPECT_EQ(dict.Number(), std::nullopt);
  EXPECT_EQ(dict.Count(), std::nullopt);
  ASSERT_TRUE(dict.Next());
  EXPECT_EQ(dict.Count(), 3);
  ASSERT_TRUE(dict.Next());
  EXPECT_EQ(dict.Count(), std::nullopt);
  ASSERT_TRUE(dict.Next());
  EXPECT_EQ(dict.Count(), std::nullopt);
  ASSERT_TRUE(dict.Next());
  EXPECT_TRUE(std::isnan(dict.Number().value_or(0)));
  EXPECT_EQ(dict.Count(), std::nullopt);
}

}  // namespace
}  // namespace nanwatch
