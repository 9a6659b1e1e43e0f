#include "cli/text_checks.h"

#include <gtest/gtest.h>

#include <string>

namespace nanwatch {
namespace {

TEST(TextChecks, WhatIsNotUtf8IsNamedWithoutItsBytes) {
  const CLI::Validator check = Utf8Text();
  std::string text = "r\xc3\xa9sum\xc3\xa9";
  EXPECT_EQ(check(text), "");
  text.clear();
  EXPECT_EQ(check(text), "");
  text = "bad\xff";
  EXPECT_EQ(check(text), "'bad?' is not UTF-8");
}

}  // namespace
}  // namespace nanwatch
