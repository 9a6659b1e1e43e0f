#include "dumps/json_scan.h"

#include <gmock/gmock.h>

#include <cmath>

namespace nanwatch {
namespace {

// What was found, in one text.
class Writer : public JsonListener {
 public:
  void OnBegin(bool is_object) override { text += is_object ? "{" : "["; }
  void OnEnd() override { text += ")"; }
  void OnKey(std::string_view key) override { text += std::string(key) + ":"; }
  void OnText(std::string_view value) override {
    text += "'" + std::string(value) + "'";
  }
  void OnNumber(double value, std::string_view digits) override {
    text += std::string(digits) + (std::isfinite(value) ? " " : "! ");
  }
  void OnBool(bool value) override { text += value ? "yes " : "no "; }
  void OnNull() override { text += "null "; }

  std::string text;
};

Result<std::string> Scanned(std::string_view json, size_t piece = 1) {
  Writer writer;
  JsonScan scan(&writer);
  for (size_t at = 0; at < json.size(); at += piece) {
    const Status fed = scan.Feed(json.substr(at, piece));
    if (!fed.ok()) return Error{fed.error()};
  }
  const Status ended = scan.Finish();
  if (!ended.ok()) return Error{ended.error()};
  return writer.text;
}

TEST(JsonScanTest, TheSameInPiecesAsWhole) {
  constexpr std::string_view kJson =
      R"({"a": [1, -2.5e3, NaN, Infinity, -Infinity], "b": {"c": null},
          "d": "x\"\u00e9\n", "e": [], "f": {}, "g": true, "h": false})";
  const Result<std::string> whole = Scanned(kJson, kJson.size());
  ASSERT_TRUE(whole.ok()) << whole.error();
  EXPECT_EQ(*whole,
            "{a:[1 -2.5e3 NaN! Infinity! -Infinity! )b:{c:null )"
            "d:'x\"\xc3\xa9\n'e:[)f:{)g:yes h:no )");
  for (const size_t piece : {1, 2, 7}) {
    EXPECT_EQ(*Scanned(kJson, piece), *whole);
  }
}

class NoJson : public testing::TestWithParam<const char*> {};

TEST_P(NoJson, IsRefused) { EXPECT_FALSE(Scanned(GetParam()).ok()); }

INSTANTIATE_TEST_SUITE_P(All, NoJson,
                         testing::Values("", "{", "[1", "[1,]", "{\"a\"}",
                                         "{\"a\":}", "{a:1}", "[1 2]", "]",
                                         "{]", "[}", "nan", "inf", "-", "1e999",
                                         "[1]]", "\"x", "\"\\q\"",
                                         "\"\\u12g4\"", "tru", "{,}", "0x10",
                                         "1..2", "[1]x"));

TEST(JsonScanTest, SaysWhichLineIsWrong) {
  const Result<std::string> scanned = Scanned("{\n\"a\":\n ?}");
  ASSERT_FALSE(scanned.ok());
  EXPECT_THAT(scanned.error(), testing::StartsWith("line 3:"));
}

TEST(JsonScanTest, WhatIsTooDeepIsRefused) {
  const std::string deep(kJsonDepth, '[');
  EXPECT_TRUE(Scanned(deep + std::string(kJsonDepth, ']')).ok());
  EXPECT_FALSE(Scanned(deep + "[").ok());
}

TEST(JsonScanTest, ALongNameIsRefusedAndALongTextCut) {
  const std::string text(kJsonTextBytes + 1, 'x');
  EXPECT_FALSE(Scanned("{\"" + text + "\": 1}").ok());
  const Result<std::string> cut = Scanned("[\"" + text + "\"]");
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->size(), kJsonTextBytes + 4);
  EXPECT_FALSE(Scanned(std::string(kJsonWordBytes + 1, '1')).ok());
}

}  // namespace
}  // namespace nanwatch
