#include "scaler/simulation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <vector>

namespace nanwatch {
namespace {

constexpr double kNo = RecordedUpdate::kNotRecorded;

RecordedUpdate At(int64_t step, double scale, bool overflow, double fits = kNo,
                  double needs = kNo) {
  return {step, scale, overflow, overflow, fits, needs};
}

// One of three or more overflows in a row at 1 or less.
bool IsStuck(const std::vector<RecordedUpdate>& all, size_t i) {
  const auto low = [&](size_t k) {
    return k < all.size() && all[k].overflow && all[k].scale <= 1;
  };
  if (!low(i)) return false;
  size_t streak = 1;
  for (size_t k = i + 1; low(k); ++k) ++streak;
  for (size_t k = i; k > 0 && low(k - 1); --k) ++streak;
  return streak >= 3;
}

// The rules of simulation.h, by looking at every update for every question.
Answer SlowAnswer(const std::vector<RecordedUpdate>& all, size_t i,
                  double scale) {
  struct Told {
    bool any = false;
    bool overflow = false;
    bool by_measure = false;
  };
  const auto told = [&](size_t k) -> Told {
    const RecordedUpdate& a = all[k];
    if (IsStuck(all, k)) return {true, true, false};
    if (a.overflow) return {scale >= a.scale, true, false};
    if (scale <= a.scale) return {true, false, false};
    if (std::isnan(a.fits_up_to)) return {};
    return {true, scale > a.fits_up_to, true};
  };
  if (IsStuck(all, i) && scale < all[i].scale) return {true, Basis::kStuck};
  if (const Told own = told(i); own.any) {
    return {own.overflow, own.by_measure ? Basis::kMeasured : Basis::kRecorded};
  }
  for (size_t away = 1; away < all.size(); ++away) {
    Told found;
    for (const size_t j : {i - away, i + away}) {
      if (j >= all.size()) continue;  // i - away wraps
      const Told one = told(j);
      if (!one.any) continue;
      found.any = true;
      found.overflow = found.overflow || one.overflow;
    }
    if (found.any) return {found.overflow, Basis::kNeighbour};
  }
  return {true, Basis::kNothing};
}

// Gradients whose largest value wanders, under a scaler of some kind.
std::vector<RecordedUpdate> RandomRun(uint32_t seed, bool ranges) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  ScalerParameters p;
  p.init = std::exp2(static_cast<double>(random() % 30));
  p.growth_interval = 3 + static_cast<int64_t>(random() % 9);
  p.growth = random() % 4 == 0 ? Growth::kNever : Growth::kConsecutive;
  ScalerModel model(p);
  std::vector<RecordedUpdate> run;
  // log2 of the largest scale that fits; some runs are beyond any scale.
  double limit = seed % 5 == 0 ? -4 : 14;
  const size_t updates = 1 + random() % 70;
  for (size_t i = 0; i < updates; ++i) {
    limit += uniform(random) * 3 - 1.5;
    const double scale = model.scale();
    const bool overflow = scale > std::exp2(limit);
    const bool seen = ranges && !overflow && random() % 3 != 0;
    run.push_back(At(static_cast<int64_t>(i), scale, overflow,
                     seen ? std::exp2(limit) : kNo));
    model.Next(overflow);
  }
  return run;
}

TEST(OverflowKnowledgeTest, AgreesWithLookingAtEveryUpdate) {
  for (uint32_t seed = 0; seed < 120; ++seed) {
    const std::vector<RecordedUpdate> run = RandomRun(seed, seed % 2 == 1);
    const OverflowKnowledge knowledge(run);
    for (size_t i = 0; i < run.size(); ++i) {
      for (double log2 = -3; log2 < 34; log2 += 0.7) {
        const double scale = std::exp2(log2);
        const Answer fast = knowledge.At(i, scale);
        const Answer slow = SlowAnswer(run, i, scale);
        ASSERT_EQ(fast.overflow, slow.overflow)
            << "seed " << seed << " update " << i << " scale 2^" << log2;
        ASSERT_EQ(fast.basis, slow.basis)
            << "seed " << seed << " update " << i << " scale 2^" << log2;
      }
      ASSERT_EQ(knowledge.At(i, run[i].scale).overflow, run[i].overflow);
      ASSERT_EQ(knowledge.At(i, run[i].scale).basis, Basis::kRecorded);
    }
  }
}

TEST(OverflowKnowledgeTest, WhatWasMeasuredIsNeverContradicted) {
  // Measured a little below the scale at which it did not overflow.
  const std::vector<RecordedUpdate> run = {At(0, 1024, false, 1000)};
  const OverflowKnowledge knowledge(run);
  EXPECT_FALSE(knowledge.At(0, 1024).overflow);
  EXPECT_TRUE(knowledge.At(0, 1025).overflow);
  EXPECT_EQ(knowledge.At(0, 1025).basis, Basis::kMeasured);
}

TEST(OverflowKnowledgeTest, BetweenTwoAsNearTheOverflowDecides) {
  const std::vector<RecordedUpdate> run = {
      At(0, 4096, false), At(1, 1024, false), At(2, 2048, true)};
  const OverflowKnowledge knowledge(run);
  EXPECT_TRUE(knowledge.At(1, 2048).overflow);
  EXPECT_EQ(knowledge.At(1, 2048).basis, Basis::kNeighbour);
  EXPECT_FALSE(knowledge.At(0, 2048).overflow);
}

// DeepSpeed at its floor of 1, where update after update overflowed: another
// scaler that goes on falling finds nothing below.
TEST(SimulationTest, WhatIsStuckAtTheFloorIsStuckBelowIt) {
  std::vector<RecordedUpdate> run;
  for (int64_t step = 0; step < 500; ++step) run.push_back(At(step, 64, false));
  double scale = 64;
  for (int64_t step = 500; step < 1000; ++step) {
    run.push_back(At(step, scale, true));
    scale = std::max(1.0, scale / 2);
  }
  ScalerParameters p;
  p.init = 64;
  p.growth_interval = 2000;
  const ScalerOutcome is =
      Simulate(run, OverflowKnowledge(run), {p}, Unknown::kAssume);
  EXPECT_EQ(is.overflows, 500u);
  EXPECT_LT(is.last, 1e-100);
  EXPECT_EQ(is.lower.stuck, is.lower.updates);
  EXPECT_GT(is.lower.stuck, 400u);
}

TEST(SimulationTest, TheSameScalerDoesTheSameAndAssumesNothing) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    ScalerParameters p;
    p.init = 65536;
    p.growth_interval = 5;
    p.floor = 1;
    p.hysteresis = Hysteresis::kUntilGrowth;
    p.hysteresis_count = 2;
    ScalerModel model(p);
    std::vector<RecordedUpdate> run;
    for (int64_t step = 0; step < 200; ++step) {
      const bool overflow = random() % 7 == 0;
      run.push_back(At(step, model.scale(), overflow));
      model.Next(overflow);
    }
    const ScalerOutcome was = Recorded(run, 1);
    const ScalerOutcome is =
        Simulate(run, OverflowKnowledge(run), {p}, Unknown::kAssume);
    EXPECT_EQ(is.updates, 200u);
    EXPECT_EQ(is.overflows, was.overflows);
    EXPECT_EQ(is.skipped, was.skipped);
    EXPECT_EQ(is.lowest, was.lowest);
    EXPECT_EQ(is.highest, was.highest);
    EXPECT_EQ(is.last, was.last);
    EXPECT_EQ(is.at_floor, was.at_floor);
    EXPECT_EQ(is.higher.updates + is.lower.updates, 0u);
  }
}

