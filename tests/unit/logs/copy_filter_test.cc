#include "logs/copy_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "logs/log_reader.h"

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

// Up and down, without a step line between: copies would end.
TEST(CopyFilter, WhatComesAgainAndAgainIsNoCopy) {
  CopyFilter filter;
  int told = 0;
  for (int i = 0; i < 300; ++i) {
    const Verdict verdict = filter.Judge(Overflow(i % 2 == 0 ? 4 : 0.5));
    told += verdict == Verdict::kNew ? 1 : 0;
  }
  EXPECT_EQ(told, 298);
}

// Once for each rank, though in turns.
TEST(CopyFilter, TwoRanksInTurnsAreOne) {
  CopyFilter filter;
  for (const double scale : {32768.0, 8192.0, 2048.0}) {
    EXPECT_EQ(filter.Judge(Overflow(scale)), Verdict::kNew);
    EXPECT_EQ(filter.Judge(Overflow(scale / 2)), Verdict::kNew);
    if (scale < 32768) continue;  // now it is known that ranks print alone
    EXPECT_EQ(filter.Judge(Overflow(scale)), Verdict::kCopy);
    EXPECT_EQ(filter.Judge(Overflow(scale / 2)), Verdict::kCopy);
  }
}

// GNMT at its floor: only the scale after it is told.
TEST(CopyFilter, TheSameRankAgainWithoutTheScaleBeforeIsAtTheFloor) {
  CopyFilter filter;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(filter.Judge(Overflow(1, {}, 0)), Verdict::kNew) << i;
  }
}

// Where lines name their ranks, in any order, some behind a step line.
TEST(CopyFilter, NamedRanksAreCopiesHoweverLate) {
  CopyFilter filter;
  int told = 0;
  for (int32_t i = 0; i < 20; ++i) {
    for (int32_t r = 0; r < 8; ++r) {
      if (r == 5) filter.Separate();
      const int32_t rank = (r * 3 + i) % 8;
      told += filter.Judge(Overflow(8, 16, rank)) == Verdict::kNew ? 1 : 0;
    }
    filter.Separate();
  }
  EXPECT_EQ(told, 20);
}

// At the floor nothing else tells two updates apart.
TEST(CopyFilter, NamedRanksAtAStandingScaleSpeakOnceAnUpdate) {
  CopyFilter filter;
  int told = 0;
  for (int32_t i = 0; i < 20; ++i) {
    for (int32_t rank = 0; rank < 8; ++rank) {
      told += filter.Judge(Overflow(1, 1, rank)) == Verdict::kNew ? 1 : 0;
    }
  }
  EXPECT_EQ(told, 20);
}

TEST(CopyFilter, TheSameRankTwiceMayBeAnotherOptimizer) {
  CopyFilter filter;
  EXPECT_EQ(filter.Judge(Overflow(8, 16, 0)), Verdict::kNew);
  EXPECT_EQ(filter.Judge(Overflow(8, 16, 0)), Verdict::kOther);
  EXPECT_EQ(filter.Judge(Overflow(4, 8, 0)), Verdict::kNew);
  EXPECT_EQ(filter.Judge(Overflow(4, 8, 0)), Verdict::kOther);
  filter.Separate();
  EXPECT_FALSE(filter.two_scalers());
  EXPECT_EQ(filter.Judge(Overflow(2, 4, 0)), Verdict::kNew);
  filter.Separate();
  EXPECT_TRUE(filter.two_scalers());
}

// DeepSpeed with hysteresis, and no step line between: what is tried at
// 2048 again was raised, and falls again.
TEST(CopyFilter, OneRankThatFallsAgainBehindARaise) {
  CopyFilter filter;
  EXPECT_EQ(filter.Judge(Overflow(1024, 2048, 0)), Verdict::kNew);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(filter.Judge(Overflow(2048, 2048, 0)), Verdict::kNew) << i;
    EXPECT_EQ(filter.Judge(Overflow(1024, 2048, 0)), Verdict::kNew) << i;
  }
}

// The scale that a step line shows, in a line of its own above it.
TEST(ScaleOfALine, ThatIsSaidAboveItIsNoUpdate) {
  std::vector<int64_t> steps;
  LogReader reader(nullptr, {}, [&steps](const LogRecord& record) {
    steps.push_back(record.step.step);
  });
  const auto read = [&reader](int batch, const char* said, const char* scale) {
    reader.ReadLine(
        std::string("WARNING [train.py:1057] (0/4) Grad scale is small: ") +
        said);
    reader.ReadLine("INFO [train.py:1034] (0/4) Epoch 3, batch " +
                    std::to_string(batch) +
                    ", loss[loss=0.25, over 14725.00 frames. ], lr: 2.4e-02, "
                    "grad_scale: " +
                    scale);
  };
  for (int i = 0; i < 9; ++i) read(50 * i, "0.0078125", "0.0078125");
  read(450, "0.00390625", "0.00390625");
  read(500, "0.001953125", "0.0009765625");
  reader.Finish();
  EXPECT_EQ(steps.size(), 13u);  // two of them before the last
  EXPECT_EQ(std::count(steps.begin(), steps.end(), 450), 1);
}

}  // namespace
}  // namespace nanwatch
