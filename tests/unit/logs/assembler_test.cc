#include "logs/assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanwatch {
namespace {

using Kind = LogFact::Kind;

LogFact Line(int64_t step) {
  LogFact fact;
  fact.step = step;
  return fact.Set(StepField::kLoss, 2.5);
}

LogFact Overflow(double before, double after) {
  LogFact fact;
  fact.kind = Kind::kOverflow;
  if (before > 0) fact.scale_before = before;
  if (after > 0) fact.Set(StepField::kLossScale, after);
  return fact;
}

class AssemblerTest : public testing::Test {
 protected:
  // Facts, a line each.
  void Take(const std::vector<LogFact>& facts) {
    for (const LogFact& fact : facts) assembler_.Take(fact, ++line_);
  }
  void Learn(bool tells, bool skips_take_steps = true) {
    assembler_.Learn({tells, skips_take_steps});
  }
  int Overflows() const {
    int count = 0;
    for (const LogRecord& r : records_) {
      count += r.step.is(StepFlag::kOverflow) ? 1 : 0;
    }
    return count;
  }
  std::vector<int64_t> Steps() const {
    std::vector<int64_t> steps;
    for (const LogRecord& r : records_) steps.push_back(r.step.step);
    return steps;
  }

  std::vector<LogRecord> records_;
  Assembler assembler_{[this](const LogRecord& r) { records_.push_back(r); }};
  uint64_t line_ = 0;
};

TEST_F(AssemblerTest, WhatALogDoesNotTellIsNotCollected) {
  Learn(false);
  Take({Line(10), Line(20)});
  ASSERT_EQ(records_.size(), 2u);
  for (const LogRecord& r : records_) {
    EXPECT_EQ(r.step.flags_present, 0);
    EXPECT_FALSE(r.step.has(StepField::kLossScale));
  }
}

TEST_F(AssemblerTest, AnIntervalBecomesItsUpdates) {
  Learn(true);
  Take({Line(10), Line(20)});
  ASSERT_EQ(records_.size(), 11u);
  EXPECT_EQ(Steps().back(), 20);
  for (size_t i = 1; i < records_.size(); ++i) {
    EXPECT_TRUE(records_[i].step.is_not(StepFlag::kOverflow)) << i;
    EXPECT_EQ(records_[i].step.has(StepField::kLoss), i == 10) << i;
    EXPECT_EQ(records_[i].step.step, 10 + static_cast<int64_t>(i));
  }
}

TEST_F(AssemblerTest, OverflowsStandInTheirIntervalWithTheirScale) {
  Learn(true);
  Take({Line(10), Overflow(8, 4), Overflow(4, 2), Line(20)});
  ASSERT_EQ(records_.size(), 11u);
  EXPECT_EQ(Overflows(), 2);
  std::vector<double> scales;
  for (const LogRecord& r : records_) {
    if (r.step.has(StepField::kLossScale)) {
      scales.push_back(r.step[StepField::kLossScale]);
      EXPECT_TRUE(r.step.is(StepFlag::kSkipped));
    }
  }
  EXPECT_THAT(scales, testing::ElementsAre(4, 2));
}

// Later, 2 of 10 are spread; at the start they are the search for a scale, and
// an update that fits in between would end it.
TEST_F(AssemblerTest, TheSearchForAScaleIsOneRowOfOverflows) {
  Learn(true);
  LogFact first = Line(10);
  first.skipped_since = 4;
  Take({first, Line(20)});
  ASSERT_EQ(records_.size(), 20u);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(records_[i].step.is(StepFlag::kOverflow), i < 4) << i;
  }
}

