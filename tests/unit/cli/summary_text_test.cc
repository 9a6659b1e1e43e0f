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
  EXPECT_THAT(text, HasSubstr("1,000 updates, applied: not collected"));
  EXPECT_THAT(text, HasSubstr("not finite: not collected"));
  EXPECT_THAT(text, HasSubstr("skipped: not collected"));
  EXPECT_THAT(text, Not(HasSubstr("0 applied")));
}

TEST(NumbersText, OneIsNotMany) {
  v1::RunDetail detail;
  v1::RunSummary& run = *detail.mutable_summary();
  run.set_attempts(1);
  run.set_steps(1);
  run.set_dropped_steps(1);
  const std::string text = NumbersText(detail, Style());
  EXPECT_THAT(
      text,
      HasSubstr("1 update, 0 applied; 1 record, 0 with gradients not finite"));
  EXPECT_THAT(text, HasSubstr("1 step record was dropped"));
}

TEST(ClockText, SpeaksOfClocksThatAreOff) {
  constexpr int64_t kHour = 3'600'000'000;
  v1::RunDetail run;
  run.add_ranks()->set_clock_skew_us(60'000'000);
  run.add_ranks()->set_clock_skew_us(-60'000'000);
  EXPECT_EQ(ClockText(run), "");
  v1::RankSummary& behind = *run.add_ranks();
  behind.set_rank(2);
  behind.set_clock_skew_us(-61'000'000);
  EXPECT_EQ(ClockText(run),
            "rank 2's clock is 61 s behind: times are shown by the daemon's");
  v1::RankSummary& ahead = *run.add_ranks();
  ahead.set_rank(3);
  ahead.set_clock_skew_us(3 * kHour);
  EXPECT_EQ(ClockText(run),
            "the clocks of 2 ranks are off, rank 3's most, 3 h ahead: times "
            "are shown by the daemon's");
  EXPECT_THAT(NumbersText(run, Style()), HasSubstr("rank 3's most, 3 h ahead"));
  // A record takes a moment to arrive: what is next to 3 h is 3 h.
  ahead.set_clock_skew_us(3 * kHour - 70'000);
  EXPECT_THAT(ClockText(run), HasSubstr("3 h ahead"));
  ahead.set_clock_skew_us(3 * kHour + 70'000);
  EXPECT_THAT(ClockText(run), HasSubstr("3 h ahead"));
  ahead.set_clock_skew_us(119'600'000);
  EXPECT_THAT(ClockText(run), HasSubstr("2 min ahead"));
  ahead.set_clock_skew_us(50 * kHour);
  EXPECT_THAT(ClockText(run), HasSubstr("2 d ahead"));
}

}  // namespace
}  // namespace nanwatch
