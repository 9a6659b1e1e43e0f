#include "logs/zero_layers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

std::vector<std::string> PairsOf(std::string_view line) {
  std::vector<LayerPair> pairs;
  ReadLayerPairs(line, &pairs);
  std::vector<std::string> said;
  for (const LayerPair& pair : pairs) {
    said.push_back(std::string(pair.name) + " " + std::to_string(pair.norm));
  }
  return said;
}

using Pairs = std::vector<std::string>;

TEST(LayerPairs, NormsOfLayersInAnyDress) {
  const Pairs two = {"fc.0 0.250000", "fc.1 0.000000"};
  EXPECT_EQ(PairsOf("step 3 loss 2.3 grad_norm: fc.0=0.25 fc.1=0.0"), two);
  EXPECT_EQ(PairsOf("  grad/ fc.0=2.5e-01 fc.1=0.000e+00"), two);
  EXPECT_EQ(PairsOf("update 0 | loss=3.3 | gnorm fc.0=0.25 fc.1=0 | lr 0.0"),
            two);
  EXPECT_EQ(PairsOf("  grads: fc.0:0.25 fc.1:0.0"), two);
  EXPECT_EQ(PairsOf("it=3 gnorm[0.weight]=0.25 gnorm[0.bias]=0.0"),
            (Pairs{"0.weight 0.250000", "0.bias 0.000000"}));
  EXPECT_EQ(PairsOf(R"({"step": 3, "grad_norm/fc.0": 0.25, "lr": 0.0})"),
            (Pairs{"fc.0 0.250000"}));
  EXPECT_EQ(PairsOf("fc.0.grad_norm=0.25 fc.1.grad: 0.0"), two);
  EXPECT_EQ(PairsOf("it=3 xent=2.3 |g_fc.0|=2.5e-01 |g_fc.1|=0.0"), two);
  EXPECT_EQ(PairsOf("[step 0] fc.weight grad_norm 0.25"),
            (Pairs{"fc.weight 0.250000"}));
  EXPECT_EQ(PairsOf("INFO   |grad| layer1   0.00000"),
            (Pairs{"layer1 0.000000"}));
  EXPECT_EQ(PairsOf("    fc.weight  norm=3.000  grad_norm=2.500e-01"),
            (Pairs{"fc.weight 0.250000"}));
}

TEST(LayerPairs, OtherNumbersAreNone) {
  EXPECT_EQ(PairsOf("step 3 loss 2.3 grad_norm 0.5 lr 0.0 time 0.2"), Pairs());
  EXPECT_EQ(PairsOf("grad_norm/max: 0.5 train/grad_norm: 0.0"), Pairs());
  EXPECT_EQ(PairsOf("gradient accumulation steps = 4"), Pairs());
  EXPECT_EQ(PairsOf("loss_a=0.0 loss_b=0.5"), Pairs());
  EXPECT_EQ(PairsOf(""), Pairs());
}

// Shows three layers a step, the second as `norm` says.
void Feed(ZeroLayers* zeros, int step, const std::string& norm) {
  zeros->Read("step " + std::to_string(step) +
                  " grad_norm: a.0=0.2510 a.1=" + norm + " a.2=0.3110",
              step);
}

TEST(ZeroLayers, OneThatLosesItsGradient) {
  ZeroLayers zeros;
  for (int step = 0; step < 50; ++step) Feed(&zeros, step, "0.1870");
  for (int step = 50; step < 53; ++step) Feed(&zeros, step, "0.0000");
  EXPECT_EQ(zeros.lost(), "");
  for (int step = 53; step < 80; ++step) Feed(&zeros, step, "0.0000");
  EXPECT_EQ(zeros.lost(), "a.1");
  EXPECT_EQ(zeros.since(), 50u);
  EXPECT_EQ(zeros.never(), "");
  Feed(&zeros, 80, "0.1870");
  EXPECT_EQ(zeros.lost(), "");
}

