// Overflows that no step line places, and numbers of whole epochs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "logs/assembler.h"

namespace nanwatch {
namespace {

using Kind = LogFact::Kind;

LogFact Overflow(double before, double after) {
  LogFact fact;
  fact.kind = Kind::kOverflow;
  if (before > 0) fact.scale_before = before;
  if (after > 0) fact.Set(StepField::kLossScale, after);
  return fact;
}

LogFact OfRank0(LogFact fact) {
  fact.rank = 0;
  return fact;
}

LogFact Raise(double after) {
  LogFact fact;
  fact.kind = Kind::kScale;
  return fact.Set(StepField::kLossScale, after);
}

LogFact Line(std::optional<int64_t> step, double loss = 2.5) {
  LogFact fact;
  fact.step = step;
  return fact.Set(StepField::kLoss, loss);
}

LogFact Epoch(int64_t epoch) {
  LogFact fact = Line(epoch);
  fact.of_epoch = true;
  return fact;
}

class QuietTest : public testing::Test {
 protected:
  QuietTest() {
    assembler_.Learn({.tells_overflows = true, .skips_take_steps = true});
  }
  void Take(const std::vector<LogFact>& facts) {
    for (const LogFact& fact : facts) assembler_.Take(fact, ++line_);
  }
  void End() { assembler_.Flush(); }
  // The most overflows in a row.
  int Streak() const {
    int longest = 0;
    int streak = 0;
    for (const StepRecord& r : records_) {
      streak = r.is(StepFlag::kOverflow) ? streak + 1 : 0;
      longest = std::max(longest, streak);
    }
    return longest;
  }
  int Overflows() const {
    return static_cast<int>(
        std::count_if(records_.begin(), records_.end(),
                      [](const auto& r) { return r.is(StepFlag::kOverflow); }));
  }

