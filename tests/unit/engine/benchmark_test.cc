// A run whose losses are held against those of another one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "engine/engine.h"
#include "tests/unit/engine/driver.h"
#include "tests/unit/engine/dump.h"

namespace nanwatch {
namespace {

double LossAt(int64_t step) {
  const auto s = static_cast<double>(step);
  return 2 + 2 * std::exp(-s / 200) + 0.1 * std::sin(s * s);
}

// `every`: steps from point to point.
std::shared_ptr<Benchmark> Base(int64_t steps, int64_t every = 1,
                                int64_t first = 0) {
  auto benchmark = std::make_shared<Benchmark>();
  benchmark->reference = "base";
  for (int64_t step = first; step < steps; step += every) {
    benchmark->points.push_back({step, LossAt(step)});
  }
  return benchmark;
}

// Its loss moves by itself where `parts` is not 0.
class Training {
 public:
  explicit Training(Driver& driver) : driver_(driver) {
    session_ = driver.Open("run");
  }
  void Set(std::shared_ptr<const Benchmark> benchmark) {
    driver_.Say({"run", attempt}, BenchmarkSet{std::move(benchmark), "ann"});
  }
  // `forgot`: steps of learning that a restart lacks.
  void Steps(int64_t from, int64_t to, double parts = 0, int64_t every = 1,
             int64_t forgot = 0) {
    for (int64_t step = from; step < to; step += every) {
      const double loss =
          LossAt(step - forgot) * (1 + parts * (step % 3 == 0   ? 1
                                                : step % 3 == 1 ? -0.6
                                                                : 0.7));
      driver_.Steps(session_, {{.step = step, .loss = loss}});
      driver_.Wait(std::chrono::seconds(1));
    }
  }
  int32_t attempt = 0;

