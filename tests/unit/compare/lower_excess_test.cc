#include "compare/lower_excess.h"

#include <gmock/gmock.h>

#include "compare/comparison.h"
#include "compare/smooth_ops.h"
#include "tests/unit/compare/layered.h"

namespace nanwatch {
namespace {

constexpr uint32_t kSeeds = 20;

// Of so many seeds, in how many this is named; else nothing is.
struct Named {
  uint32_t right = 0;
  uint32_t other = 0;
};
Named Count(const Layered& layered, const std::string& op, Slot slot) {
  Named named;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    Layered made = layered;
    made.seed = 7919 * seed;
    made.Make();
    const Comparison c = Compare(made.a, made.b);
    if (!c.first) continue;
    const bool right = c.first->op == op && c.first->slot == slot;
    named.right += right;
    named.other += !right;
  }
  return named;
}
Named Count(const Layered& layered) { return Count(layered, "", Slot::kInput); }

void Times(float factor, SketchValues* difference) {
  for (float& each : *difference) each *= factor;
}

TEST(LowerExcessTest, HealthyPairsAgree) {
  for (const double noise : {0.001, 0.003, 0.006}) {
    for (const int64_t steps : {1, 2, 3, 4}) {
      const Named named = Count({.steps = steps, .noise = noise});
      EXPECT_EQ(named.other, 0u) << noise << " " << steps;
    }
  }
}

TEST(LowerExcessTest, AFaultOfOneLayerStandsOutAmongItsPeers) {
  Layered layered{.behind = "Block", .noise = 0.003};
  layered.change = [](int64_t, const std::string& op, const std::string&,
                      Slot slot, SketchValues* difference) {
    if (op == "layers.1.act" && slot == Slot::kOutput) Times(4, difference);
    // The same tensor.
    if (op == "layers.2.up" && slot == Slot::kInput) Times(4, difference);
  };
  const Named named = Count(layered, "layers.1.act", Slot::kOutput);
  EXPECT_GE(named.right, 18u);
  EXPECT_EQ(named.other, 0u);
}

// Too few layers for peers: what is known is that it rounds once, and how it
// amplifies. Noise is half of a rounding here, and the fault two.
TEST(LowerExcessTest, WhatRoundsOnceMayLieLittleApart) {
  for (const bool once : {true, false}) {
    Layered layered{
        .layers = 2, .behind = once ? "LayerNorm" : "Block", .noise = 0.001};
    layered.change = [](int64_t, const std::string& op, const std::string&,
                        Slot slot, SketchValues* difference) {
      if (op == "layers.1.act" && slot == Slot::kOutput) Times(4, difference);
    };
    const Named named = Count(layered, "layers.1.act", Slot::kOutput);
    EXPECT_GE(named.right, once ? 16u : 0u);
    EXPECT_LE(named.right, once ? kSeeds : 2u);
    EXPECT_EQ(named.other, 0u);
  }
}

// Roundings of each time stay in its state.
TEST(LowerExcessTest, WhatGoesThroughTimeMayLieFartherApart) {
  for (const bool time : {true, false}) {
    Layered layered{.layers = 2, .behind = time ? "GRU" : "Block"};
    layered.change = [](int64_t, const std::string& op, const std::string&,
                        Slot slot, SketchValues* difference) {
      if (op == "layers.1.act" && slot == Slot::kOutput) Times(3, difference);
    };
    const Named named = Count(layered, "layers.1.act", Slot::kOutput);
    EXPECT_GE(named.right, time ? 0u : 12u);
    EXPECT_LE(named.right, time ? 0u : kSeeds);
  }
}

TEST(LowerExcessTest, WhatStandsOutAtOneStepAloneIsNoise) {
  Layered layered{.noise = 0.003};
  layered.change = [](int64_t step, const std::string& op, const std::string&,
                      Slot slot, SketchValues* difference) {
    if (step == 1 && op == "layers.1.up" && slot == Slot::kOutput) {
      Times(3.5, difference);
    }
  };
  EXPECT_EQ(Count(layered, "layers.1.up", Slot::kOutput).right, 0u);
}

TEST(LowerExcessTest, WhatIsPlainAtOneStepIsToldOfIt) {
  Layered layered{.layers = 2};
  layered.change = [](int64_t step, const std::string& op, const std::string&,
                      Slot slot, SketchValues* difference) {
    if (step == 0 && op == "layers.1.up" && slot == Slot::kOutput) {
      Times(60, difference);
    }
  };
  EXPECT_EQ(Count(layered, "layers.1.up", Slot::kOutput).right, kSeeds);
}

// Layers behind it cannot be compared, and one alone is no measure.
TEST(LowerExcessTest, NansLeaveTooFewPeers) {
  Layered layered{.nan_from = "layers.2.up"};
  layered.change = [](int64_t, const std::string& op, const std::string&,
                      Slot slot, SketchValues* difference) {
    if (op == "layers.0.act" && slot == Slot::kOutput) {
      Times(2, difference);
    }
    if (op == "layers.1.act" && slot == Slot::kOutput) {
      Times(0.2F, difference);
    }
  };
  EXPECT_EQ(Count(layered, "layers.2.up", Slot::kOutput).right, kSeeds);
}

TEST(LowerExcessTest, AFewWrongElementsStandOutOfARoundingsSums) {
  Layered layered{.layers = 1, .noise = 0.004};
  layered.change = [](int64_t, const std::string& op, const std::string&,
                      Slot slot, SketchValues* difference) {
    if (op == "layers.0.act" && slot == Slot::kOutput) {
      (*difference)[3] += 0.06F;
    }
  };
  const Named named = Count(layered, "layers.0.act", Slot::kOutput);
  EXPECT_GE(named.right, 16u);
  EXPECT_EQ(named.other, 0u);
}

// Noise of 0.5 % turns 0.2 % of what a ReLU lets through on or off.
TEST(LowerExcessTest, KinksTurnGradientsOnAndOff) {
  for (const bool kinks : {true, false}) {
    Layered layered{.layers = 2, .behind = kinks ? "ReLU" : "GELU"};
    layered.change = [](int64_t, const std::string& op, const std::string& type,
                        Slot slot, SketchValues* difference) {
      if (op == "layers.1.act" && type.ends_with("Backward") &&
          slot == Slot::kGradInput) {
        Times(12, difference);
      }
    };
    const Named named = Count(layered, "layers.1.act", Slot::kGradInput);
    EXPECT_EQ(named.right, kinks ? 0 : kSeeds);
  }
}

TEST(LowerExcessTest, SmoothOpsAreKnownByTheirTypes) {
  for (const char* type :
       {"Linear", "GELU", "LinearBackward", "LayerNormBackwardSum",
        "AdaptiveAvgPool1d", "Tanh"}) {
    EXPECT_TRUE(IsSmooth(type)) << type;
  }
  for (const char* type :
       {"ReLU", "MaxPool2dBackward", "Dense", "Block", "", "Backward"}) {
    EXPECT_FALSE(IsSmooth(type)) << type;
  }
}

TEST(LowerExcessTest, FunctionsRoundAsTheirTypesSay) {
  for (const char* type : {"Linear", "Conv2d", "GELU", "Dropout"}) {
    EXPECT_EQ(RoundingsOfType(type), RoundingsOf::kAll) << type;
  }
  for (const char* type : {"LayerNorm", "GroupNorm", "BatchNorm2d"}) {
    EXPECT_EQ(RoundingsOfType(type), RoundingsOf::kResult) << type;
  }
  for (const char* type : {"GRU", "LSTM", "Attention", "LinearBackward", ""}) {
    EXPECT_EQ(RoundingsOfType(type), RoundingsOf::kUnknown) << type;
  }
  EXPECT_TRUE(GoesThroughTime("LSTM"));
  EXPECT_TRUE(GoesThroughTime("GRUBackwardSum"));
  EXPECT_FALSE(GoesThroughTime("Linear"));
}

}  // namespace
}  // namespace nanwatch