  std::vector<StepRecord> records_;
  Assembler assembler_{[this](const LogRecord& r) {
    EXPECT_TRUE(records_.empty() || records_.back().step <= r.step.step);
    records_.push_back(r.step);
  }};
  uint64_t line_ = 0;
};

// DeepSpeed: tried above what the line before left.
TEST_F(QuietTest, GoodUpdatesRaisedAScaleThatWasRaised) {
  Take({OfRank0(Overflow(1024, 512))});
  for (int i = 0; i < 20; ++i) {  // one is forgiven
    Take({OfRank0(Overflow(1024, 1024)), OfRank0(Overflow(1024, 512))});
  }
  End();
  EXPECT_EQ(Overflows(), 41);
  EXPECT_EQ(Streak(), 2);
  EXPECT_EQ(records_.size(), 41u + 20 * Assembler::kGrowthMin);
}

// The same rank does not say it twenty times of as many optimizers.
TEST_F(QuietTest, TheSameLineOfARankAgainAndAgainWasRaised) {
  Take(std::vector<LogFact>(40, OfRank0(Overflow(1024, 512))));
  End();
  EXPECT_GE(Overflows(), 20);
  EXPECT_EQ(Streak(), 1);
}

// Apex: the same again, where each halves it.
TEST_F(QuietTest, TheSameScaleLeftAgainWasRaised) {
  for (int i = 0; i < 40; ++i) {
    Take({Overflow(0, 4096), Overflow(0, 2048), Overflow(0, 2048)});
  }
  End();
  EXPECT_LE(Streak(), 2);
}

TEST_F(QuietTest, AFallIsNoRaise) {
  for (double scale = 65536; scale > 1e-6; scale /= 2) {
    Take({Overflow(0, scale)});
  }
  End();
  EXPECT_EQ(Streak(), static_cast<int>(records_.size()));
}

TEST_F(QuietTest, AtTheFloorNothingIsRaised) {
  for (int i = 0; i < 200; ++i) Take({Overflow(1, 1)});
  End();
  EXPECT_EQ(Streak(), 200);
}

// They go up and down there, and nothing is learned.
TEST_F(QuietTest, BelowOneNothingIsKnownToBeGood) {
  for (int i = 0; i < 20; ++i) Take({Overflow(0, i % 2 == 0 ? 0.25 : 0.125)});
  End();
  EXPECT_GE(Streak(), 18);  // two may be copies
}

TEST_F(QuietTest, ARaiseThatIsToldHasGoodUpdatesBeforeIt) {
  Take({Overflow(16, 8), Raise(16)});
  End();
  ASSERT_EQ(records_.size(), 1u + Assembler::kGrowthMin);
  EXPECT_EQ(records_.back()[StepField::kLossScale], 16);
  EXPECT_EQ(records_[50][StepField::kLossScale], 8);
}

// A line now and then, and nothing says after how many steps.
TEST_F(QuietTest, LinesWithoutStepsCountNoUpdates) {
  for (int i = 0; i < 20; ++i) {
    Take({Overflow(0, 2048), Line({}), Line({}), Line({})});
  }
  EXPECT_GT(records_.size(), 1900u);
}

// Between two such lines it does not grow ten times.
TEST_F(QuietTest, ManyOfTheSameBetweenTwoLinesStandAtAFloor) {
  Take({Line({}), Line({})});
  Take(std::vector<LogFact>(20, Overflow(128, 128)));
  Take({Line({})});
  EXPECT_GE(Streak(), 20);
}

TEST_F(QuietTest, StepsShowHowManyUpdatesThereWere) {
  Take({Line(10), Overflow(0, 2048), Line(20), Overflow(0, 2048), Line(30)});
  EXPECT_EQ(records_.size(), 21u);
}

// mindyolo, before it told overflows in its step lines alone.
TEST_F(QuietTest, WhoTellsTwoBetweenTwoLinesTellsEach) {
  assembler_.Learn({.tells_overflows = false, .skips_take_steps = true});
  Take({Overflow(0, 512), Overflow(0, 256), Line(100), Line(200)});
  EXPECT_EQ(records_.size(), 102u);
  EXPECT_TRUE(records_.back().is_not(StepFlag::kOverflow));
}

TEST_F(QuietTest, WhoTellsOneAtMostMayTellSome) {
  assembler_.Learn({.tells_overflows = false, .skips_take_steps = true});
  Take({Overflow(0, 512), Line(100), Overflow(0, 256), Line(200)});
  EXPECT_EQ(records_.size(), 3u);
  EXPECT_EQ(records_.back().flags_present, 0);
}

// mindyolo, since it tells an overflow only with a step line.
TEST_F(QuietTest, AnOverflowThatIsToldWithItsStepLineIsThatUpdate) {
  assembler_.Learn({.tells_overflows = false, .skips_take_steps = true});
  LogFact overflow = Overflow(0, 1024);
  overflow.applied = true;
  overflow.of_next_line = true;
  Take({Line(100), overflow, Line(200), overflow, Line(300), Line(400)});
  ASSERT_EQ(records_.size(), 4u);
  for (const size_t i : {1, 2}) {
    EXPECT_TRUE(records_[i].is(StepFlag::kOverflow)) << i;
    EXPECT_TRUE(records_[i].is_not(StepFlag::kSkipped)) << i;
    EXPECT_EQ(records_[i][StepField::kLoss], 2.5) << i;
  }
  EXPECT_EQ(records_[3].flags_present, 0);
  // The version before tells each.
  Take({overflow, overflow, Line(500)});
  EXPECT_EQ(records_.size(), 104u);
  EXPECT_TRUE(records_.back().is_not(StepFlag::kOverflow));
}

// MAE's log.txt: 853.33, Infinity.
TEST_F(QuietTest, AnEpochsMeansAreNoUpdates) {
  assembler_.Learn({.tells_overflows = false, .skips_take_steps = true});
  LogFact line = Epoch(1);
  line.Set(StepField::kLossScale, 853.3).Set(StepField::kGradNorm, INFINITY);
  Take({line});
  EXPECT_FALSE(records_[0].has(StepField::kLossScale));
  EXPECT_FALSE(records_[0].has(StepField::kGradNorm));
  EXPECT_EQ(records_[0][StepField::kLoss], 2.5);
}

// A level that all updates of an epoch came to.
TEST_F(QuietTest, AnEpochsScaleThatIsGoneIsTold) {
  assembler_.Learn({.tells_overflows = false, .skips_take_steps = true});
  for (const double scale : {0.25, 0.0, double{INFINITY}}) {
    LogFact line = Epoch(1);
    line.Set(StepField::kLossScale, scale);
    Take({line});
    ASSERT_TRUE(records_.back().has(StepField::kLossScale)) << scale;
    EXPECT_LE(records_.back()[StepField::kLossScale],
              std::max(scale, 0x1p-126));
  }
}

TEST_F(QuietTest, AnEpochsNormIsToldWhereItsLossIsLostToo) {
  LogFact line = Epoch(1);
  line.Set(StepField::kLoss, NAN).Set(StepField::kGradNorm, NAN);
  Take({line});
  EXPECT_TRUE(records_.back().has(StepField::kGradNorm));
}

// Its overflows are some of its updates.
TEST_F(QuietTest, AnEpochHasGoodUpdates) {
  for (int64_t epoch = 1; epoch <= 30; ++epoch) {
    Take(std::vector<LogFact>(5, Overflow(0, 2048)));
    Take({Epoch(epoch)});
    EXPECT_TRUE(records_.back().is_not(StepFlag::kOverflow)) << epoch;
  }
  EXPECT_LE(Streak(), 1);
}

// tacotron2: the scale of the update, and none behind it.
TEST_F(QuietTest, AScaleThatWasUpdateedIsTold) {
  Take({Line(1), Overflow(1024, 0), Line(2)});
  ASSERT_EQ(records_.size(), 2u);
  EXPECT_EQ(records_.back()[StepField::kLossScale], 1024);
}

// Megatron-LM: ten of ten were skipped, and the scale left is 128.
TEST_F(QuietTest, ASearchThatACounterTellsBeganAboveWhatItLeft) {
  LogFact line;
  line.step = 10;
  line.skipped_since = 10;
  line.Set(StepField::kLossScale, 128);
  Take({line, Line(20)});
  EXPECT_EQ(Overflows(), 10);
  EXPECT_EQ(records_[0][StepField::kLossScale], 65536);
  EXPECT_FALSE(records_[1].has(StepField::kLossScale));
  EXPECT_EQ(records_[9][StepField::kLossScale], 128);
}

// At a floor: no program begins so high.
TEST_F(QuietTest, ASearchBeginsAtTheHighestScaleAtMost) {
  LogFact line;
  line.step = 100;
  line.skipped_since = 100;
  line.Set(StepField::kLossScale, 1);
  Take({line, Line(200)});
  EXPECT_EQ(records_[0][StepField::kLossScale], 0x1p32);
}

LogFact Counted(int64_t step, int64_t skipped, double scale) {
  LogFact fact = Line(step);
  fact.skipped_since = skipped;
  return fact.Set(StepField::kLossScale, scale);
}

// A process that was restarted without its scaler's state: the steps go on, and
// it searches again, from where it began.
TEST_F(QuietTest, ASearchThatBeginsAgainIsOneRowFromAboveToo) {
  Take({Counted(100, 19, 8192)});
  for (int64_t step = 200; step <= 500; step += 100) {
    Take({Counted(step, 0, 8192)});
  }
  Take({Counted(600, 19, 8192)});
  EXPECT_EQ(records_[500][StepField::kLossScale], 0x1p31);
  EXPECT_EQ(Streak(), 19);
  EXPECT_TRUE(records_[500 + 18].is(StepFlag::kOverflow));
  EXPECT_TRUE(records_[500 + 19].is_not(StepFlag::kOverflow));
}

// No search: they come again and again.
TEST_F(QuietTest, OverflowsInEachIntervalAreSpread) {
  Take({Counted(100, 15, 65536)});
  for (int64_t step = 200; step <= 1000; step += 100) {
    Take({Counted(step, 15, 65536)});
    EXPECT_LE(records_[static_cast<size_t>(step) - 100][StepField::kLossScale],
              65536);
  }
  EXPECT_LE(Streak(), 15);
}

// icefall: a scale that is known is no higher where a line prints 0.
TEST_F(QuietTest, AScalePrintedAsZeroIsTheOneThatIsKnown) {
  LogFact zero = Raise(0.5);
  zero.scale_at_most = true;
  Take({Line(10), Overflow(0, 0.25), Line(20), zero, Line(30)});
  for (const StepRecord& record : records_) {
    EXPECT_NE(record[StepField::kLossScale], 0.5);
  }
}

}  // namespace
}  // namespace nanwatch