// The first line alone might end a search: 2^29 down to 2^20.
TEST_F(AssemblerTest, AScaleThatIsWhereItWasWhileAllIsSkippedWasNeverHigher) {
  const auto first_scale = [this](double scale, double next) {
    records_.clear();
    Assembler assembler{[this](const LogRecord& r) { records_.push_back(r); }};
    assembler.Learn({.tells_overflows = true});
    for (int64_t step = 10; step <= 20; step += 10) {
      LogFact line = Line(step);
      line.skipped_since = 10;
      line.Set(StepField::kLossScale, step == 10 ? scale : next);
      assembler.Take(line, static_cast<uint64_t>(step));
    }
    return records_.at(0).step.get(StepField::kLossScale).value_or(0);
  };
  EXPECT_EQ(first_scale(0x1p20, 0x1p20), 0);
  EXPECT_EQ(first_scale(0x1p20, 0x1p10), 0x1p29);
  EXPECT_EQ(first_scale(1, 1), 0x1p9) << "a floor";
}

TEST_F(AssemblerTest, CountersTellWhatNoLineDoes) {
  Learn(true);
  LogFact line = Line(20);
  line.skipped_since = 3;
  Take({Line(10), line});
  EXPECT_EQ(Overflows(), 3);
  EXPECT_EQ(records_.size(), 11u);
}

TEST_F(AssemblerTest, CumulativeCountersAreDifferences) {
  Learn(true);
  LogFact a = Line(10);
  a.skipped_total = 7;
  LogFact b = Line(20);
  b.skipped_total = 8;
  Take({a, b});
  EXPECT_EQ(Overflows(), 8);
}

TEST_F(AssemblerTest, LinesAndACounterOfTheSameOverflowsAreNotAdded) {
  Learn(true);
  LogFact line = Line(20);
  line.skipped_since = 2;
  Take({Line(10), Overflow(8, 4), Overflow(4, 2), line});
  EXPECT_EQ(Overflows(), 2);
}

// Megatron under DeepSpeed: the counter stays 0 while the scale falls.
TEST_F(AssemblerTest, ACounterThatStandsStillIsNotBelieved) {
  Learn(true);
  LogFact a = Line(10);
  a.skipped_since = 0;
  a.Set(StepField::kLossScale, 65536);
  LogFact b = a;
  b.step = 20;
  b.Set(StepField::kLossScale, 8192);
  Take({a, b});
  for (size_t i = 1; i < records_.size(); ++i) {
    EXPECT_FALSE(records_[i].step.is_not(StepFlag::kOverflow)) << i;
  }
}

TEST_F(AssemblerTest, ALossLeftOutIsNanOnlyWhereNothingWasSkipped) {
  Learn(true);
  LogFact skipped;
  skipped.step = 20;
  skipped.loss_left_out = true;
  skipped.skipped_since = 10;
  LogFact nan = skipped;
  nan.step = 30;
  nan.skipped_since = 0;
  Take({Line(10), skipped});
  EXPECT_FALSE(records_.back().step.has(StepField::kLoss));
  Take({nan});
  ASSERT_TRUE(records_.back().step.has(StepField::kLoss));
  EXPECT_TRUE(std::isnan(records_.back().step[StepField::kLoss]));
}

TEST_F(AssemblerTest, EightRanksSayTheSame) {
  Learn(true);
  Take({Line(10)});
  for (int scale = 65536; scale > 8192; scale /= 2) {
    Take(std::vector<LogFact>(8, Overflow(0, scale / 2)));
  }
  Take({Line(20)});
  EXPECT_EQ(Overflows(), 3);
}

// Five copies before the step line, three after it.
TEST_F(AssemblerTest, LateCopiesAreCopies) {
  Learn(true);
  Take({Line(10)});
  Take(std::vector<LogFact>(8, Overflow(0, 32768)));
  Take({Line(20)});
  Take(std::vector<LogFact>(5, Overflow(0, 16384)));
  Take({Line(30)});
  Take(std::vector<LogFact>(3, Overflow(0, 16384)));
  Take({Line(40)});
  EXPECT_EQ(Overflows(), 2);
}

// At the floor the same line again is another overflow.
TEST_F(AssemblerTest, AtTheFloorEveryLineCounts) {
  Learn(true);
  Take({Line(10), Overflow(2, 1), Overflow(1, 1), Overflow(1, 1),
        Overflow(1, 1), Line(20)});
  EXPECT_EQ(Overflows(), 4);
}

LogFact OfRank0(LogFact fact) {
  fact.rank = 0;
  return fact;
}