TEST(ZeroLayers, OneOfTwoThatLosesItsGradient) {
  ZeroLayers zeros;
  for (int step = 0; step < 60; ++step) {
    zeros.Read(std::string("iter 10: train loss 2.156, gradnorm(enc) ") +
                   (step < 40 ? "0.886418" : "0.000000") +
                   ", gradnorm(dec) 1.053097, lr 1.0e-04",
               static_cast<uint64_t>(step));
  }
  EXPECT_EQ(zeros.lost(), "enc");
  EXPECT_EQ(zeros.since(), 40u);
}

TEST(ZeroLayers, OneThatNeverHadAny) {
  ZeroLayers zeros;
  for (int step = 0; step < 50; ++step) Feed(&zeros, step, "0.0000");
  EXPECT_EQ(zeros.lost(), "");
  EXPECT_EQ(zeros.never(), "a.1");
}

TEST(ZeroLayers, OneOfATableThatNeverHadAny) {
  for (const char* const head :
       {"layer      |w|     |grad|", "| name | norm | grad_norm |",
        "layer      grad     |w|"}) {
    ZeroLayers zeros;
    uint64_t line = 0;
    for (int step = 0; step < 20; ++step) {
      zeros.Read("=== step 20 === loss 2.2866 lr 5.0e-04", ++line);
      zeros.Read(head, ++line);
      zeros.Read("a.0.weight  1.8754 1.8754", ++line);
      zeros.Read("a.1.weight  0.000000e+00 0.000000e+00", ++line);
      zeros.Read("a.2.weight  1.7854  1.034414e-01", ++line);
      zeros.Read("epoch  0.000000e+00 0.000000e+00", ++line);
    }
    EXPECT_EQ(zeros.never(), "a.1.weight") << head;
  }
}

TEST(ZeroLayers, WhatTheLogFreezesIsMeant) {
  ZeroLayers zeros;
  zeros.Read("Freezing a.1", 0);
  for (int step = 0; step < 50; ++step) Feed(&zeros, step, "0.0000");
  EXPECT_EQ(zeros.never(), "");
}

// An expert that no token comes to, now and then.
TEST(ZeroLayers, ZerosThatComeAndGoAreNone) {
  ZeroLayers zeros;
  for (int step = 0; step < 400; ++step) {
    Feed(&zeros, step, step % 7 < 3 ? "0.1870" : "0.0000");
    if (step < 30) continue;
    EXPECT_EQ(zeros.lost(), "") << step;
  }
}

TEST(ZeroLayers, RoundingAndAllOfThemAreNone) {
  ZeroLayers zeros;
  for (int step = 0; step < 50; ++step) Feed(&zeros, step, "0.0020");
  for (int step = 50; step < 99; ++step) Feed(&zeros, step, "0.0000");
  EXPECT_EQ(zeros.lost(), "");
  ZeroLayers all;
  for (int step = 0; step < 99; ++step) {
    const std::string norm = step < 50 ? "0.5" : "0.0";
    all.Read("grads: a.0=" + norm + " a.1=" + norm + " a.2=" + norm,
             static_cast<uint64_t>(step));
  }
  EXPECT_EQ(all.lost(), "");
}

TEST(ZeroLayers, TheRunIsSaidToHaveOne) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (int step = 0; step < 60; ++step) {
    const std::string number = std::to_string(step);
    reader.ReadLine("step " + number + " loss 2." + number + " lr 1e-3");
    reader.ReadLine(std::string("  grads: a.0=2.0e-02 a.1=") +
                    (step < 40 ? "6.0e-02" : "0.0e+00") + " a.2=1.0e-01");
  }
  reader.Finish();
  EXPECT_EQ(reader.run().settings.at("layer_lost_gradient"), "40 a.1");
  EXPECT_FALSE(reader.run().settings.contains("layer_without_gradient"));
}

}  // namespace
}  // namespace nanwatch
