#include "logs/copy_filter.h"

#include <gtest/gtest.h>

namespace nanwatch {
namespace {

using Verdict = CopyFilter::Verdict;

LogFact Overflow(double after, std::optional<double> before = {},
                 std::optional<int32_t> rank = {}) {
  LogFact fact;
  fact.kind = LogFact::Kind::kOverflow;
  fact.Set(StepField::kLossScale, after);
  fact.scale_before = before;
  fact.rank = rank;
  return fact;
}

TEST(CopyFilter, RanksThatPrintTheSameAreOne) {
  CopyFilter filter;
  for (const double scale : {32768.0, 16384.0, 8192.0, 4096.0, 2048.0}) {
    EXPECT_EQ(filter.Judge(Overflow(scale)), Verdict::kNew);
    for (int copy = 1; copy < 8; ++copy) {
      EXPECT_EQ(filter.Judge(Overflow(scale)), Verdict::kCopy) << copy;
    }
  }
  EXPECT_EQ(filter.copies(), 8);
}

TEST(CopyFilter, CopiesComeLateAndMixed) {
  CopyFilter filter;
  EXPECT_EQ(filter.Judge(Overflow(8, 16)), Verdict::kNew);
  EXPECT_EQ(filter.Judge(Overflow(8, 16)), Verdict::kCopy);
  EXPECT_EQ(filter.Judge(Overflow(4, 8)), Verdict::kNew);
  EXPECT_EQ(filter.Judge(Overflow(8, 16)), Verdict::kCopy);
  EXPECT_EQ(filter.Judge(Overflow(4, 8)), Verdict::kCopy);
}

TEST(CopyFilter, AScaleThatComesAgainAfterAStepLineIsNew) {
  CopyFilter filter;
  EXPECT_EQ(filter.Judge(Overflow(32768)), Verdict::kNew);
  filter.Separate();
  EXPECT_EQ(filter.Judge(Overflow(32768)), Verdict::kNew);
}

TEST(CopyFilter, AtAStandingScaleEachIsItsOwn) {
  CopyFilter filter;
  EXPECT_EQ(filter.Judge(Overflow(1, 1)), Verdict::kNew);
  EXPECT_EQ(filter.Judge(Overflow(1, 1)), Verdict::kNew);
}

TEST(CopyFilter, TheSameRankTwiceIsAnotherOptimizer) {
  CopyFilter filter;
  EXPECT_EQ(filter.Judge(Overflow(8, 16, 0)), Verdict::kNew);
  EXPECT_EQ(filter.Judge(Overflow(8, 16, 0)), Verdict::kOther);
}

}  // namespace
}  // namespace nanwatch