// It does so with all that it prints.
TEST_F(AssemblerTest, OneRankThatSaysAllTwiceHasOneOptimizer) {
  Learn(true);
  Take({Line(10)});
  for (int64_t i = 0; i < 5; ++i) {
    const double scale = std::exp2(16 - i);
    Take({OfRank0(Overflow(scale, scale / 2)),
          OfRank0(Overflow(scale, scale / 2)), Line(20 + 10 * i)});
  }
  EXPECT_EQ(Overflows(), 5);
  EXPECT_EQ(records_.size(), 51u);
  for (const LogRecord& r : records_) EXPECT_EQ(r.optimizer, "");
}

// What they say together first may be one that prints twice, until one speaks
// alone.
TEST_F(AssemblerTest, OneRankThatSaysItTwiceAndOnceHasTwoOptimizers) {
  Learn(true);
  const LogFact both = OfRank0(Overflow(65536, 32768));
  Take({both, both, Line(10), OfRank0(Overflow(32768, 16384)), Line(20),
        OfRank0(Overflow(16384, 8192)), Line(30),
        OfRank0(Overflow(32768, 16384)), Line(40)});
  std::string optimizers;
  for (const LogRecord& r : records_) {
    if (!r.step.is(StepFlag::kOverflow)) continue;
    optimizers.append(r.optimizer).append(" ");
  }
  EXPECT_EQ(optimizers, " 1   1 ");
}

// A growth window of a few updates: it falls from one scale again and again.
TEST_F(AssemblerTest, WhatItsCounterCountsTwiceIsOneOptimizers) {
  Learn(true);
  const LogFact fall = OfRank0(Overflow(64, 32));
  LogFact counter = Line(0);
  counter.skipped_total = 0;
  for (int i = 0; i < 20; ++i) {
    const int falls = i % 3 == 1 ? 1 : 2;
    Take(std::vector<LogFact>(static_cast<size_t>(falls), fall));
    *counter.step += 10;
    *counter.skipped_total += falls;
    Take({counter});
  }
  for (const LogRecord& r : records_) EXPECT_EQ(r.optimizer, "");
  EXPECT_EQ(records_.size(), 200u);
  EXPECT_EQ(Overflows(), 33);
}

// One of them wins now and then; but NaN is NaN, until it is over.
TEST_F(AssemblerTest, OfAdversariesLossesItIsToldThatTheyAreNotFinite) {
  Learn(false);
  LogFact line = Line(1);
  line.of_adversary = true;
  for (int i = 0; i < 100; ++i) {
    line.Set(StepField::kLoss, i == 40 ? NAN : i);
    Take({line});
    ++*line.step;
  }
  ASSERT_EQ(records_.size(), 100u);
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(records_[i].step.has(StepField::kLoss), i >= 40 && i <= 64) << i;
  }
  EXPECT_TRUE(std::isnan(records_[40].step[StepField::kLoss]));
}

// A GAN's with Apex: a line a step, and a scaler for each of its losses.
TEST_F(AssemblerTest, AnOptimizerWithoutLinesMakesTheUpdatesOfTheOther) {
  Learn(true);
  LogFact second = Overflow(0, 32768);
  second.scaler = 1;
  Take({Line(10), second, Line(20), Line(30), Line(40)});
  int updates = 0;
  int overflows = 0;
  for (const LogRecord& r : records_) {
    if (r.optimizer != "1") continue;
    ++updates;
    overflows += r.step.is(StepFlag::kOverflow) ? 1 : 0;
    EXPECT_EQ(r.step.is(StepFlag::kOverflow), updates == 10) << updates;
  }
  EXPECT_EQ(updates, 30);
  EXPECT_EQ(overflows, 1);
}

// Of a log that is followed and pauses: behind the steps, not before them.
TEST_F(AssemblerTest, AnOptimizersFirstOverflowIsBehindTheStepsOfOthers) {
  Learn(true);
  LogFact second = Overflow(0, 32768);
  second.scaler = 1;
  Take({Line(5000), second});
  assembler_.Flush();
  EXPECT_EQ(records_.back().optimizer, "1");
  EXPECT_EQ(Steps().back(), 5001);
}

