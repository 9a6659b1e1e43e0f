#include "logs/thousand_signs.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace nanwatch {
namespace {

std::string Plain(std::string_view line) {
  std::string out;
  return std::string(WithoutThousandSigns(line, &out));
}

TEST(ThousandSigns, AreTakenOut) {
  EXPECT_EQ(Plain("Step 1'500/1'040'000  loss=5.25"),
            "Step 1500/1040000  loss=5.25");
  EXPECT_EQ(Plain("étape 31\u202f500/40\u202f000 perte : 4,5"),
            "étape 31500/40000 perte : 4,5");
  EXPECT_EQ(Plain("Step 1’500 loss 5.25"), "Step 1500 loss 5.25");
}

TEST(ThousandSigns, OtherLinesStay) {
  for (const std::string_view line :
       {"{'step': 10, 'loss': 2.5}", "'10'100'", "x '1'500", "1'50", "1'5000",
        "0'500", "1234'500", "2.5'500", "a1'500", "'", "1'", "it's 500",
        "12 500", "step 10\u202fx"}) {
    EXPECT_EQ(Plain(line), line);
  }
}

}  // namespace
}  // namespace nanwatch
