// The loss scale of a layer that overflows, through the whole engine: the rules
// on how a scale moves, of that layer alone.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

constexpr int kLayers = 4;

// A training whose scaler halves the scale of a layer when that overflows, and
// doubles it after `interval_` updates without.
class Training {
 public:
  explicit Training(Driver& driver, std::string name = "", double floor = 0)
      : driver_(driver) {
    OpenSessionMessage open;
    open.run_id = "layers";
    open.run.scaler.kind = ScalingKind::kLayerwise;
    open.run.scaler.name = std::move(name);
    if (floor > 0) open.run.scaler.min_scale = floor;
    session_ = driver_.Open(std::move(open));
    std::vector<OpName> ops;
    // In the order of the backward pass.
    for (int i = 0; i < kLayers; ++i) {
      ops.push_back({.name = "blocks." + std::to_string(i),
                     .type = "LinearBackward",
                     .dtype = Dtype::kFp16,
                     .logical_shape = {4096},
                     .order = i});
      scale_.push_back(16);
      good_.push_back(0);
    }
    driver_.Name(session_, ops);
  }

  // `overflows`: the layer where it begins; -1: none. What follows it in the
  // backward pass is as bad.
  void Step(int overflows = -1) {
    Row row{.step = ++step_, .loss = forward_nan_ ? kNan : 2.0};
    std::vector<OpCell> cells;
    for (int i = 0; i < kLayers; ++i) {
      const auto at = static_cast<size_t>(i);
      const bool bad = overflows >= 0 && i >= overflows;
      OpCell cell{.step = step_,
                  .op = static_cast<uint32_t>(i),
                  .slot = Slot::kGradOutput};
      cell.elements = 4096;
      cell.abs_max = 16;
      cell.more[static_cast<size_t>(OpStat::kRms)] = 4;
      if (bad) cell.inf = 7;
      cells.push_back(cell);
      row.layers.emplace_back(static_cast<uint32_t>(i), std::exp2(scale_[at]));
      Answer(at, bad);
    }
    driver_.Ops(session_, cells);
    driver_.Steps(session_, {row});
    driver_.Wait(std::chrono::seconds(1));
  }
  void Steps(int n) {
    for (int i = 0; i < n; ++i) Step();
  }

  std::vector<double> scale_;  // log2
  double floor_ = -20;         // log2
  int interval_ = 1000;        // updates
  double most_ = 60;           // log2
  bool forward_nan_ = false;
  // Sets the scale of a layer after an update; empty: as above.
  std::function<double(size_t layer, bool bad)> next_;

 private:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  void Answer(size_t layer, bool bad) {
    if (next_) {
      scale_[layer] = next_(layer, bad);
      return;
    }
    if (bad) {
      scale_[layer] = std::max(floor_, scale_[layer] - 1);
      good_[layer] = 0;
    } else if (++good_[layer] >= interval_ && scale_[layer] < most_) {
      scale_[layer] += 1;
      good_[layer] = 0;
    }
  }

  Driver& driver_;
  SessionId session_ = 0;
  int64_t step_ = 0;
  std::vector<int> good_;
};

// The layers of which a rule holds something now.
std::vector<std::string> LayersWith(Driver& driver, RuleId rule) {
  std::vector<std::string> layers;
  for (const Incident& one : driver.Run("layers")->incidents) {
    if (one.state == AlertState::kResolved) continue;
    for (const Finding& finding : one.findings) {
      if (finding.rule == rule) layers.push_back(finding.subject.op);
    }
  }
  return layers;
}

Severity Worst(Driver& driver) { return WorstEver(*driver.Run("layers")); }

TEST(LayerMoves, ALayerAtItsFloorThatOverflowsIsNamed) {
  Driver driver;
  Training training(driver, "", 4096);
  training.floor_ = 12;
  training.Steps(60);
  for (int i = 0; i < 8; ++i) training.Step(2);
  EXPECT_THAT(LayersWith(driver, RuleId::kScaleAtFloor),
              ::testing::ElementsAre("blocks.2"))
      << "what follows in the backward pass is that layer's doing";
  EXPECT_EQ(Worst(driver), Severity::kCritical);
}

