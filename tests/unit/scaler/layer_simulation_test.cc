#include "scaler/layer_simulation.h"

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <vector>

namespace nanwatch {
namespace {

const LayerOutcome& Of(const std::vector<LayerOutcome>& all,
                       const std::string& name) {
  for (const LayerOutcome& one : all) {
    if (one.name == name) return one;
  }
  static const LayerOutcome kNone;
  ADD_FAILURE() << "no " << name;
  return kNone;
}

// Two layers that no scale suits both, at 2^8 for both.
std::vector<RecordedLayers> Apart(int updates) {
  std::vector<RecordedLayers> all;
  for (int i = 0; i < updates; ++i) {
    all.push_back(
        {.step = i,
         .layers = {{.layer = 0, .scale = 8, .low = -4, .high = 6},
                    {.layer = 1, .scale = 8, .low = 14, .high = 30}}});
  }
  return all;
}

TEST(SimulateLayers, SaysWhatEachKindLosesAndOverflows) {
  const auto all = SimulateLayers(Apart(100));
  const LayerOutcome& recorded = Of(all, "recorded");
  EXPECT_EQ(recorded.attempts, 200u);
  EXPECT_EQ(recorded.lost, 100u) << "the second layer's";
  EXPECT_EQ(recorded.overflows, 100u) << "the first layer's";
  const LayerOutcome& one = Of(all, "the highest for all");
  EXPECT_EQ(one.overflows, 0u);
  EXPECT_EQ(one.lost, 100u);
  EXPECT_EQ(one.highest, 6);
  const LayerOutcome& groups = Of(all, "2 fixed scales");
  EXPECT_EQ(groups.overflows, 0u);
  EXPECT_EQ(groups.lost, 0u);
  const LayerOutcome& bound = Of(all, "AdaLoss, bound 1024");
  EXPECT_EQ(bound.highest, 10);
  EXPECT_EQ(bound.lost, 100u);
  const LayerOutcome& adaptive = Of(all, "AdaLoss, no bound");
  EXPECT_EQ(adaptive.lost, 1u) << "at the first update alone";
  EXPECT_EQ(adaptive.overflows, 0u);
  const LayerOutcome& delayed = Of(all, "delayed scaling, a layer");
  EXPECT_EQ(delayed.lost, 1u);
  EXPECT_EQ(delayed.highest, 30);
}

TEST(SimulateLayers, DelayedScalingMeetsASpikeOfOneUpdate) {
  std::vector<RecordedLayers> updates = Apart(40);
  updates[20].layers[1].high = 10;
  const auto all = SimulateLayers(updates);
  EXPECT_EQ(Of(all, "delayed scaling, a layer").overflows, 1u);
  EXPECT_EQ(Of(all, "2 fixed scales").overflows, 1u);
}

TEST(SimulateLayers, WhatALayerNeedsMayNotBeKnown) {
  const float unknown = std::numeric_limits<float>::quiet_NaN();
  const std::vector<RecordedLayers> updates = {
      {.step = 1,
       .layers = {{.layer = 0, .scale = 8, .low = unknown, .high = unknown}}}};
  for (const LayerOutcome& one : SimulateLayers(updates)) {
    EXPECT_EQ(one.attempts, 0u) << one.name;
    EXPECT_EQ(one.overflows, 0u) << one.name;
  }
}

}  // namespace
}  // namespace nanwatch
