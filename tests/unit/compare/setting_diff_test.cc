#include "compare/setting_diff.h"

#include <gmock/gmock.h>

namespace nanwatch {
namespace {

TEST(SettingDiffTest, EqualRunsHaveNone) {
  RunDescription run;
  run.settings = {{"lr", "1e-3"}};
  run.seed = 3;
  EXPECT_TRUE(DiffSettings(run, run).empty());
}

TEST(SettingDiffTest, WhatChangesResultsComesFirst) {
  RunDescription a, b;
  a.settings = {{"cuda_driver", "1"}, {"output_path", "x"}, {"lr", "1e-3"}};
  b.settings = {{"cuda_driver", "2"}, {"output_path", "y"}};
  b.precision = "bf16";
  const auto diffs = DiffSettings(a, b);
  ASSERT_EQ(diffs.size(), 4u);
  EXPECT_EQ(diffs[0].key, "lr");
  EXPECT_EQ(diffs[0].b, "");
  EXPECT_EQ(diffs[1].key, "precision");
  EXPECT_EQ(diffs[2].key, "cuda_driver");
  EXPECT_EQ(diffs[2].weight, SettingWeight::kMayChange);
  EXPECT_EQ(diffs[3].weight, SettingWeight::kDoesNot);
}

TEST(SettingDiffTest, WeighsWords) {
  EXPECT_EQ(WeightOf("train.LR"), SettingWeight::kChangesResults);
  EXPECT_EQ(WeightOf("adam_eps"), SettingWeight::kChangesResults);
  EXPECT_EQ(WeightOf("curl_retries"), SettingWeight::kMayChange);
  EXPECT_EQ(WeightOf("watch_level"), SettingWeight::kDoesNot);
}

}  // namespace
}  // namespace nanwatch
