// Rule 44: a loss that leaves its benchmark's.

#include "detect/bench_loss_divergence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/golden/words.h"
#include "tests/unit/detect/noise.h"

namespace nanwatch {
namespace {

// Two runs whose losses have a course and what their batches add.
class Pair {
 public:
  Pair() {
    for (const ThresholdSpec& threshold :
         BenchLossDivergence::kSpec.thresholds) {
      thresholds_.push_back(threshold.value);
    }
  }

  // `moved`: the run's loss over the benchmark's. `own`: noise of its own.
  void Step(double moved = 1, double own = 0) {
    const double course = 2 + 2 * std::exp(-step_ / 200.0);
    const double batch = batches_.Factor(0.05);
    const double other = same ? batch : others_.Factor(0.05);
    const double loss = course * other * moved * others_.Factor(own);
    const double bench = course * batch;
    const BenchContext context{.step = step_,
                               .loss = loss,
                               .bench_loss = bench,
                               .y = std::log(loss),
                               .bench_y = std::log(bench),
                               .bench_mean = std::log(course),
                               .bench_high = std::log(course) + 0.005,
                               .earlier_attempt = earlier,
                               .noise = noise,
                               .learned = learned};
    now = rule.OnBench(context, {thresholds_.data()});
    worst = std::max(worst, now);
    if (now != Severity::kNone && alerted < 0) alerted = step_;
    ++step_;
  }
  void Steps(int n, double moved = 1, double own = 0) {
    for (int i = 0; i < n; ++i) Step(moved, own);
  }
  Finding Described() const {
    Finding finding;
    finding.severity = now;
    rule.Describe(&finding);
    return finding;
  }

  BenchLossDivergence rule;
  bool same = true;      // both have the same batches
  bool earlier = false;  // the benchmark is the run's earlier attempt
  double noise = 0;      // of its losses; 0: not known
  double learned = 0;    // 0: within the noise
  Severity now = Severity::kNone;
  Severity worst = Severity::kNone;
  int64_t alerted = -1;  // step