// DeepSpeed's counter goes with the program's next line: what lines told since
// the one before is in it.
TEST_F(AssemblerTest, ACounterDoesNotCountAgainWhatLinesTold) {
  assembler_.Learn({.tells_overflows = true, .has_program = true});
  LogFact counter;
  counter.beside = true;
  counter.skipped_total = 0;
  for (int64_t step = 1; step <= 60; ++step) {
    if (step % 20 == 5 || step == 30) {
      // The counter before it knows nothing of this one, the next one does.
      Take({Overflow(65536, 32768)});
      ++*counter.skipped_total;
    }
    Take({Line(step)});
    if (step % 10 != 0) continue;
    counter.step = step;
    Take({counter});
  }
  EXPECT_EQ(Overflows(), 4);
  EXPECT_EQ(records_.size(), 60u);
}

// fairseq: exact where it overflows, rounded to 0 in its step lines.
TEST_F(AssemblerTest, AScaleThatWasRoundedToZeroIsTheOneThatIsKnown) {
  Learn(true);
  LogFact line = Line(20);
  line.Set(StepField::kLossScale, 0.5);
  line.scale_at_most = true;
  Take({Line(10), Overflow(0, 0.25), line});
  EXPECT_EQ(records_.back().step[StepField::kLossScale], 0.25);
  line.step = 30;
  Take({Overflow(0, 4), line});
  EXPECT_EQ(records_.back().step[StepField::kLossScale], 0.5);
}

TEST_F(AssemblerTest, ALineThatSaysSoIsOfTheLastOverflow) {
  Learn(true);
  LogFact line = Line(20);
  line.overflow = true;
  Take({Line(10), Overflow(8, 4), Overflow(4, 2), line});
  EXPECT_EQ(records_.size(), 11u);
  EXPECT_EQ(Overflows(), 2);
  EXPECT_TRUE(records_.back().step.is(StepFlag::kOverflow));
}

TEST_F(AssemblerTest, TheSecondLineOfTwoGivesTheScale) {
  Learn(true);
  LogFact scale;
  scale.kind = Kind::kScale;
  scale.Set(StepField::kLossScale, 4096);
  Take({Line(10), Overflow(0, 0), scale, Line(20)});
  EXPECT_EQ(Overflows(), 1);
  bool found = false;
  for (const LogRecord& r : records_) {
    found |= r.step.is(StepFlag::kOverflow) &&
             r.step.has(StepField::kLossScale) &&
             r.step[StepField::kLossScale] == 4096;
  }
  EXPECT_TRUE(found);
}

TEST_F(AssemblerTest, WithoutStepsEveryOverflowIsAnUpdate) {
  Learn(true);
  Take({Overflow(0, 8), Overflow(0, 4), Overflow(0, 2)});
  assembler_.Flush();
  EXPECT_THAT(Steps(), testing::ElementsAre(0, 1, 2));
}

// A live log pauses between the overflows and the step line that counts them.
TEST_F(AssemblerTest, WhatWasToldBeforeItsStepLineIsNotToldAgain) {
  Learn(true);
  LogFact line = Line(20);
  line.skipped_since = 3;
  Take({Line(10), Overflow(8, 4), Overflow(4, 2)});
  assembler_.Flush();
  EXPECT_THAT(Steps(), testing::ElementsAre(10, 11, 12));
  EXPECT_EQ(Overflows(), 2);
  Take({Overflow(2, 1), line});
  EXPECT_EQ(Overflows(), 3);
  ASSERT_EQ(records_.size(), 11u);
  for (size_t i = 0; i < records_.size(); ++i) {
    EXPECT_EQ(records_[i].step.step, 10 + static_cast<int64_t>(i));
  }
  Take({Line(30)});
  EXPECT_EQ(records_.size(), 21u);
}

