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

TEST(DictWalk, TellsValuesByTheirPaths) {
  const std::string line =
      R"({"a": {"b": [1, {"c": "x\"y"}], "d": -1e5, "e": {}}, "f":"{g", "h":)"
      R"( "", 'i': {'j': {"k": None}}})";
  std::string told;
  const DictWalk::OnValue on_value = [&](auto path, auto text) {
    told.append(path).append("=").append(text).append(";");
  };
  DictWalk walk;
  EXPECT_EQ(walk.Read(line + " z", on_value), line.size());
  EXPECT_EQ(told, "a/d=-1e5;f={g;h=;i/j/k=None;");
  for (size_t size = 0; size < line.size(); ++size) {
    EXPECT_EQ(walk.Read(line.substr(0, size), on_value), std::string::npos)
        << size;
  }
  EXPECT_EQ(walk.Read("x}", on_value), std::string::npos);
}

TEST(DictWalk, AnObjectThatGathersANumberIsItsMean) {
  std::string told;
  const DictWalk::OnValue on_value = [&](auto path, auto text) {
    told.append(path).append("=").append(text).append(";");
  };
  DictWalk walk;
  walk.Read(
      R"({"a": {"num": 64, "mean": 2.5, "std": 1}, "b": {"mean": NaN, )"
      R"("num": 0, "std": NaN}, "c": {"d": {"count": 2, "mean": NaN}}, )"
      R"("e": {"mean": 1, "std": 2}, "f": {"num": 1, "mean": 2, "g": 3}})",
      on_value);
  EXPECT_EQ(told, "a=2.5;c/d=NaN;e/mean=1;e/std=2;f/num=1;f/mean=2;f/g=3;");
}

// {"a": {"a": ... 1}}, so many objects in one another.
std::string Nest(int depth) {
  std::string text = "1";
  for (int i = 0; i < depth; ++i) text = R"({"a": )" + text + "}";
  return text;
}

TEST(DictWalk, GoesSoDeepAndNoDeeper) {
  int told = 0;
  const DictWalk::OnValue on_value = [&](auto, auto) { ++told; };
  DictWalk walk;
  const std::string deep = Nest(DictWalk::kDepthMax);
  EXPECT_EQ(walk.Read(deep, on_value), deep.size());
  EXPECT_EQ(told, 1);
  EXPECT_EQ(walk.Read(Nest(DictWalk::kDepthMax + 1), on_value),
            std::string::npos);
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace nanwatch
