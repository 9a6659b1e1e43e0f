// Numbers whose point is a comma.

#include "logs/decimal_commas.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace nanwatch {
namespace {

std::string Pointed(std::string_view line) {
  std::string out;
  return std::string(WithDecimalPoints(line, &out));
}

TEST(DecimalCommas, ANumberShowsThatCommasPartNoThousands) {
  EXPECT_EQ(Pointed("loss: 0,2342 - acc: 0,9219"),
            "loss: 0.2342 - acc: 0.9219");
  EXPECT_EQ(Pointed("Loss: 1,234; Rate: 0,001; Dauer: 4,3 s"),
            "Loss: 1.234; Rate: 0.001; Dauer: 4.3 s");
  EXPECT_EQ(Pointed("03.04.2024 Verlust=12,5, Rate=0,1, Schritt=3"),
            "03.04.2024 Verlust=12.5, Rate=0.1, Schritt=3");
}

TEST(DecimalCommas, BesidePointsOnlyThoseThatPartNothingAreDecimal) {
  EXPECT_EQ(Pointed("step 12,600 loss = 4.4193, rate = 0,0003, left 79"),
            "step 12,600 loss = 4.4193, rate = 0.0003, left 79");
  EXPECT_EQ(Pointed("[07:05:12,250] gpus 0,1 loss = 4.4193"),
            "[07:05:12,250] gpus 0,1 loss = 4.4193");
}

TEST(DecimalCommas, ThousandsListsAndClocksStay) {
  for (const std::string_view line :
       {"step: 1,000, loss: nan", "step: 1,000 loss: 2.5", "tokens: 1,234,567",
        "[1,20] loss: nan", "ids: 0,1,2 loss: nan", "loss:nan,step:5,lr:1",
        "2025-01-31 12:01:07,050 step: 1,000 loss: nan",
        "loss:nan,step:5,2025-01-31", "loss: nan, step: 5",
        "[GPU 0,1] step 12,600 loss nan", "step 30 loss=1,017 beam=5,10"}) {
    EXPECT_EQ(Pointed(line), line);
  }
}

}  // namespace
}  // namespace nanwatch
