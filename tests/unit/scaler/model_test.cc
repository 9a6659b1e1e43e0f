#include "scaler/model.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

#include "scaler/log2.h"

namespace nanwatch {
namespace {

using ::testing::DoubleEq;
using ::testing::Optional;
using ::testing::Pointwise;

ScalerDeclaration With(double init, int64_t interval) {
  ScalerDeclaration d;
  d.init_scale = init;
  d.growth_interval = interval;
  return d;
}

// A row's history: 'T' overflows, '.' does not; `scales` follow each update.
struct Row {
  const char* scaler;
  double init;
  int64_t interval;
  const char* history;
  std::vector<double> scales;
};

class ModelTable : public ::testing::TestWithParam<Row> {};

TEST_P(ModelTable, FollowsTheRowsOwnSemantics) {
  const Row& row = GetParam();
  const ScalerSpec* spec = FindScaler(row.scaler);
  ASSERT_NE(spec, nullptr);
  ScalerModel model(Resolve(spec, With(row.init, row.interval)));
  std::vector<double> scales;
  for (const char* c = row.history; *c != 0; ++c) {
    const double from = model.scale();
    const std::optional<double> next = model.Next(*c == 'T');
    ASSERT_TRUE(next.has_value());
    EXPECT_TRUE(model.Possible(from, *next, *c == 'T'))
        << from << " to " << *next;
    scales.push_back(*next);
  }
  EXPECT_THAT(scales, Pointwise(DoubleEq(), row.scales));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ModelTable,
    ::testing::Values(
        // Halves at every overflow, falls below 1; growth needs consecutive
        // good updates.
        Row{"pytorch", 2, 2, "TT.T..", {1, 0.5, 0.5, 0.25, 0.25, 0.5}},
        Row{"fsdp", 4, 3, "T...", {2, 2, 2, 4}},
        Row{"torch_npu", 1, 3, "TT", {0.5, 0.25}},
        // Growth that would pass 2^24 ends there.
        Row{"apex", 16777216, 1, ".T.", {16777216, 8388608, 16777216}},
        Row{"apex", 10240000, 1, "..T", {16777216, 16777216, 8388608}},
        Row{"openseq2seq_backoff", 12000, 1, "..", {16384, 16384}},
        // Growth that is not finite is refused.
        Row{"pytorch", 0x1p127, 1, ".T", {0x1p127, 0x1p126}},
        Row{"mindspore", 0x1p127, 1, "..", {0x1p127, 0x1p127}},
        // Hysteresis 2, refilled by growth only: the clean updates between
        // two overflows forgive nothing.
        Row{"megatron", 64, 4, "T..T.T", {64, 64, 64, 32, 32, 16}},
        Row{"megatron",
            64,
            2,
            "T..T.T..",
            {64, 64, 128, 128, 128, 64, 64, 128}},
        Row{"megatron", 2, 9, "TTTT", {2, 1, 1, 1}},
        Row{"deepspeed", 8, 3, "TT...T", {8, 4, 4, 4, 8, 8}},
        Row{"fairseq", 4e-4, 9, "TTT", {2e-4, 1e-4, 1e-4}},
        Row{"keras", 1, 2, "T..", {0.5, 0.5, 1}},
        Row{"jmp", 2, 9, "TT", {1, 1}}, Row{"paddle", 4, 2, "T..", {2, 2, 4}},
        Row{"mindspore", 4, 2, "TTT..", {2, 1, 1, 1, 2}},
        Row{"mindformers", 4, 1000, "TT.", {2, 1, 1}},
        // The bad count is cumulative: T . T falls, though no two overflows
        // are adjacent. A growth forgets it. Ratio 0.8, floor 1.
        Row{"ascend_tf", 1024, 100, "T.TT", {1024, 1024, 819.2, 819.2}},
        Row{"ascend_tf", 100, 2, "T..TT", {100, 100, 200, 200, 160}},
        Row{"ascend_tf", 1.2, 100, "TTTT", {1.2, 1, 1, 1}},
        Row{"ascend_tf_fixed", 128, 1, "TT..", {128, 128, 128, 128}},
        Row{"openseq2seq_backoff", 16384, 1, ".TT", {16384, 8192, 4096}}),
    [](const auto& info) {
      return std::string(info.param.scaler) + "_" + std::to_string(info.index);
    });

TEST(Model, StatisticalScalersHaveNoNextScale) {
  for (const char* name : {"openseq2seq_logmax", "adaloss", "popart"}) {
    ScalerModel model(Resolve(FindScaler(name), {}));
    EXPECT_EQ(model.Next(true), std::nullopt) << name;
    EXPECT_TRUE(model.Possible(1000, 3, false)) << name;
  }
}

// Good updates until the scale grows.
int Window(ScalerModel* model) {
  const double from = model->scale();
  int updates = 0;
  while (model->scale() == from && updates < 2000) {
    ++updates;
    model->Next(false);
  }
  return updates;
}

TEST(Model, MindFormersLengthensItsWindowWithGrowthsAndDropsItWithBackoffs) {
  ScalerModel model(Resolve(FindScaler("mindformers"), With(1024, 20)));
  for (const int window : {20, 30, 40, 50, 100, 200, 500, 1000, 1000}) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Window(&model), window);
  }
  for (int i = 0; i < 3; ++i) model.Next(true);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Window(&model), 1);
  EXPECT_EQ(Window(&model), 20);
  // The smallest of the list stays.
  for (int i = 0; i < 3; ++i) model.Next(true);
  EXPECT_EQ(Window(&model), 20);
  // A window that is not in the list is not taken.
  ScalerModel odd(Resolve(FindScaler("mindformers"), With(1024, 70)));
  EXPECT_EQ(Window(&odd), 20);
}