 private:
  Driver& driver_;
  SessionId session_ = 0;
};

const Incident* Found(const RunView& run) {
  for (const Incident& incident : run.incidents) {
    if (incident.rule == RuleId::kBenchLossDivergence) return &incident;
  }
  return nullptr;
}

TEST(Benchmark, ARunThatPartsFromItIsFoundWithin30Records) {
  Driver driver;
  Training training(driver);
  training.Set(Base(1000));
  training.Steps(0, 200);
  auto run = driver.Run("run");
  EXPECT_EQ(Found(*run), nullptr);
  ASSERT_TRUE(run->benchmark);
  EXPECT_EQ(run->benchmark->reference, "base");
  EXPECT_EQ(run->benchmark->points, 1000u);
  EXPECT_EQ(run->benchmark->pairs, 200u);
  EXPECT_EQ(run->benchmark->pair_step, 199);
  EXPECT_EQ(run->benchmark->same_batches, true);
  training.Steps(200, 230, 0.015);
  run = driver.Run("run");
  const Incident* const incident = Found(*run);
  ASSERT_NE(incident, nullptr);
  EXPECT_EQ(incident->state, AlertState::kFiring);
  EXPECT_EQ(incident->cause, Cause::kLeftBenchmark);
  EXPECT_EQ(incident->severity, Severity::kWarning);
  EXPECT_EQ(incident->opened_step, 200);
}

TEST(Benchmark, GoesOnInTheNextAttemptWhichIsClean) {
  Driver driver;
  Training training(driver);
  training.Set(Base(1000));
  training.Steps(0, 200);
  training.Steps(200, 240, 0.015);
  ASSERT_NE(Found(*driver.Run("run")), nullptr);
  training.Steps(150, 400);  // from a checkpoint of before
  const auto first = driver.Run("run", 0);
  ASSERT_NE(Found(*first), nullptr);
  EXPECT_EQ(Found(*first)->state, AlertState::kResolved);
  const auto second = driver.Run("run", 1);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(Found(*second), nullptr);
  ASSERT_TRUE(second->benchmark);
  EXPECT_EQ(second->benchmark->pairs, 250u);
}

TEST(Benchmark, AnEarlierAttemptIsThatOfOneAttemptAlone) {
  Driver driver;
  Training training(driver);
  auto base = Base(1000);
  base->earlier_attempt = true;
  training.Set(base);
  training.Steps(0, 200);
  training.Steps(150, 160);
  EXPECT_TRUE(driver.Run("run", 0)->benchmark);
  EXPECT_FALSE(driver.Run("run", 1)->benchmark);
}

TEST(Benchmark, ARestartWhoseWeightsWereNotLoadedIsFoundInTenPairs) {
  for (const bool loaded : {true, false}) {
    Driver driver;
    Training training(driver);
    training.Steps(0, 600);
    const int64_t forgot = loaded ? 0 : 400;
    training.Steps(400, 402, 0, 1, forgot);
    auto base = Base(600, 1, 350);
    base->earlier_attempt = true;
    training.attempt = 1;
    training.Set(base);
    training.Steps(402, 412, 0, 1, forgot);
    const auto run = driver.Run("run", 1);
    ASSERT_TRUE(run->benchmark);
    EXPECT_EQ(run->benchmark->pairs, 10u);
    const Incident* const incident = Found(*run);
    EXPECT_EQ(incident == nullptr, loaded);
    if (incident == nullptr) continue;
    EXPECT_EQ(incident->opened_step, 402);
    ASSERT_EQ(incident->findings.size(), 1u);
    EXPECT_GT(NumberOf(incident->findings.front(), "lost").value_or(0), 0.5);
  }
}

TEST(Benchmark, AReplayNeedsNoSecondRun) {
  Driver driver;
  Training training(driver);
  training.Steps(0, 20);
  training.Set(Base(1000));
  training.Steps(20, 150);
  const size_t middle = driver.history().size();
  const auto checkpoint = driver.engine().Checkpoint({"run", 0});
  training.Steps(150, 200);
  training.Steps(200, 260, 0.015);
  const auto wanted = driver.Run("run");
  ASSERT_NE(Found(*wanted), nullptr);
  const auto replay = [&](Engine& engine, size_t from) {
    Effects effects;
    for (size_t i = from; i < driver.history().size(); ++i) {
      const StampedEvent& event = driver.history()[i];
      engine.Advance(event.now, &effects);
      engine.Apply(event.now, event.event, &effects);
    }
    engine.Advance(driver.now(), &effects);
    return engine.Publish(driver.now(), 0, Snapshot())->Find("run");
  };
  Engine all;
  EXPECT_EQ(Dump(*replay(all, 0)), Dump(*wanted));
  Engine rest;
  Effects effects;
  rest.Apply(driver.history()[middle - 1].now, *checkpoint, &effects);
  EXPECT_EQ(Dump(*replay(rest, middle)), Dump(*wanted));
}

TEST(Benchmark, WithoutOneNothingIsHeldAndItsEndTakesItsFindings) {
  Driver driver;
  Training training(driver);
  training.Steps(0, 50);
  EXPECT_FALSE(driver.Run("run")->benchmark);
  EXPECT_EQ(driver.Run("run")->bench, nullptr);
  training.Set(Base(1000));
  training.Steps(50, 200);
  training.Steps(200, 240, 0.015);
  ASSERT_NE(Found(*driver.Run("run")), nullptr);
  training.Set(nullptr);
  driver.Wait(std::chrono::minutes(2));
  const auto run = driver.Run("run");
  EXPECT_FALSE(run->benchmark);
  EXPECT_EQ(Found(*run)->state, AlertState::kResolved);
}

TEST(Benchmark, SparseOnesAndOtherIntervalsPairOncePerPoint) {
  Driver driver;
  Training training(driver);
  training.Set(Base(1000, 10));
  training.Steps(0, 300);
  EXPECT_EQ(driver.Run("run")->benchmark->pairs, 30u);
  EXPECT_EQ(driver.Run("run")->benchmark->pair_step, 290);

  Driver between;
  Training other(between);
  other.Set(Base(1000, 10, 5));
  other.Steps(0, 300, 0, 10);  // 5, 15, ... against 0, 10, ...
  EXPECT_EQ(between.Run("run")->benchmark->pairs, 29u);
  EXPECT_EQ(Found(*between.Run("run")), nullptr);
}

TEST(Benchmark, WhatIsNoNumberIsNotCompared) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Driver driver;
  Training training(driver);
  auto base = Base(100);
  base->points[7].loss = kNan;
  base->points[8].loss = std::numeric_limits<double>::infinity();
  training.Set(base);
  training.Steps(0, 120);
  const auto run = driver.Run("run");
  EXPECT_EQ(run->benchmark->not_finite, 2u);
  EXPECT_EQ(run->benchmark->pairs, 98u) << "and none beyond its end";
  EXPECT_EQ(run->benchmark->pair_step, 99);
}

TEST(Benchmark, IsThinnedToWhatIsHeld) {
  auto base = Base(100000);
  Thin(base.get());
  EXPECT_LE(base->points.size(), 8192u);
  EXPECT_GE(base->points.size(), 4096u);
  EXPECT_EQ(WhyNoBenchmark(*base), "");
  std::swap(base->points[3], base->points[4]);
  EXPECT_NE(WhyNoBenchmark(*base), "");
  base->points.clear();
  EXPECT_NE(WhyNoBenchmark(*base), "");
}

}  // namespace
}  // namespace nanwatch