// Megatron's "number of nan iterations", of those that it skipped.
TEST_F(AssemblerTest, ACountedNanIsTheLossOfASkippedUpdate) {
  Learn(true);
  const auto nans = [this] {
    return std::count_if(records_.begin(), records_.end(), [](auto& r) {
      return r.step.has(StepField::kLoss) &&
             std::isnan(r.step[StepField::kLoss]) &&
             r.step.is(StepFlag::kSkipped);
    });
  };
  LogFact line = Line(20);
  line.skipped_since = 4;
  line.nan_since = 3;
  Take({Line(10), line});
  EXPECT_EQ(Overflows(), 4);
  EXPECT_EQ(nans(), 1);  // how many in a row is not told
  LogFact all;
  all.step = 30;
  all.skipped_since = all.nan_since = 10;
  Take({all});
  EXPECT_EQ(nans(), 11);
}

// The scale fell with an overflow that was told already: no counter lied.
TEST_F(AssemblerTest, ACounterIsBelievedAfterAnEarlyOverflow) {
  Learn(true);
  LogFact line = Line(10);
  line.Set(StepField::kLossScale, 8);
  Take({line, Overflow(0, 0)});
  assembler_.Flush();
  line.step = 20;
  line.Set(StepField::kLossScale, 4);
  Take({line});
  EXPECT_EQ(Overflows(), 1);
  ASSERT_EQ(records_.size(), 11u);
  EXPECT_TRUE(records_[5].step.is_not(StepFlag::kOverflow));
}

TEST_F(AssemblerTest, AStepLineAfterOverflowsWithoutOneDoesNotGoBack) {
  Learn(true, false);
  for (double scale = 1e30; scale > 1e8; scale /= 2) {
    Take({Overflow(scale, scale / 2)});
  }
  Take({Line(1), Line(2)});
  const std::vector<int64_t> steps = Steps();
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
}

TEST_F(AssemblerTest, StepsThatGoBackAreANewAttempt) {
  Learn(true);
  Take({Line(10), Line(20), Line(5)});
  EXPECT_EQ(Steps().back(), 5);
  EXPECT_LE(records_.size(), 12u);
}

TEST_F(AssemblerTest, AnUpdateThatWasAppliedAllTheSameIsNotSkipped) {
  Learn(true);
  LogFact overflow = Overflow(0, 1024);
  overflow.applied = true;
  Take({Line(10), overflow, Line(20)});
  for (const LogRecord& r : records_) {
    if (!r.step.is(StepFlag::kOverflow)) continue;
    EXPECT_TRUE(r.step.is_not(StepFlag::kSkipped));
  }
}