TEST(Model, LogarithmsOfPowersOfTwoAreExact) {
  for (int i = -149; i < 128; ++i) {
    EXPECT_EQ(ExactLog2(std::ldexp(1.0, i)), i);
  }
  for (double x = 0.001; x < 1000; x *= 1.1) {
    EXPECT_NEAR(ExactLog2(x), std::log2(x), 1e-12);
  }
}

TEST(Model, ConsecutiveHysteresisIsForgivenByOneGoodUpdate) {
  ScalerParameters p = Resolve(FindScaler("deepspeed"), With(64, 100));
  p.hysteresis = Hysteresis::kConsecutive;
  ScalerModel model(p);
  std::vector<double> scales;
  for (const bool overflow : {true, false, true, true}) {
    scales.push_back(*model.Next(overflow));
  }
  EXPECT_THAT(scales, ::testing::ElementsAre(64, 64, 64, 32));
}

TEST(Model, ImpossibleTransitions) {
  const ScalerModel pytorch(Resolve(FindScaler("pytorch"), {}));
  EXPECT_FALSE(pytorch.Possible(1024, 4096, false));  // fourfold
  EXPECT_FALSE(pytorch.Possible(1024, 512, false));   // fell without cause
  EXPECT_FALSE(pytorch.Possible(1024, 1024, true));   // no hysteresis
  EXPECT_FALSE(pytorch.Possible(1024, 2048, true));
  EXPECT_FALSE(pytorch.Possible(1024, 819.2, true));
  const ScalerModel megatron(Resolve(FindScaler("megatron"), {}));
  EXPECT_TRUE(megatron.Possible(1024, 1024, true));
  EXPECT_TRUE(megatron.Possible(1, 1, true));
  EXPECT_FALSE(megatron.Possible(1, 0.5, true));
  const ScalerModel fixed(Resolve(FindScaler("ascend_tf_fixed"), {}));
  EXPECT_FALSE(fixed.Possible(1024, 512, true));
}

TEST(Model, RoundedScalesOfLogsAreTheSame) {
  EXPECT_TRUE(SameScale(268435460, 268435456));
  EXPECT_TRUE(SameScale(0.0001, 0x1p-13));
  EXPECT_FALSE(SameScale(1024, 1100));
  EXPECT_FALSE(SameScale(0x1p-16, 0x1p-17));
}

TEST(Model, ForecastsTheFloor) {
  ScalerDeclaration d = With(4294967296.0, 1000);
  d.backoff_factor = 0.5;
  // The usual Ascend script: 32 halvings, two overflows each.
  EXPECT_THAT(
      ScalerModel(Resolve(FindScaler("ascend_tf"), d)).UpdatesToFloor(1.0),
      Optional(64));
  EXPECT_THAT(
      ScalerModel(Resolve(FindScaler("megatron"), {})).UpdatesToFloor(1.0),
      Optional(33));
  EXPECT_THAT(ScalerModel(Resolve(FindScaler("jmp"), {})).UpdatesToFloor(0.5),
              Optional(30));
  EXPECT_EQ(ScalerModel(Resolve(FindScaler("pytorch"), {})).UpdatesToFloor(1),
            std::nullopt);
  EXPECT_EQ(ScalerModel(Resolve(FindScaler("jmp"), {})).UpdatesToFloor(0),
            std::nullopt);
  EXPECT_THAT(
      ScalerModel(Resolve(FindScaler("jmp"), With(1, 9))).UpdatesToFloor(1),
      Optional(0));
}

TEST(Model, OverflowsThatOneGrowthEarns) {
  EXPECT_EQ(Resolve(FindScaler("pytorch"), {}).OverflowsPerGrowth(), 1);
  EXPECT_EQ(Resolve(FindScaler("deepspeed"), {}).OverflowsPerGrowth(), 2);
  // 0.8^4 < 1/2 <= 0.8^3: four backoffs of two overflows.
  EXPECT_EQ(Resolve(FindScaler("ascend_tf"), {}).OverflowsPerGrowth(), 8);
}

TEST(Model, DeclaredNumbersWin) {
  ScalerDeclaration d;
  d.kind = ScalingKind::kStatic;
  d.init_scale = 512;
  const ScalerParameters p = Resolve(FindScaler("pytorch"), d);
  EXPECT_EQ(p.init, 512);
  EXPECT_EQ(p.growth, Growth::kNever);
}

}  // namespace
}  // namespace nanwatch
