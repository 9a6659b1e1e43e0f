// Layer-wise loss scales through the whole engine: healthy ones of many kinds,
// and each way in which they go wrong.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kLayers = 12;

// A training whose layers have gradients of 2^-3 .. 2^-36, and a scaler that
// follows each as AdaLoss does.
class Training {
 public:
  explicit Training(uint64_t seed, Driver& driver)
      : random_(seed), driver_(driver) {
    OpenSessionMessage open;
    open.run_id = "layers";
    open.run.scaler.kind = ScalingKind::kLayerwise;
    open.run.scaler.name = "adaloss";
    session_ = driver_.Open(std::move(open));
    std::vector<OpName> ops;
    for (int i = 0; i < kLayers; ++i) {
      const std::string name = "blocks." + std::to_string(i);
      ops.push_back({.name = name,
                     .type = "LinearBackward",
                     .dtype = Dtype::kFp16,
                     .logical_shape = {4096},
                     .order = i});
      ops.push_back({.name = name + ".weight",
                     .type = "Parameter",
                     .dtype = Dtype::kFp32,
                     .logical_shape = {4096},
                     .order = 100 + i});
      level_.push_back(-3.0 - 3 * i);
      scale_.push_back(0);
    }
    driver_.Name(session_, ops);
  }

  void Step() {
    std::normal_distribution<double> noise(0, 0.4);
    const double batch = noise(random_);
    Row row{.step = ++step_, .loss = 3 * std::pow(0.999, step_)};
    std::vector<OpCell> cells;
    for (size_t i = 0; i < kLayers; ++i) {
      level_[i] += 0.01 * noise(random_);
      const double size = level_[i] + batch + 0.2 * noise(random_);
      const double held = scale_[i] + size;  // log2 of its rms in fp16
      const auto op = static_cast<uint32_t>(2 * i);
      OpCell gradient{.step = step_, .op = op, .slot = Slot::kGradOutput};
      gradient.elements = 4096;
      gradient.abs_max =
          static_cast<float>(std::exp2(std::min(held + 2.2, 15.9)));
      gradient.zero = 4096 * 45 / 100;  // a ReLU's mask
      Set(&gradient, OpStat::kRms, std::exp2(held));
      Set(&gradient, OpStat::kLog2Mean, held - 0.9);
      Set(&gradient, OpStat::kLog2Std, 1.6);
      cells.push_back(gradient);
      OpCell weight{.step = step_, .op = op + 1, .slot = Slot::kGradInput};
      weight.elements = 4096;
      const bool forgotten = static_cast<int>(i) == forgets_;
      const double told =
          size + 4 + 0.1 * noise(random_) + (forgotten ? scale_[i] : 0);
      Set(&weight, OpStat::kRms, std::exp2(told));
      weight.abs_max = 1;
      cells.push_back(weight);
      row.layers.emplace_back(op, std::exp2(scale_[i]));
      if (!stands_) Choose(i, size);
    }
    driver_.Ops(session_, cells);
    driver_.Steps(session_, {row});
    driver_.Wait(std::chrono::seconds(1));
  }
  void Steps(int n) {
    for (int i = 0; i < n; ++i) Step();
  }

  int forgets_ = -1;           // the layer whose weight keeps its scale
  double bound_ = 60;          // of the scaler, log2
  bool stands_ = false;        // nothing chooses
  std::vector<double> scale_;  // log2

 private:
  static void Set(OpCell* cell, OpStat stat, double value) {
    cell->more[static_cast<size_t>(stat)] = static_cast<float>(value);
  }
  // As little is lost as it promises, and some room is left.
  void Choose(size_t i, double size) {
    constexpr double kNeeds = -24 + 9.64 + 2;
    scale_[i] = std::min(bound_, std::max(0.0, std::floor(kNeeds - size)));
  }

  std::mt19937_64 random_;
  Driver& driver_;
  SessionId session_ = 0;
  int64_t step_ = 0;
  std::vector<double> level_;  // log2 of the gradients, without a scale
};

// True where an incident holds a finding of the rule: those of one cause are
// one.
bool Found(const RunView& run, RuleId rule) {
  return std::any_of(
      run.incidents.begin(), run.incidents.end(), [&](const Incident& one) {
        return std::any_of(
            one.findings.begin(), one.findings.end(),
            [&](const Finding& finding) { return finding.rule == rule; });
      });
}

TEST(LayerScales, TwoThousandHealthyStepsOfFiveTrainingsAreNoTrouble) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Driver driver;
    Training training(seed, driver);
    training.Steps(2000);
    const auto run = driver.Run("layers");
    EXPECT_LE(WorstEver(*run), Severity::kInfo)
        << seed << ' ' << run->diagnosis.headline;
    ASSERT_NE(run->layer_ranges, nullptr);
    for (const LayerRangeView& layer : run->layer_ranges->layers) {
      ASSERT_TRUE(layer.lowest && layer.highest && layer.scale) << layer.name;
      EXPECT_GE(*layer.scale, *layer.lowest / 4) << layer.name;
      EXPECT_LE(*layer.scale, *layer.highest) << layer.name;
      EXPECT_LT(layer.lost, 0.01) << layer.name;
    }
    EXPECT_GE(run->layer_ranges->groups.size(), 2u);
  }
}

