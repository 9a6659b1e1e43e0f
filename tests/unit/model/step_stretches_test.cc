#include "model/step_stretches.h"

#include <gtest/gtest.h>

namespace nanwatch {
namespace {

TEST(AddStretch, GoesOnWhereTheNewestEnds) {
  std::string told;
  AddStretch(600, 650, &told);
  EXPECT_EQ(told, "600-650");
  AddStretch(650, 700, &told);
  EXPECT_EQ(told, "600-700");
  AddStretch(1200, 1200, &told);
  EXPECT_EQ(told, "600-700 1200-1200");
  AddStretch(1190, 1210, &told);
  EXPECT_EQ(told, "600-700 1190-1210");
}

TEST(AddStretch, LeavesTheOldestOut) {
  std::string told;
  for (int64_t i = 0; i < 100; ++i) AddStretch(1000 * i, 1000 * i + 1, &told);
  EXPECT_LE(told.size(), 120u);
  EXPECT_TRUE(told.ends_with(" 99000-99001"));
  EXPECT_EQ(told.find("0-1 "), std::string::npos);
}

}  // namespace
}  // namespace nanwatch
