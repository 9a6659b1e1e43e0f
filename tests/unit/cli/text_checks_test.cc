#include "cli/text_checks.h"

#include <gtest/gtest.h>

#include <string>

namespace nanwatch {
namespace {

TEST(TextChecks, WhatIsNotUtf8IsNamedWithoutItsBytes) {
  const OptionCheck check = Utf8Text();
  std::string text = "r\xc3\xa9sum\xc3\xa9";
  EXPECT_EQ(check(text), "");
  text.clear();
  EXPECT_EQ(check(text), "");
  text = "bad\xff";
  EXPECT_EQ(check(text), "'bad?' is not UTF-8");
}

TEST(TextChecks, AFileIsThereAndNoFolder) {
  const OptionCheck check = ExistingFile();
  std::string text = "/dev/null";
  EXPECT_EQ(check(text), "");
  text = "/dev/null/none";
  EXPECT_EQ(check(text), "File does not exist: /dev/null/none");
  text = "/dev";
  EXPECT_EQ(check(text), "File is actually a directory: /dev");
}

}  // namespace
}  // namespace nanwatch