TEST(LayerScales, ABoundThatIsTooLowIsNamed) {
  Driver driver;
  Training training(1, driver);
  training.bound_ = 10;
  training.Steps(70);
  const auto run = driver.Run("layers");
  EXPECT_TRUE(Found(*run, RuleId::kLayerScaleOutside));
  EXPECT_EQ(WorstEver(*run), Severity::kWarning);
  ASSERT_FALSE(run->diagnosis.causes.empty());
  EXPECT_EQ(run->diagnosis.causes[0].cause, Cause::kLayerScales);
  EXPECT_EQ(run->diagnosis.causes[0].origin.op, "blocks.11")
      << "of the layer that is furthest from what it needs";
}

TEST(LayerScales, AWeightThatKeepsItsScaleIsNamedWithinTwentySteps) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Driver driver;
    Training training(seed, driver);
    training.forgets_ = 7;
    training.Steps(20);
    const auto run = driver.Run("layers");
    ASSERT_THAT(Firing(*run), Contains("layer_not_unscaled")) << seed;
    EXPECT_EQ(run->diagnosis.causes[0].cause, Cause::kScalerMisuse);
    EXPECT_EQ(run->diagnosis.causes[0].origin.op, "blocks.7.weight");
  }
}

TEST(LayerScales, AScaleAboveWhatItsLayerBearsIsNamed) {
  Driver driver;
  Training training(2, driver);
  training.Steps(100);
  training.stands_ = true;
  training.scale_[3] += 30;
  training.Steps(120);
  const auto run = driver.Run("layers");
  EXPECT_TRUE(Found(*run, RuleId::kLayerScaleOutside));
  EXPECT_EQ(run->diagnosis.causes[0].origin.op, "blocks.3");
}

TEST(LayerScales, ARunGoesOnFromItsCheckpointAsIfNothingWere) {
  Driver whole;
  Training training(3, whole);
  training.bound_ = 10;
  training.Steps(200);
  Driver again;
  for (const StampedEvent& stamped : whole.history()) {
    again.Apply(stamped.event);
  }
  const auto first = whole.Run("layers");
  const auto second = again.Run("layers");
  ASSERT_NE(second->layer_ranges, nullptr);
  ASSERT_EQ(first->layer_ranges->layers.size(),
            second->layer_ranges->layers.size());
}

// Statuses of a step in the backward pass, each with these rms.
void Gradients(Driver* driver, SessionId session, int64_t step,
               const std::vector<double>& log2_rms) {
  std::vector<OpCell> cells;
  for (size_t i = 0; i < log2_rms.size(); ++i) {
    OpCell cell{.step = step,
                .op = static_cast<uint32_t>(i),
                .slot = Slot::kGradOutput};
    cell.elements = 4096;
    const double rms = std::exp2(log2_rms[i]);
    cell.zero = rms == 0 ? 4096 : 0;
    cell.abs_max = static_cast<float>(4 * rms);
    cell.more[static_cast<size_t>(OpStat::kRms)] = static_cast<float>(rms);
    cells.push_back(cell);
  }
  driver->Ops(session, cells);
}

SessionId OpenWith(Driver* driver, size_t layers, Dtype dtype) {
  OpenSessionMessage open;
  open.run_id = "layers";
  open.run.scaler.kind = ScalingKind::kLayerwise;
  const SessionId session = driver->Open(std::move(open));
  std::vector<OpName> ops;
  for (size_t i = 0; i < layers; ++i) {
    ops.push_back({.name = "layer." + std::to_string(i),
                   .dtype = dtype,
                   .logical_shape = {4096},
                   .order = static_cast<int32_t>(i)});
  }
  driver->Name(session, ops);
  return session;
}

constexpr double kZero = -std::numeric_limits<double>::infinity();

// Behind a gradient of 2^-4 no scale makes one of nothing but zeros: units are
// dead, or frozen, or an expert had no tokens.
TEST(LayerScales, ALayerWithoutGradientsIsNotLost) {
  Driver driver;
  const SessionId session = OpenWith(&driver, 3, Dtype::kFp16);
  for (int64_t step = 1; step <= 60; ++step) {
    Gradients(&driver, session, step, {-4, kZero, kZero});
    driver.Steps(
        session,
        {{.step = step, .loss = 2, .layers = {{0, 4}, {1, 1}, {2, 1}}}});
    driver.Wait(std::chrono::seconds(1));
  }
  const auto run = driver.Run("layers");
  EXPECT_EQ(WorstEver(*run), Severity::kNone) << run->diagnosis.headline;
  ASSERT_NE(run->layer_ranges, nullptr);
  for (const LayerRangeView& layer : run->layer_ranges->layers) {
    EXPECT_FALSE(layer.all_lost) << layer.name;
    EXPECT_LT(layer.lost, 0.01) << layer.name;
  }
}

