// Gradient norms in lines of their own, and of layers.

#include "logs/norm_lines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "logs/layer_norms.h"
#include "logs/layer_pairs.h"
#include "logs/log_reader.h"
#include "logs/mean_norms.h"
#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

struct Read {
  std::vector<double> losses;
  std::vector<double> norms;  // of the steps that have one
};

Read ReadSteps(int steps, const std::vector<std::string>& below) {
  Read read;
  LogReader reader(nullptr, {}, [&read](const LogRecord& record) {
    read.losses.push_back(record.step[StepField::kLoss]);
    if (record.step.has(StepField::kGradNorm)) {
      read.norms.push_back(record.step[StepField::kGradNorm]);
    }
  });
  for (int step = 0; step < steps; ++step) {
    reader.ReadLine("step " + std::to_string(step) + " loss: 2.5");
    for (const std::string& line : below) reader.ReadLine(line);
  }
  reader.Finish();
  return read;
}

TEST(NormLines, OfLayersAddUpToTheStepsOwn) {
  for (const std::vector<std::string>& below :
       {std::vector<std::string>{"  h.0.weight grad_norm 3.0",
                                 "  h.1.weight grad_norm 4.0"},
        {"h.0.weight.grad norm=3.0", "h.1.weight.grad norm=4.0"},
        {"grad_norm/h.0: 3.0, grad_norm/h.1: 4.0"},
        {"Grad norm: 5.0"}}) {
    const Read read = ReadSteps(20, below);
    EXPECT_EQ(read.losses, std::vector<double>(20, 2.5)) << below[0];
    // Of the first step nobody knew that there would be some.
    EXPECT_EQ(read.norms, std::vector<double>(19, 5)) << below[0];
  }
}

TEST(NormLines, OneThatIsNotFiniteIsTheWhole) {
  const Read read =
      ReadSteps(20, {"  a.b grad_norm 3.0", "  a.c grad_norm nan"});
  ASSERT_EQ(read.norms.size(), 19u);
  EXPECT_TRUE(std::isnan(read.norms.back()));
}

TEST(NormLines, OfLayersInAnObjectTheyAreTheStepsOwn) {
  std::vector<double> norms;
  LogReader reader(nullptr, {}, [&norms](const LogRecord& record) {
    norms.push_back(record.step[StepField::kGradNorm]);
  });
  for (int step = 0; step < 20; ++step) {
    reader.ReadLine("{\"step\": " + std::to_string(step) +
                    ", \"loss\": 2.5, \"grad_norm/h.0\": 3.0, "
                    "\"grad_norm/h.1\": 4.0}");
  }
  reader.Finish();
  EXPECT_EQ(norms, std::vector<double>(20, 5));
}

TEST(NormLines, AStepWithoutAnyHasNone) {
  EXPECT_TRUE(ReadSteps(20, {"  a.b weight_norm 3.0"}).norms.empty());
}

TEST(LayerNorms, LimitsAndWholesAreNoLayers) {
  LayerNorms norms;
  for (const char* name :
       {"grad_norm", "clip/max_grad_norm", "train/total_grad_norm",
        "model.global_grad_norm", "fc.weight_norm", "fc.grad"}) {
    norms.Look(name, " 3.0");
  }
  EXPECT_FALSE(norms.norm().has_value());
  norms.Look("gradient norm fc1.weight", " 3.0");
  norms.Look("gradients/norm/fc2", " 4.0");
  EXPECT_EQ(norms.norm(), 5);
}

// "grad_norm: a=3 b=4": names of layers behind one heading.
TEST(NormLines, LayersBehindAHeadingAddUp) {
  EXPECT_EQ(NormOfPairs("step 1 loss 5.5 grad_norm: h.0=3.0 h.1=4.0"), 5);
  EXPECT_EQ(NormOfPairs("step 1 loss 5.5 grad_norm: 3.0"), std::nullopt);
  EXPECT_EQ(NormOfPairs("step 1 loss 5.5 lr: 3.0"), std::nullopt);
}

// Returns at which of `norms` that are not finite, one after another, one
// counts first, behind lines of which each `every`th is bad; -1: none does.
int FirstThatCounts(int before, int every, double falls) {
  MeanNorms means;
  const auto line = [&means](double loss, double norm) {
    return means.Counts(
        LogFact().Set(StepField::kLoss, loss).Set(StepField::kGradNorm, norm));
  };
  for (int i = 1; i <= before; ++i) line(2, i % every == 0 ? NAN : 1.0);
  for (int i = 1; i <= 20; ++i) {
    if (line(2 * std::pow(1 - falls, i), NAN)) return i;
  }
  return -1;
}

TEST(MeanNorms, CountWhereChanceDoesNotExplainThem) {
  EXPECT_EQ(FirstThatCounts(40, 99, 0), 8);
  EXPECT_EQ(FirstThatCounts(4, 99, 0), 8);
  EXPECT_EQ(FirstThatCounts(41, 3, 0), 13) << "a third were bad before";
  EXPECT_EQ(FirstThatCounts(41, 2, 0), 16);
  EXPECT_EQ(FirstThatCounts(0, 99, 0), -1) << "none was ever finite";
  EXPECT_EQ(FirstThatCounts(40, 99, 0.02), -1) << "the loss falls";
}

TEST(MeanNorms, TheRunSaysSinceWhenTheyAreNotFinite) {
  LogReader reader(FindLogFormat("mmcv"), {}, [](const LogRecord&) {});
  const auto line = [&reader](int step, const char* norm) {
    reader.ReadLine(
        "{\"mode\": \"train\", \"epoch\": 1, \"iter\": " +
        std::to_string(step) +
        ", \"lr\": 0.01, \"data_time\": 0.5, \"loss\": 2.5, \"grad_norm\": " +
        norm + "}");
  };
  for (int i = 1; i <= 9; ++i) line(10 * i, "1.5");
  for (int i = 10; i < 20; ++i) line(10 * i, "NaN");
  EXPECT_EQ(reader.run().settings.at("norms_not_finite_since"), "100");
  line(200, "1.5");
  EXPECT_EQ(reader.run().settings.at("norms_not_finite_since"), "");
}

// Of Megatron's lines: a few are skipped updates.
TEST(NormLines, ManyNormsOf0InARowAreNorms) {
  std::string lines;
  for (int step = 1; step <= 30; ++step) {
    lines += " iteration " + std::to_string(step) +
             "/ 90 | lm loss: 4.0 | loss scale: 1.0 | grad norm: " +
             (step < 5 ? "0.917" : "0.000") + " |\n";
  }
  const std::string told = ToldFacts("megatron", lines);
  EXPECT_NE(told.find("step=20 loss=4 loss_scale=1 norm_zero\n"), told.npos)
      << told;
  EXPECT_TRUE(told.ends_with("step=30 loss=4 loss_scale=1 grad_norm=0\n"))
      << told;
}

}  // namespace
}  // namespace nanwatch
