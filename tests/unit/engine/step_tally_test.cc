#include "engine/step_tally.h"

#include <gmock/gmock.h>

#include <cmath>

#include "engine/timer_queue.h"
#include "model/told_overflow.h"
#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

// The evidence of a rank that said all this.
RunEvidence After(const std::vector<Row>& rows) {
  const StepColumns columns = Columns(rows, kStart);
  StepTally tally;
  ScalerTracker scaler;
  scaler.Declare({.kind = ScalingKind::kDynamic});
  StepReader reader(columns);
  for (StepRecord record; reader.Next(&record);) {
    scaler.OnStep(record);
    tally.Add(record, Overflowed(record), scaler.fate());
  }
  RunEvidence e;
  tally.WriteUpdates(&e);
  tally.AddLoss(3, &e);
  tally.AddGradients(&e);
  tally.WriteScale(&e);
  return e;
}

TEST(StepTallyTest, LastFiftyForgetWhatIsOlder) {
  std::vector<Row> rows;
  for (int64_t step = 0; step < 60; ++step) {
    rows.push_back({.step = step, .overflow = step < 15, .skipped = step < 15});
  }
  const RunEvidence e = After(rows);
  EXPECT_EQ(e.updates_last_50, 50u);
  EXPECT_EQ(e.overflows_last_50, 5u);
  EXPECT_EQ(e.applied_last_50, 45u);
}

TEST(StepTallyTest, MostStepsMayHaveNoRecord) {
  EXPECT_FALSE(After({{.step = 5000}}).steps_between);
  EXPECT_TRUE(After({{.step = 50}, {.step = 60}, {.step = 70}}).steps_between);
  // A gap.
  std::vector<Row> rows;
  for (int64_t step = 0; step < 60; ++step) {
    rows.push_back({.step = step < 30 ? step : step + 20});
  }
  EXPECT_FALSE(After(rows).steps_between);
}

TEST(StepTallyTest, ALossThatIsTheSameInManyRecordsIsFrozen) {
  std::vector<Row> rows = {{.step = 1, .loss = 3}};
  for (int64_t step = 2; step < 17; ++step) {
    rows.push_back({.step = step, .loss = 87.3365});
  }
  EXPECT_FALSE(After(rows).frozen);
  rows.push_back({.step = 17, .loss = 87.3365});
  ASSERT_TRUE(After(rows).frozen);
  EXPECT_EQ(After(rows).frozen->since, 2);
  rows.push_back({.step = 18, .loss = 80});
  EXPECT_FALSE(After(rows).frozen);
}

TEST(StepTallyTest, WhatIsNotSaidIsNeitherAppliedNorSkipped) {
  const RunEvidence e = After({{.step = 1}, {.step = 2}});
  EXPECT_EQ(e.updates, 2u);
  EXPECT_EQ(e.applied, 0u);
  EXPECT_EQ(e.skipped, 0u);
}

TEST(StepTallyTest, AnOverflowUnderADynamicScalerIsSkipped) {
  const RunEvidence e = After({{.step = 1, .overflow = true},
                               {.step = 2, .overflow = false},
                               {.step = 3, .overflow = true}});
  EXPECT_EQ(e.applied, 1u);
  EXPECT_EQ(e.skipped, 2u);
  EXPECT_EQ(e.skipped_last_50, 2u);
}

TEST(StepTallyTest, LossIsOfAllRanksAndTheFirstIsTheOrigin) {
  StepTally late;
  StepTally early;
  const StepColumns columns =
      Columns({{.step = 7, .loss = NAN}, {.step = 4, .loss = NAN}}, kStart);
  StepReader reader(columns);
  StepRecord record;
  ASSERT_TRUE(reader.Next(&record));
  late.Add(record, false, Fate::kApplied);
  ASSERT_TRUE(reader.Next(&record));
  early.Add(record, false, Fate::kApplied);
  RunEvidence e;
  late.AddLoss(0, &e);
  early.AddLoss(5, &e);
  EXPECT_EQ(e.loss_nonfinite, 2u);
  EXPECT_EQ(e.nonfinite_loss_rank, 5);
  EXPECT_EQ(e.first_nonfinite_loss_step, 4);
  EXPECT_EQ(e.last_nonfinite_loss_step, 7);
}