// Behind one that is nearly lost itself they are lost.
TEST(LayerScales, ALayerBehindOneThatIsNearlyLostIsLost) {
  Driver driver;
  const SessionId session = OpenWith(&driver, 2, Dtype::kFp16);
  for (int64_t step = 1; step <= 60; ++step) {
    Gradients(&driver, session, step, {-22, kZero});
    driver.Steps(session,
                 {{.step = step, .loss = 2, .layers = {{0, 1}, {1, 1}}}});
    driver.Wait(std::chrono::seconds(1));
  }
  const auto run = driver.Run("layers");
  EXPECT_TRUE(Found(*run, RuleId::kLayerUnderflow));
  EXPECT_TRUE(run->layer_ranges->layers.front().all_lost);
}

// Its own status says that a gradient overflowed, whatever the record says:
// what is left of it is no measure.
TEST(LayerScales, AGradientWithInfinitiesIsNoMeasure) {
  Driver driver;
  const SessionId session = OpenWith(&driver, 1, Dtype::kFp16);
  for (int64_t step = 1; step <= 20; ++step) {
    OpCell cell{.step = step, .op = 0, .slot = Slot::kGradOutput};
    cell.elements = 4096;
    const bool bad = step % 2 == 0;
    cell.inf = bad ? 4000 : 0;
    cell.abs_max = bad ? 1e-3f : 60000;
    cell.more[static_cast<size_t>(OpStat::kRms)] = bad ? 1e-4f : 20000;
    driver.Ops(session, {cell});
    driver.Steps(session, {{.step = step, .loss = 2, .layers = {{0, 1024}}}});
    driver.Wait(std::chrono::seconds(1));
  }
  const auto run = driver.Run("layers");
  ASSERT_NE(run->layer_ranges, nullptr);
  EXPECT_LT(*run->layer_ranges->layers[0].highest, 1024);
}

// Where the first layer has a scale of 2^20 and the last has 1, what arrives at
// them differs by no more than the gradients do.
TEST(LayerScales, GradientsOfDifferentScalesAreNotComparedAsTheyAre) {
  Driver driver;
  const SessionId session = OpenWith(&driver, 3, Dtype::kFp16);
  for (int64_t step = 1; step <= 300; ++step) {
    const double first = step < 100 ? -8 : 12;  // as it is held
    Gradients(&driver, session, step, {-8, -8, first});
    driver.Steps(
        session,
        {{.step = step,
          .loss = 2,
          .layers = {{0, 1}, {1, 1024}, {2, step < 100 ? 1 : 0x1p20}}}});
    driver.Wait(std::chrono::seconds(1));
  }
  const auto run = driver.Run("layers");
  EXPECT_FALSE(Found(*run, RuleId::kGradRatio)) << run->diagnosis.headline;
  EXPECT_FALSE(Found(*run, RuleId::kGradVanishing));
}

// A tensor in FP8 has a range of its own format at its own scale, and shares
// no loss scale with others.
TEST(LayerScales, TensorsInFp8HaveRangesOfTheirFormat) {
  for (const auto& [dtype, largest, smallest] :
       {std::tuple(Dtype::kFp8E4M3, 448.0, -9.0),
        std::tuple(Dtype::kFp8E5M2, 57344.0, -16.0)}) {
    Driver driver;
    const SessionId session = OpenWith(&driver, 1, dtype);
    constexpr double kRms = -3;  // log2, as FP8 holds it at a scale of 2^5
    for (int64_t step = 1; step <= 1200; ++step) {
      OpCell cell{.step = step, .op = 0, .slot = Slot::kGradOutput};
      cell.elements = 4096;
      cell.abs_max = 0.5f;
      cell.more[static_cast<size_t>(OpStat::kRms)] =
          static_cast<float>(std::exp2(kRms));
      cell.more[static_cast<size_t>(OpStat::kFp8ScaleInv)] = 1.0f / 32;
      driver.Ops(session, {cell});
      driver.Steps(session, {{.step = step, .loss = 2}});
      driver.Wait(std::chrono::seconds(1));
    }
    const auto run = driver.Run("layers");
    ASSERT_NE(run->layer_ranges, nullptr);
    const LayerRangeView& layer = run->layer_ranges->layers.front();
    EXPECT_EQ(layer.scale, 32);
    EXPECT_NEAR(std::log2(*layer.highest), 5 + std::log2(largest) + 1, 0.1);
    // Of normal values 1 in 1000 is below 2^-9.64 deviations.
    EXPECT_NEAR(std::log2(*layer.lowest), 5 + smallest + 9.64 - kRms, 0.1);
    EXPECT_FALSE(layer.group);
    EXPECT_TRUE(run->layer_ranges->groups.empty());
    EXPECT_FALSE(Found(*run, RuleId::kOneScaleSuffices));
  }
}

// A run without layer-wise scales holds no state of their rules.
TEST(LayerScales, NothingIsHeldWhereNoneCome) {
  Driver driver;
  const SessionId session = driver.Open("plain");
  for (int64_t step = 1; step <= 50; ++step) {
    driver.Steps(session, {{.step = step, .scale = 1024, .loss = 1}});
  }
  EXPECT_EQ(driver.Run("plain")->layer_ranges, nullptr);
}

}  // namespace
}  // namespace nanwatch
