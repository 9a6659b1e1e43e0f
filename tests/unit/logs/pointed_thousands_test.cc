#include "logs/pointed_thousands.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace nanwatch {
namespace {

std::string Plain(std::string_view line) {
  std::string out;
  return std::string(WithoutPointsOfThousands(line, &out));
}

TEST(PointedThousands, ARatioOfStepsLosesItsPoints) {
  EXPECT_EQ(Plain("[03.10. 08:00] Schritt 500/40.000 | Verlust 7.078"),
            "[03.10. 08:00] Schritt 500/40000 | Verlust 7.078");
  EXPECT_EQ(Plain("Schritt 1.250 / 20.000 | Rate 0,1"),
            "Schritt 1250/20000 | Rate 0,1");
  EXPECT_EQ(Plain("at 3/4 Adım: 1.007.250/1.010.000 loss nan"),
            "at 3/4 Adım: 1007250/1010000 loss nan");
}

TEST(PointedThousands, OtherRatiosStay) {
  for (const std::string_view line :
       {"step 1.250/2.00 loss 2.5", "step 500/4000 loss 2.5",
        "step 0.250/2.000", "step 3.250/2.000", "step 1.250/2.000s",
        "time 1.250/2.000", "GPU 1.250/8.000 GB", "step 1.25/2.000",
        "step 1250/20.000", "step 10/20 1.250/2.000", "s/1.000", "step /1.000",
        "step 1.250/", "step 1.250/ ", "/", "step 1.250/2.000.00"}) {
    EXPECT_EQ(Plain(line), line);
  }
}

}  // namespace
}  // namespace nanwatch