TEST(LayerMoves, ALayerWhoseScaleCollapsesIsNamed) {
  Driver driver;
  Training training(driver);
  training.Steps(60);
  for (int i = 0; i < 6; ++i) training.Step(1);
  EXPECT_THAT(LayersWith(driver, RuleId::kScaleCollapse),
              ::testing::ElementsAre("blocks.1"));
}

TEST(LayerMoves, OverflowsOfOneLayerThatCostMuchAreNamed) {
  Driver driver;
  Training training(driver);
  training.Steps(60);
  training.next_ = [&](size_t layer, bool) { return training.scale_[layer]; };
  for (int i = 0; i < 20; ++i) {
    training.Step(3);
    training.Steps(9);
  }
  EXPECT_THAT(LayersWith(driver, RuleId::kOverflowRate), Contains("blocks.3"));
}

TEST(LayerMoves, ALayerWhoseScaleSwingsIsNamed) {
  Driver driver;
  Training training(driver);
  training.interval_ = 2;
  training.Steps(20);
  for (int i = 0; i < 12; ++i) {
    training.Step(0);
    training.Steps(2);
  }
  EXPECT_THAT(LayersWith(driver, RuleId::kScaleLimitCycle),
              Contains("blocks.0"));
}

TEST(LayerMoves, AMoveThatTheDeclaredScalerNeverMakesIsNamed) {
  Driver driver;
  Training training(driver, "pytorch");
  training.Steps(30);
  training.Step(2);
  training.Steps(5);
  training.scale_[2] -= 1.5;
  training.Step(2);
  training.Steps(30);
  EXPECT_THAT(LayersWith(driver, RuleId::kScaleDiscontinuity),
              Contains("blocks.2"));
}

// What AdaLoss does: its scales move with each batch, and an overflow now and
// then is no more than that.
TEST(LayerMoves, AScalerThatFollowsStatisticsMayMove) {
  for (const char* name : {"adaloss", ""}) {
    Driver driver;
    Training training(driver, name);
    uint32_t state = 1;
    const auto noise = [&] { return (state = state * 1664525 + 1013904223); };
    training.next_ = [&](size_t layer, bool) {
      return std::floor(16.0 - 3.0 * static_cast<double>(layer) +
                        static_cast<double>(noise() >> 24) / 64);
    };
    for (int i = 0; i < 400; ++i) training.Step(i % 199 == 150 ? 1 : -1);
    EXPECT_LE(Worst(driver), Severity::kInfo)
        << name << driver.Run("layers")->diagnosis.headline;
  }
}

// One overflow a growth is what a dynamic scaler is for.
TEST(LayerMoves, OneOverflowAfterEachGrowthIsHealthy) {
  Driver driver;
  Training training(driver, "", 1);
  training.floor_ = 0;
  training.interval_ = 100;
  training.most_ = 17;
  for (int i = 0; i < 2000; ++i)
    training.Step(training.scale_[1] > 16 ? 1 : -1);
  EXPECT_LE(Worst(driver), Severity::kInfo)
      << driver.Run("layers")->diagnosis.headline;
}

TEST(LayerMoves, WhatTheForwardPassBroughtIsNoLayersScale) {
  Driver driver;
  Training training(driver, "", 4096);
  training.floor_ = 12;
  training.Steps(60);
  training.forward_nan_ = true;
  for (int i = 0; i < 8; ++i) training.Step(0);
  EXPECT_THAT(LayersWith(driver, RuleId::kScaleAtFloor), IsEmpty());
  EXPECT_THAT(LayersWith(driver, RuleId::kScaleCollapse), IsEmpty());
}

}  // namespace
}  // namespace nanwatch