TEST_F(AssemblerTest, AVeryLongIntervalIsCut) {
  Learn(true);
  Take({Line(10), Line(1'000'000'000)});
  EXPECT_EQ(records_.size(), 1u + Assembler::kIntervalMax);
  EXPECT_EQ(Steps().back(), 1'000'000'000);
}

// The line shows what the last update was, and where each overflow is told an
// update without one is finite.
TEST_F(AssemblerTest, ALineThatShowsNanIsOfTheLastOverflow) {
  Learn(true);
  int64_t step = 0;
  for (const StepField field : {StepField::kLoss, StepField::kGradNorm}) {
    Take({Line(step += 10)});
    records_.clear();
    LogFact line = Line(step += 10);
    line.Set(field, NAN);
    Take({Overflow(8, 4), Overflow(4, 2), line});
    ASSERT_EQ(records_.size(), 10u);
    EXPECT_EQ(Overflows(), 2);
    const StepRecord& last = records_.back().step;
    EXPECT_TRUE(std::isnan(last[field]));
    EXPECT_TRUE(last.is(StepFlag::kOverflow));
    EXPECT_TRUE(last.is(StepFlag::kSkipped));
    EXPECT_EQ(last[StepField::kLossScale], 2);
    EXPECT_TRUE(records_[8].step.is_not(StepFlag::kOverflow));
  }
}

TEST_F(AssemblerTest, NanWithoutAnOverflowWasApplied) {
  Learn(true);
  LogFact raise;
  raise.kind = Kind::kScale;
  raise.Set(StepField::kLossScale, 16);
  LogFact line = Line(20);
  line.Set(StepField::kLoss, NAN);
  Take({Line(10), Overflow(8, 4), raise, line});
  EXPECT_EQ(Overflows(), 1);
  EXPECT_TRUE(records_.back().step.is_not(StepFlag::kSkipped));
}

// A log that was cut shows no overflow that both had at once; their counters
// differ.
TEST_F(AssemblerTest, CountersOfOneStepThatDifferAreTwoOptimizers) {
  Learn(true);
  const auto counter = [](int64_t step, int64_t skipped) {
    LogFact fact;
    fact.step = step;
    fact.beside = true;
    fact.skipped_total = skipped;
    return fact;
  };
  Take({counter(100, 5), counter(100, 5), counter(110, 5), counter(110, 7),
        counter(120, 6), counter(120, 7), counter(130, 6), counter(130, 8)});
  std::map<std::string_view, int> overflows;
  for (const LogRecord& r : records_) {
    if (r.step.step <= 100 || !r.step.is(StepFlag::kOverflow)) continue;
    ++overflows[r.optimizer];
  }
  EXPECT_THAT(overflows, testing::UnorderedElementsAre(testing::Pair("", 1),
                                                       testing::Pair("1", 1)));
}

// Raises are not told: the scaler whose scale is nearest below has grown.
TEST_F(AssemblerTest, AnOverflowIsOfTheScalerThatGrewThere) {
  Learn(true);
  LogFact low = Overflow(8, 4);
  low.scaler = 0;
  LogFact high = Overflow(8192, 4096);
  high.scaler = 1;
  Take({low, high, Line(10), Overflow(8192, 4096), Line(20), Overflow(8, 4),
        Line(30), Overflow(16384, 8192), Line(40), Overflow(32, 16), Line(50)});
  std::string optimizers;
  for (const LogRecord& r : records_) {
    if (!r.step.is(StepFlag::kOverflow)) continue;
    optimizers.append(r.optimizer).append(" ");
  }
  EXPECT_EQ(optimizers, "0 1 1 0 1 0 ");
}

// Under DeepSpeed Megatron's counter stays at 0.
LogFact Megatron(int64_t step, double scale, double norm,
                 NormTold told = NormTold::kOwn) {
  LogFact fact = Line(step);
  fact.skipped_since = 0;
  fact.norm_told = told;
  fact.Set(StepField::kLossScale, scale);
  if (told == NormTold::kOwn) fact.Set(StepField::kGradNorm, norm);
  return fact;
}

TEST_F(AssemblerTest, TheFirstLineOfASearchThatNobodyCountsIsAnOverflow) {
  Learn(true);
  Take({Megatron(1, 1024, 0)});
  EXPECT_TRUE(records_.empty());  // it waits for the next one
  Take({Megatron(2, 512, 0), Megatron(3, 512, 90)});
  ASSERT_EQ(records_.size(), 3u);
  EXPECT_TRUE(records_[0].step.is(StepFlag::kOverflow));
  EXPECT_TRUE(records_[1].step.is(StepFlag::kOverflow));  // the scale fell
  EXPECT_EQ(records_[2].step.flags_present, 0);
}

TEST_F(AssemblerTest, TheFirstLineOfASearchMayShowTheNormOfTheNext) {
  Learn(true);
  Take({Megatron(1, 1024, 0.5), Megatron(2, 512, 0.5, NormTold::kAgain)});
  ASSERT_EQ(records_.size(), 2u);
  EXPECT_TRUE(records_[0].step.is(StepFlag::kOverflow));
}

TEST_F(AssemblerTest, AFirstLineWithANormOfItsOwnWasApplied) {
  Learn(true);
  Take({Megatron(1, 1024, 90), Megatron(2, 512, 0, NormTold::kZero)});
  ASSERT_EQ(records_.size(), 2u);
  EXPECT_FALSE(records_[0].step.is(StepFlag::kOverflow));
  EXPECT_TRUE(records_[1].step.is(StepFlag::kOverflow));
}

TEST_F(AssemblerTest, AFirstLineWaitsForNobodyAtTheEnd) {
  Learn(true);
  Take({Megatron(1, 1024, 0)});
  assembler_.Flush();
  ASSERT_EQ(records_.size(), 1u);
  EXPECT_TRUE(records_[0].step.is_not(StepFlag::kOverflow));
}

// At the floor only the norm shows that steps are skipped. A counter since the
// start beside it counts the same ones.
TEST_F(AssemblerTest, WhereTheCounterLiesTheNormShowsWhatWasSkipped) {
  Learn(true);
  Take({Megatron(1, 2, 90), Megatron(2, 2, 80)});
  for (int64_t step = 3; step <= 20; ++step) {
    LogFact line = Megatron(step, 1, 0, NormTold::kZero);
    if (step % 10 == 0) line.skipped_total = step - 2;
    Take({line});
  }
  EXPECT_EQ(Overflows(), 18);
  EXPECT_EQ(records_.size(), 20u);
}

// Lines ten steps apart: one overflow at least, which is the line's own where
// the norm shows that.
TEST_F(AssemblerTest, WhereTheCounterLiesAScaleThatFellIsAnOverflow) {
  Learn(true);
  Take({Megatron(10, 64, 90), Megatron(20, 64, 80), Megatron(30, 16, 70),
        Megatron(40, 8, 0, NormTold::kZero), Megatron(50, 8, 70)});
  EXPECT_EQ(Overflows(), 2);
  const auto line = [this](int64_t step) {
    return std::find_if(
        records_.begin(), records_.end(), [step](const LogRecord& r) {
          return r.step.step == step && r.step.has(StepField::kLoss);
        });
  };
  EXPECT_EQ(line(30)->step.flags_present, 0);
  EXPECT_TRUE(line(40)->step.is(StepFlag::kOverflow));
}

// Nothing but the scale tells overflows, and at its floor it is silent; what a
// norm that is not finite means its falls have shown.
TEST_F(AssemblerTest, AtTheFloorTheNormShowsWhatItsFallsHaveShown) {
  Learn(false);
  const auto line = [this](int64_t step, double scale, double norm) {
    Take({Line(step)
              .Set(StepField::kLossScale, scale)
              .Set(StepField::kGradNorm, norm)});
    return records_.back().step.is(StepFlag::kOverflow);
  };
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(line(1, 4, 1));
  EXPECT_FALSE(line(2, 4, inf)) << "the scaler may not see it";
  EXPECT_TRUE(line(3, 2, inf));
  EXPECT_FALSE(line(4, 2, inf)) << "one fall may be chance";
  EXPECT_TRUE(line(5, 1, inf));
  EXPECT_TRUE(line(6, 1, inf));
  EXPECT_TRUE(line(7, 1, std::nan("")));
  EXPECT_FALSE(line(8, 1, 1));
  EXPECT_FALSE(line(9, 2, inf)) << "it does not grow with an overflow";
  EXPECT_TRUE(line(10, 1, 1)) << "the norm is another update's";
  EXPECT_FALSE(line(11, 1, inf));
}

TEST_F(AssemblerTest, ANormOfZeroIsNoOverflowWhereTheCounterCounts) {
  Learn(true);
  Take({Megatron(1, 2, 90), Megatron(2, 2, 0, NormTold::kZero),
        Megatron(3, 2, 0, NormTold::kZero)});
  EXPECT_EQ(Overflows(), 0);
}

TEST_F(AssemblerTest, SaysWhoCountsTheSteps) {
  EXPECT_FALSE(assembler_.counts_steps());
  LogFact counted = Line(2);
  counted.step_counted = true;
  Take({Line(1), counted});
  EXPECT_FALSE(assembler_.counts_steps());
  LogFact without = Line(3);
  without.step.reset();
  Take({without});
  EXPECT_TRUE(assembler_.counts_steps());
}

TEST_F(AssemblerTest, ACounterThatCannotBeIsCut) {
  Learn(true);
  LogFact line = Line(20);
  line.skipped_total = 1;
  Take({line});
  line.step = 30;
  line.skipped_total = 1'000'000'000'000'000;
  Take({line});
  EXPECT_EQ(Overflows(), 1 + Assembler::kUnlistedMax);
}

}  // namespace
}  // namespace nanwatch
