#include "scaler/catalog.h"

#include <gmock/gmock.h>

#include <set>
#include <string>

namespace nanwatch {
namespace {

TEST(Catalog, EveryNameFindsItsOwnRow) {
  std::set<std::string_view> names;
  for (const ScalerSpec& spec : AllScalers()) {
    EXPECT_EQ(FindScaler(spec.name), &spec) << spec.name;
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name << " twice";
  }
}

TEST(Catalog, NumbersMakeSense) {
  for (const ScalerSpec& spec : AllScalers()) {
    SCOPED_TRACE(spec.name);
    EXPECT_FALSE(spec.title.empty());
    EXPECT_FALSE(spec.source.empty());
    EXPECT_GE(spec.growth_factor, 1);
    EXPECT_GT(spec.backoff_factor, 0);
    EXPECT_LE(spec.backoff_factor, 1);
    EXPECT_GE(spec.hysteresis_count, 1);
    EXPECT_LT(spec.floor, spec.ceiling);
    EXPECT_EQ(spec.at_floor == AtFloor::kNoFloor, spec.floor == 0);
    EXPECT_EQ(spec.hysteresis == Hysteresis::kNone, spec.hysteresis_count == 1);
  }
}

TEST(Catalog, AliasesAndSpellingsFindTheRow) {
  const std::pair<const char*, const char*> cases[] = {
      {"PyTorch", "pytorch"},
      {"torch.amp.GradScaler", "pytorch"},
      {"ShardedGradScaler", "fsdp"},
      {"Megatron-LM", "megatron"},
      {"ascend-tf", "ascend_tf"},
      {"ExponentialUpdateLossScaleManager", "ascend_tf"},
      {"FixedLossScaleManager", "ascend_tf_fixed"},
      {"LossScaleOptimizer", "keras"},
      {"deep_speed", "deepspeed"},
      {"DelayedScaling", "te_delayed"},
      {"Float8CurrentScaling", "te_current"},
      {"MXFP8BlockScaling", "mxfp8"},
      {"NVFP4BlockScaling", "nvfp4"},
      {"MS-AMP", "ms_amp"},
      {"PopART", "popart"},
  };
  for (const auto& [said, meant] : cases) {
    const ScalerSpec* spec = FindScaler(said);
    ASSERT_NE(spec, nullptr) << said;
    EXPECT_EQ(spec->name, meant) << said;
  }
}

TEST(Catalog, UnknownNamesFindNothing) {
  EXPECT_EQ(FindScaler(""), nullptr);
  EXPECT_EQ(FindScaler("my own scaler"), nullptr);
}

}  // namespace
}  // namespace nanwatch
