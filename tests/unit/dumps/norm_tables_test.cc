// Logs that print a norm for each parameter.

#include "dumps/norm_tables.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "compare/comparison.h"
#include "dumps/norm_line.h"

namespace nanwatch {
namespace {

struct Line {
  const char* text;
  const char* name;
  double norm;
  NormedThing thing;
};
class NormLineTest : public testing::TestWithParam<Line> {};
TEST_P(NormLineTest, IsRead) {
  const auto read = ReadNormLine(GetParam().text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, GetParam().name);
  EXPECT_DOUBLE_EQ(read->norm, GetParam().norm);
  EXPECT_EQ(read->thing, GetParam().thing);
}
INSTANTIATE_TEST_SUITE_P(
    All, NormLineTest,
    testing::Values(
        Line{"layers.3.mlp.weight: 0.25", "layers.3.mlp.weight", 0.25,
             NormedThing::kUnknown},
        Line{"12:00:01 INFO a.b.hooks: grad norm of fc.bias = 1.5e-3",
             "fc.bias", 1.5e-3, NormedThing::kGradient},
        Line{"h.0.out.weight shape=(48, 64) weight_norm=12 grad_norm=0.5, ok",
             "h.0.out.weight", 0.5, NormedThing::kGradient},
        Line{"after backward | h/0/kernel | tensor(2.5, dtype=float32)",
             "h/0/kernel", 2.5, NormedThing::kGradient},
        Line{"param norm h.1.bias (3.5)", "h.1.bias", 3.5,
             NormedThing::kWeight},
        Line{"layers.0.weight.grad.norm(): 7", "layers.0.weight.grad.norm", 7,
             NormedThing::kGradient}));

class NoNormLine : public testing::TestWithParam<const char*> {};
TEST_P(NoNormLine, IsNotRead) { EXPECT_FALSE(ReadNormLine(GetParam())); }
INSTANTIATE_TEST_SUITE_P(
    All, NoNormLine,
    testing::Values("", "layers.0.weight", "layers.0.weight: 0.2x",
                    "layers.0.weight (48, 48)  # shape", "loss: 2.5 lr: 0.1",
                    "loading model.bin: 100", "torch 2.9.1: ok 3",
                    "layers.0.weight requires_grad True", "layers..weight: 0.5",
                    "step 3: layers 12", "model.layers.0.rate: 0.1"));

std::string Table(double moved_from, double share, bool backward = false,
                  const char* form = "%s grad_norm=%.9g\n") {
  std::string text;
  for (int i = 0; i < 12; ++i) {
    const int layer = backward ? 11 - i : i;
    char line[128];
    const std::string name = "layers." + std::to_string(layer) + ".fc.weight";
    const double norm = 2 + 0.1 * layer;
    // A backward pass comes to lower layers later.
    const bool moved = layer <= moved_from;
    std::snprintf(line, sizeof(line), form, name.c_str(),
                  norm * (moved ? 1 + share * (moved_from - layer + 1) : 1));
    text += line;
  }
  return text;
}

ComparedRun RunOf(const std::string& log) {
  NormTables tables;
  for (size_t at = 0; at < log.size();) {
    const size_t end = log.find('\n', at);
    EXPECT_TRUE(tables.Take(std::string_view(log).substr(at, end - at)).ok());
    at = end + 1;
  }
  return *tables.Finish();
}

TEST(NormTablesTest, AgreeWithThemselvesAndAsAnotherFormatLeavesThem) {
  EXPECT_FALSE(Compare(RunOf(Table(-1, 0)), RunOf(Table(-1, 0))).first);
  // Measured: half a percent, of healthy pairs in fp32 and bf16.
  const Comparison c = Compare(RunOf(Table(-1, 0)), RunOf(Table(11, 0.0004)));
  EXPECT_FALSE(c.first);
  EXPECT_TRUE(c.bits);
  EXPECT_EQ(c.tensors, 12u);
}

TEST(NormTablesTest, NameTheLayerWhereABackwardPassBegins) {
  for (const bool backward : {false, true}) {
    const Comparison c =
        Compare(RunOf(Table(-1, 0, backward)), RunOf(Table(7, 0.02, backward)));
    ASSERT_TRUE(c.first);
    EXPECT_EQ(c.first->kind, DivergenceClass::kDivergentBackward);
    EXPECT_EQ(c.first->op, "layers.7.fc.weight");
    EXPECT_EQ(c.first->equal_before, 4u);
    EXPECT_EQ(c.first->farthest_op, "layers.0.fc.weight");
    EXPECT_NEAR(c.first->farthest, 0.16, 1e-6);
  }
}

TEST(NormTablesTest, WhereAllDifferItBeganBefore) {
  const Comparison c = Compare(RunOf(Table(-1, 0)), RunOf(Table(11, 0.009)));
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->kind, DivergenceClass::kBeforeGradients);
  EXPECT_EQ(c.first->op, "layers.11.fc.weight");
  EXPECT_NEAR(*c.first->distance, 0.009, 1e-6);
}

TEST(NormTablesTest, ANameThatComesAgainBeginsTheNextStep) {
  const std::string good = Table(-1, 0);
  const Comparison c =
      Compare(RunOf(good + good + good), RunOf(good + good + Table(3, 0.1)));
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->step, 2);
  EXPECT_EQ(c.first->op, "layers.3.fc.weight");
}

TEST(NormTablesTest, NanInOneAloneIsToldOfTheFirst) {
  std::string bad = Table(-1, 0);
  const size_t at = bad.find("layers.5.fc.weight grad_norm=");
  bad.replace(bad.find('=', at) + 1, 3, "nan");
  const Comparison c = Compare(RunOf(Table(-1, 0)), RunOf(bad));
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->op, "layers.5.fc.weight");
  EXPECT_EQ(c.first->nan_b, 1u);
}

TEST(NormTablesTest, WithoutAWordOfGradientsNobodyKnowsTheOrder) {
  const char* form = "%s: %.9g\n";
  const Comparison c = Compare(RunOf(Table(-1, 0, false, form)),
                               RunOf(Table(3, 0.1, false, form)));
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->kind, DivergenceClass::kUnordered);
  EXPECT_EQ(c.first->op, "layers.0.fc.weight");
  EXPECT_EQ(c.first->beyond, 4u);
}

TEST(NormTablesTest, NumbersOfElementsAreNoNorms) {
  EXPECT_TRUE(RunOf("a.0.weight: 16\na.1.weight: 32\na.2.weight: 64\n"
                    "a.3.weight: 8\n")
                  .tensors.empty());
}

TEST(NormTablesTest, FewLinesAreNoTable) {
  EXPECT_TRUE(RunOf("a.0.weight: 1\na.1.weight: 2\n").tensors.empty());
}

}  // namespace
}  // namespace nanwatch