TEST(StepTallyTest, NonFiniteEntersNoRange) {
  const RunEvidence e = After({{.step = 1, .scale = 8, .loss = 1.0},
                               {.step = 2, .scale = INFINITY, .loss = NAN},
                               {.step = 3,
                                .scale = 2,
                                .loss = NAN,
                                .grad_norm = 1.0,
                                .overflow = true}});
  EXPECT_EQ(e.scale_first, 8);
  EXPECT_EQ(e.scale_max, 8);
  EXPECT_EQ(e.scale_min, 2);
  EXPECT_EQ(e.loss_nonfinite, 2u);
  EXPECT_EQ(e.first_nonfinite_loss_step, 2);
  EXPECT_EQ(e.grad_norm_finite_while_overflow, 1u);
}

TEST(StepTallyTest, KnowsTheNanNormsJustBeforeALossThatIsNone) {
  const auto since = [](std::optional<double> third, bool skipped) {
    const double none = NAN;
    return After({{.step = 1, .loss = 1, .grad_norm = none},
                  {.step = 2, .loss = 1, .grad_norm = 1.0},
                  {.step = 3, .loss = 1, .grad_norm = none, .skipped = skipped},
                  {.step = 4, .loss = 1, .grad_norm = third},
                  {.step = 5, .loss = NAN, .grad_norm = none}})
        .nan_norm_before_loss;
  };
  EXPECT_EQ(since(NAN, false), 3);
  EXPECT_EQ(since(NAN, true), 4);
  EXPECT_EQ(since(1.0, false), -1);
  EXPECT_EQ(since({}, false), -1);
}

// The loss of rewards begins at 0, and grows.
TEST(StepTallyTest, WhatIsNextToNothingIsNoLevelToLeapFrom) {
  const auto leaps = [](double unit) {
    std::vector<Row> rows;
    for (const double loss : {1.0, 2.0, 1.0, 2.0, 10.0, 40.0, 90.0, 100.0}) {
      rows.push_back(
          {.step = static_cast<int64_t>(rows.size()) + 1, .loss = loss * unit});
    }
    rows.push_back({.step = 9, .loss = NAN});
    return After(rows).rise.has_value();
  };
  EXPECT_TRUE(leaps(1));
  EXPECT_FALSE(leaps(1e-5));
}

TEST(PaceTest, KnowsTheSlowSteps) {
  Pace pace;
  EXPECT_EQ(pace.p99_seconds(), 0);
  for (int i = 0; i < 980; ++i) pace.Add(std::chrono::milliseconds(100));
  for (int i = 0; i < 20; ++i) pace.Add(std::chrono::seconds(10));
  EXPECT_GE(pace.p99_seconds(), 10);
  EXPECT_LE(pace.p99_seconds(), 13);
  EXPECT_NEAR(pace.mean_seconds(), 0.298, 0.01);
}

TEST(PaceTest, AskedOrNotKnowsTheSame) {
  Pace asked;
  Pace silent;
  for (int i = 0; i < 6000; ++i) {
    const auto step = std::chrono::milliseconds(10 + i * 37 % 5000);
    asked.Add(step);
    silent.Add(step);
    Pace fresh = silent;  // nobody asked it yet
    ASSERT_EQ(asked.p99_seconds(), fresh.p99_seconds()) << i;
    ASSERT_EQ(asked.p99_seconds(), fresh.p99_seconds()) << i;
  }
}

TEST(PaceTest, FollowsANewPace) {
  Pace pace;
  for (int i = 0; i < 5000; ++i) pace.Add(std::chrono::seconds(1));
  for (int i = 0; i < 40000; ++i) pace.Add(std::chrono::milliseconds(10));
  EXPECT_LT(pace.mean_seconds(), 0.02);
}

TEST(TimerQueueTest, FiresTheEarliestThenTheLowestSlot) {
  TimerQueue queue;
  queue.Set(3, kStart + std::chrono::seconds(2));
  queue.Set(1, kStart + std::chrono::seconds(2));
  queue.Set(2, kStart + std::chrono::seconds(5));
  EXPECT_EQ(queue.Next()->slot, 1u);
  queue.Set(2, kStart);
  EXPECT_EQ(queue.Next()->slot, 2u);
  queue.Set(2, std::nullopt);
  queue.Set(1, kStart + std::chrono::seconds(9));
  EXPECT_EQ(queue.Next()->slot, 3u);
  queue.Set(3, std::nullopt);
  EXPECT_EQ(queue.Next()->time, kStart + std::chrono::seconds(9));
}

TEST(TimerQueueTest, OrderComesBeforeSlot) {
  TimerQueue queue;
  queue.Set(1, kStart, 9);
  queue.Set(2, kStart, 3);
  EXPECT_EQ(queue.Next()->slot, 2u);
}

}  // namespace
}  // namespace nanwatch