 private:
  Noise batches_;
  Noise others_;
  std::vector<double> thresholds_;
  int64_t step_ = 0;
};

TEST(BenchLossDivergence, EqualLossesThatPartAtOnceAreAWarningWithin30Pairs) {
  Pair pair;
  pair.Steps(200);
  EXPECT_TRUE(pair.rule.noise().same_batches());
  EXPECT_EQ(pair.worst, Severity::kNone);
  pair.Steps(30, 1, 0.012);
  EXPECT_EQ(pair.now, Severity::kWarning);
  const Finding finding = pair.Described();
  EXPECT_GE(finding.opened_step, 200);
  EXPECT_LE(finding.opened_step, 203);
  EXPECT_GT(NumberOf(finding, "difference").value_or(0), 0.003);
  ExpectWords(finding.sentence);
  ExpectWords(finding.sentence_over);
  pair.Steps(99);
  EXPECT_EQ(pair.now, Severity::kWarning);
  pair.Steps(40);
  EXPECT_EQ(pair.now, Severity::kNone);
}

TEST(BenchLossDivergence, FewPairsBeforeAreEnough) {
  Pair pair;
  pair.Steps(45);
  pair.Steps(30, 1, 0.012);
  EXPECT_EQ(pair.now, Severity::kWarning);
}

TEST(BenchLossDivergence, RoundingThatGrowsLittleByLittleIsHealthy) {
  Pair pair;
  for (int i = 0; i < 2000; ++i) {
    pair.Step(1, std::min(0.01, 1e-7 * std::exp(i / 30.0)));
  }
  EXPECT_TRUE(pair.rule.noise().same_batches());
  EXPECT_EQ(pair.worst, Severity::kNone) << pair.alerted;
}

TEST(BenchLossDivergence, OtherBatchesMakeNoNoiseThatIsFound) {
  Pair pair;
  pair.same = false;
  pair.Steps(2000, 1.02);
  EXPECT_FALSE(pair.rule.noise().same_batches());
  EXPECT_EQ(pair.worst, Severity::kNone) << pair.alerted;
}

TEST(BenchLossDivergence, OtherBatchesThatAreLearnedWorseAreAWarning) {
  Pair pair;
  pair.same = false;
  pair.Steps(300);
  pair.Steps(60, 1.12);
  EXPECT_EQ(pair.now, Severity::kWarning);
  pair.Steps(200, 1.2);
  EXPECT_EQ(pair.now, Severity::kCritical) << "for 100 pairs more than 10 %";
  ExpectWords(pair.Described().sentence);
}

TEST(BenchLossDivergence, OtherBatchesThatAreLearnedBetterAreFine) {
  Pair pair;
  pair.same = false;
  pair.Steps(300);
  pair.Steps(500, 0.7);
  EXPECT_EQ(pair.worst, Severity::kNone) << pair.alerted;
}

TEST(BenchLossDivergence, OnePairFarOffIsNoEvidence) {
  Pair pair;
  pair.Steps(200);
  for (int i = 0; i < 20; ++i) {
    pair.Step(1.5);
    pair.Steps(40);
  }
  EXPECT_EQ(pair.worst, Severity::kNone) << pair.alerted;
}

TEST(BenchLossDivergence, TheSameBatchesWithAnOffsetFromTheStartAreAWarning) {
  Pair pair;
  pair.Steps(80, 0.94);
  EXPECT_TRUE(pair.rule.noise().same_batches());
  EXPECT_EQ(pair.now, Severity::kWarning);
}

TEST(BenchLossDivergence, AboveAnEarlierAttemptIsAWarningAndBelowIsFine) {
  for (const bool same : {true, false}) {
    Pair below;
    below.same = same;
    below.earlier = true;
    below.Steps(100);
    below.Steps(200, 0.8);
    EXPECT_EQ(below.worst, Severity::kNone) << below.alerted;
    Pair above;
    above.same = same;
    above.earlier = true;
    above.Steps(100);
    above.Steps(60, 1.2);
    EXPECT_EQ(above.now, Severity::kWarning);
    const Finding finding = above.Described();
    ExpectWords(finding.sentence);
    ExpectWords(finding.sentence_over);
  }
}

TEST(BenchLossDivergence, ARestartThatBeganAnewIsAWarningAfterTenPairs) {
  for (const bool same : {true, false}) {
    Pair pair;
    pair.same = same;
    pair.earlier = true;
    pair.noise = 0.05;
    pair.learned = 0.6;
    pair.Steps(9, 1.8);
    EXPECT_EQ(pair.now, Severity::kNone);
    pair.Step(1.8);
    EXPECT_EQ(pair.now, Severity::kWarning);
    const Finding finding = pair.Described();
    EXPECT_EQ(finding.opened_step, 0);
    EXPECT_GT(NumberOf(finding, "lost").value_or(0), 0.8);
    ExpectWords(finding.sentence);
    ExpectWords(finding.sentence_over);
    pair.Steps(400);  // it has learned the same anew
    EXPECT_EQ(pair.now, Severity::kNone);
  }
}

TEST(BenchLossDivergence, WithoutNoiseThatIsKnownTheFirstPairsMeasureIt) {
  Pair pair;
  pair.earlier = true;
  pair.Steps(31, 1.8);
  EXPECT_EQ(pair.now, Severity::kNone);
}

TEST(BenchLossDivergence, ARestartThatLostTheLittleItHadLearnedIsAWarning) {
  Pair pair;
  pair.same = false;
  pair.earlier = true;
  pair.noise = 0.03;
  pair.learned = 0.06;
  pair.Steps(60, 1.06);
  EXPECT_EQ(pair.now, Severity::kWarning);
  EXPECT_TRUE(NumberOf(pair.Described(), "lost"));
}

TEST(BenchLossDivergence, ARestartThatGoesOnInOtherDataIsFine) {
  Pair pair;
  pair.same = false;
  pair.earlier = true;
  pair.noise = 0.05;
  for (const double learned : {0.6, 0.06}) {
    pair.learned = learned;
    pair.Steps(1000);
    EXPECT_EQ(pair.worst, Severity::kNone) << pair.alerted;
  }
}

TEST(BenchLossDivergence, WhatRisesLaterAfterARestartWasLoaded) {
  Pair pair;
  pair.earlier = true;
  pair.noise = 0.05;
  pair.learned = 0.6;
  pair.Steps(100);
  pair.Steps(60, 1.8);
  EXPECT_EQ(pair.now, Severity::kWarning);
  EXPECT_FALSE(NumberOf(pair.Described(), "lost"));
}

}  // namespace
}  // namespace nanwatch
