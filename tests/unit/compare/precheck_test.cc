#include "compare/precheck.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace nanwatch {
namespace {

using Keys = std::vector<std::string>;

Keys KeysOf(const RunDescription& run, RemarkWeight weight) {
  Keys keys;
  for (const Remark& remark : JudgeSettings(run)) {
    if (remark.weight == weight) keys.push_back(remark.key);
  }
  return keys;
}
Keys Wrong(const RunDescription& run) {
  return KeysOf(run, RemarkWeight::kWrong);
}
Keys May(const RunDescription& run) { return KeysOf(run, RemarkWeight::kMay); }

RunDescription Fp32() {
  RunDescription run;
  run.settings = {{"deterministic_algorithms", "on"},
                  {"initial_seed", "7"},
                  {"optimizer.dtype", "fp32"},
                  {"optimizer.eps", "1e-08"},
                  {"weights_dtype", "fp32"}};
  run.overflow_mode = OverflowMode::kInfNan;
  return run;
}

TEST(PrecheckTest, ASteadyFp32TrainingHasNoRemark) {
  EXPECT_TRUE(JudgeSettings(Fp32()).empty());
}

TEST(PrecheckTest, WhatWasNotReadIsNotJudged) {
  EXPECT_TRUE(JudgeSettings(RunDescription()).empty());
}

TEST(PrecheckTest, Fp16NeedsAScale) {
  RunDescription run = Fp32();
  run.precision = "fp16";
  EXPECT_EQ(Wrong(run), Keys{"scaler"});
  run.scaler.kind = ScalingKind::kDynamic;
  EXPECT_TRUE(Wrong(run).empty());
  run.scaler.overflow_check = false;
  EXPECT_EQ(Wrong(run), Keys{"scaler.overflow_check"});
}

TEST(PrecheckTest, UpdatesOfFp16WeightsAreLost) {
  RunDescription run = Fp32();
  run.settings["optimizer.dtype"] = "fp16 3, fp32 1";
  EXPECT_EQ(Wrong(run), (Keys{"optimizer.dtype", "optimizer.eps"}));
  run.settings["optimizer.eps"] = "0.0001";
  EXPECT_EQ(Wrong(run), Keys{"optimizer.dtype"});
}

TEST(PrecheckTest, ADeviceThatSaturatesIsToldOf) {
  RunDescription run = Fp32();
  run.overflow_mode = OverflowMode::kSaturation;
  EXPECT_EQ(Wrong(run), Keys{"overflow_mode"});
}

TEST(PrecheckTest, AnNpuThatDoesNotSayItsOverflowModeMaySaturate) {
  RunDescription run = Fp32();
  run.overflow_mode = OverflowMode::kUnknown;
  EXPECT_TRUE(May(run).empty());
  run.settings["torch_npu"] = "2.7.1";
  EXPECT_EQ(May(run), Keys{"overflow_mode"});
}

TEST(PrecheckTest, SeedsThatNobodySetHaveMoreBitsThanPeoples) {
  RunDescription run = Fp32();
  run.settings["initial_seed"] = "884210427798292443";
  EXPECT_EQ(May(run), Keys{"initial_seed"});
  run.seed = 5;
  EXPECT_TRUE(May(run).empty());
}

TEST(PrecheckTest, AGpusSwitchesAreJudgedOnAGpu) {
  RunDescription run = Fp32();
  run.settings["matmul.allow_tf32"] = "True";
  EXPECT_TRUE(May(run).empty());
  run.settings["cuda"] = "12.8";
  run.settings["cudnn.benchmark"] = "True";
  run.world_size = 2;
  EXPECT_THAT(May(run), testing::ElementsAre(
                            "matmul_precision", "cudnn.benchmark",
                            "env.CUBLAS_WORKSPACE_CONFIG", "env.NCCL_ALGO"));
}

TEST(PrecheckTest, WhatIsWrongComesFirst) {
  RunDescription run = Fp32();
  run.settings["deterministic_algorithms"] = "off";
  run.overflow_mode = OverflowMode::kSaturation;
  const std::vector<Remark> remarks = JudgeSettings(run);
  ASSERT_EQ(remarks.size(), 2u);
  EXPECT_EQ(remarks[0].weight, RemarkWeight::kWrong);
}

}  // namespace
}  // namespace nanwatch
