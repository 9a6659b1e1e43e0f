#include "logs/turned_value.h"

#include <gtest/gtest.h>

#include <string>

namespace nanwatch {
namespace {

TEST(TurnedValueTest, IsAKnownNumberThatIsNoneAnyMore) {
  TurnedValue turned;
  for (int i = 1; i <= 5; ++i) {
    turned.Look("5%|# | " + std::to_string(i) + "/9 [00:10, DF=nan, G=-3.5]");
  }
  EXPECT_EQ(turned.line(), 0u);
  turned.Look("5%|# | 6/9 [00:10, DF=nan, G=inf]");
  turned.Look("5%|# | 7/9 [00:10, DF=nan, G=nan]");
  EXPECT_EQ(turned.line(), 6u);
  EXPECT_EQ(turned.name(), "G");
}

TEST(TurnedValueTest, OfAListItIsTheFirst) {
  TurnedValue turned;
  for (int i = 1; i <= 5; ++i) {
    turned.Look("INFO:net:[" + std::to_string(i) + ".5, 2.5]");
  }
  turned.Look("INFO:net:[nan, 2.5]");
  EXPECT_EQ(turned.line(), 6u);
  EXPECT_EQ(turned.name(), "net");
}

TEST(TurnedValueTest, OthersAreNone) {
  TurnedValue turned;
  for (int i = 1; i <= 5; ++i) turned.Look("val_x: 2.5, 12:10:11, y: 3");
  turned.Look("val_x: nan, z: nan, 12:nan, y: None, y");
  EXPECT_EQ(turned.line(), 0u);
}

TEST(TurnedValueTest, MayHaveGrownOutOfAllMeasure) {
  TurnedValue turned;
  double w = 0.5;
  for (int i = 1; i <= 40; ++i, w *= 1.9) {
    turned.Look("i=" + std::to_string(i) + " w=" + std::to_string(w) +
                " secs=" + std::to_string(i * 100.5 - 100.49) +
                " lr=" + std::to_string(w) + " u=" + std::to_string(-w));
  }
  EXPECT_EQ(turned.grown().name, "w");
  EXPECT_EQ(turned.grown().from, 0.5);
  TurnedValue few;
  for (int i = 1; i <= 7; ++i) few.Look("w=1e" + std::to_string(i));
  EXPECT_TRUE(few.grown().name.empty());
}

}  // namespace
}  // namespace nanwatch
