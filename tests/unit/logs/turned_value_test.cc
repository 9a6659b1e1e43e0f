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

}  // namespace
}  // namespace nanwatch
