#include "rpc/short_reason.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

TEST(ShortReason, KeepsWhatFits) {
  const std::string fits(kReasonBytes, 'x');
  EXPECT_EQ(ShortReason(fits), fits);
  EXPECT_EQ(ShortReason(""), "");
}

TEST(ShortReason, CutsAfterASentence) {
  EXPECT_EQ(ShortReason("The loss is NaN. Weights follow soon.", 25),
            "The loss is NaN.…");
}

TEST(ShortReason, CutsBetweenWords) {
  EXPECT_EQ(ShortReason("one two three four", 16), "one two three…");
  EXPECT_EQ(ShortReason("one two three four", 15), "one two…");
}

TEST(ShortReason, CutsNoCharacterInTwo) {
  EXPECT_EQ(ShortReason("ääääääää", 10), "äää…");
}

}  // namespace
}  // namespace nanwatch