// By the slow answers, update for update.
TEST(SimulationTest, AgreesWithAPlainLoopOverSlowAnswers) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const std::vector<RecordedUpdate> run = RandomRun(seed, seed % 2 == 0);
    ScalerParameters p;
    p.init = std::exp2(static_cast<double>(seed % 25));
    p.growth_interval = 4;
    p.floor = 8;
    const ScalerOutcome fast =
        Simulate(run, OverflowKnowledge(run), {p}, Unknown::kAssume);
    double scale = p.init;
    int good = 0;
    ScalerOutcome slow;
    for (size_t i = 0; i < run.size(); ++i) {
      const Answer answer = SlowAnswer(run, i, scale);
      slow.overflows += answer.overflow;
      slow.measured += answer.basis == Basis::kMeasured;
      slow.at_floor += scale <= 8;
      if (answer.basis >= Basis::kNeighbour) {
        ++(run[i].overflow ? slow.lower : slow.higher).updates;
      }
      slow.last = scale;
      if (answer.overflow) {
        good = 0;
        scale = std::max(scale / 2, 8.0);
      } else if (++good == 4) {
        good = 0;
        scale *= 2;
      }
    }
    EXPECT_EQ(fast.overflows, slow.overflows) << seed;
    EXPECT_EQ(fast.skipped, slow.overflows) << seed;
    EXPECT_EQ(fast.measured, slow.measured) << seed;
    EXPECT_EQ(fast.at_floor, slow.at_floor) << seed;
    EXPECT_EQ(fast.last, slow.last) << seed;
    EXPECT_EQ(fast.higher.updates, slow.higher.updates) << seed;
    EXPECT_EQ(fast.lower.updates, slow.lower.updates) << seed;
  }
}

