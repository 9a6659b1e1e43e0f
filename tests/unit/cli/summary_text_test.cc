#include "cli/summary_text.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CountText, UnknownIsNotZero) {
  EXPECT_EQ(CountText(998, 1000, 0, "applied"), "998 applied");
  EXPECT_EQ(CountText(0, 1000, 0, "applied"), "0 applied");
  EXPECT_EQ(CountText(0, 0, 0, "applied"), "0 applied");
  EXPECT_EQ(CountText(0, 1000, 1000, "applied"), "applied: not collected");
  EXPECT_EQ(CountText(3, 1000, 900, "applied"), "3 applied (900 not known)");
}

TEST(NumbersText, ARunThatSaysNeitherOverflowNorSkipped) {
  v1::RunDetail detail;
  v1::RunSummary& run = *detail.mutable_summary();
  run.set_attempts(1000);
  run.set_steps(1000);
  run.set_fate_unknown(1000);
  run.set_overflow_unknown(1000);
  run.set_skipped_unknown(1000);
  Style wide;
  wide.columns = 200;
  const std::string text = NumbersText(detail, wide);
  EXPECT_THAT(text, HasSubstr("1,000 attempts, applied: not collected"));
  EXPECT_THAT(text, HasSubstr("overflowed: not collected"));
  EXPECT_THAT(text, HasSubstr("skipped: not collected"));
  EXPECT_THAT(text, Not(HasSubstr("0 applied")));
}

}  // namespace
}  // namespace nanwatch