TEST(SimulationTest, AFixedScaleOverflowsWhereItIsAtLeastTheRecordedOne) {
  std::vector<RecordedUpdate> run;
  for (int64_t step = 0; step < 10; ++step) {
    run.push_back(At(step, step < 4 ? 65536 >> step : 4096, step < 4));
  }
  SimulatedScaler fixed;
  fixed.parameters.growth = Growth::kNever;
  fixed.parameters.init = 65536;
  const OverflowKnowledge knowledge(run);
  const ScalerOutcome high = Simulate(run, knowledge, fixed, Unknown::kAssume);
  EXPECT_EQ(high.overflows, 10u);
  // Known of the first four; of the others, nobody tried so high again.
  EXPECT_EQ(high.higher.updates, 6u);
  EXPECT_EQ(high.higher.overflows, 6u);
  EXPECT_EQ(high.higher.untold, 0u);
  EXPECT_EQ(high.higher.first_step, 4);
  fixed.parameters.init = 4096;
  const ScalerOutcome low = Simulate(run, knowledge, fixed, Unknown::kAssume);
  EXPECT_EQ(low.overflows, 0u);
  EXPECT_EQ(low.lower.updates, 4u);
  EXPECT_EQ(Simulate(run, knowledge, fixed, Unknown::kAlwaysOverflow).skipped,
            4u);
  EXPECT_EQ(Simulate(run, knowledge, fixed, Unknown::kNeverOverflow).skipped,
            0u);
}

TEST(SimulationTest, WhereNoUpdateTellsAnOverflowIsAssumed) {
  const std::vector<RecordedUpdate> run(5, At(0, 1024, false));
  SimulatedScaler fixed;
  fixed.parameters.growth = Growth::kNever;
  fixed.parameters.init = 2048;
  const ScalerOutcome outcome =
      Simulate(run, OverflowKnowledge(run), fixed, Unknown::kAssume);
  EXPECT_EQ(outcome.overflows, 5u);
  EXPECT_EQ(outcome.higher.untold, 5u);
}

TEST(SimulationTest, WithoutAScalerNothingIsSkipped) {
  const std::vector<RecordedUpdate> run(3, At(0, 1, true));
  SimulatedScaler none;
  none.parameters.growth = Growth::kNever;
  none.parameters.init = 1;
  none.skips = false;
  const ScalerOutcome outcome =
      Simulate(run, OverflowKnowledge(run), none, Unknown::kAssume);
  EXPECT_EQ(outcome.overflows, 3u);
  EXPECT_EQ(outcome.skipped, 0u);
}

TEST(SimulationTest, UnderflowIsCountedOnlyWhereGradientsWereRecorded) {
  const std::vector<RecordedUpdate> run = {
      At(0, 1024, false, 4096, 512), At(1, 1024, false),
      At(2, 1024, false, 4096, 2048), At(3, 1024, false, 4096, 256)};
  const ScalerOutcome was = Recorded(run, 0);
  EXPECT_EQ(was.bounded, 3u);
  EXPECT_EQ(was.underflow, 1u);
  SimulatedScaler fixed;
  fixed.parameters.growth = Growth::kNever;
  fixed.parameters.init = 4096;
  const ScalerOutcome is =
      Simulate(run, OverflowKnowledge(run), fixed, Unknown::kAssume);
  EXPECT_EQ(is.underflow, 0u);
  EXPECT_EQ(is.overflows, 0u);
  EXPECT_EQ(is.measured, 3u);
  EXPECT_EQ(is.higher.updates, 1u);  // as at its neighbours
}

TEST(SimulationTest, AScaleThatFallsToNothingEnds) {
  const std::vector<RecordedUpdate> run(1200, At(0, 1, true));
  ScalerParameters p;
  p.init = 1;
  const ScalerOutcome outcome =
      Simulate(run, OverflowKnowledge(run), {p}, Unknown::kAlwaysOverflow);
  EXPECT_EQ(outcome.lowest, 0);
  EXPECT_LT(outcome.overflows, 1200u);
}

TEST(SimulationTest, OfNothingThereIsNothing) {
  const std::vector<RecordedUpdate> none;
  ScalerParameters p;
  p.init = 1;
  EXPECT_EQ(
      Simulate(none, OverflowKnowledge(none), {p}, Unknown::kAssume).updates,
      0u);
}

}  // namespace
}  // namespace nanwatch
