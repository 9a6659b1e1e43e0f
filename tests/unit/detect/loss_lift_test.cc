// Rule 34 where its baseline is as wide as the descent: a loss that leaves the
// level of just before (LossLift), and a level that a warm restart ends.

#include <gmock/gmock.h>

#include <cmath>

#include "detect/loss_spike.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/noise.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

struct Texture {
  double first = 10.8;
  double last = 4;
  double half = 20;  // records
  double width = 0.01;
  const char* framework = "";
};

// `before` losses that fall, and `after` at `times` the last level.
StepFeed<LossSpike> Jumped(const Texture& texture, int before, double times,
                           int after) {
  StepFeed<LossSpike> f;
  f.run.framework = texture.framework;
  Noise noise;
  double level = 0;
  for (int i = 0; i < before; ++i) {
    level =
        texture.last + (texture.first - texture.last) / (1 + i / texture.half);
    f.Step({.loss = level * noise.Factor(texture.width), .unseen = 9});
  }
  for (int i = 0; i < after; ++i) {
    f.Step({.loss = times * level * noise.Factor(texture.width), .unseen = 9});
  }
  return f;
}

TEST(LossLift, ALossThatJumpsWhileItFallsAndStaysIsCritical) {
  const Texture language = {.framework = "megatron"};
  const Texture images = {.first = 6.9, .last = 3.2};
  const Texture tuning = {.first = 2.4, .last = 0.5, .width = 0.1};
  for (const int before : {60, 120, 200}) {
    for (const auto& [texture, times] :
         {std::pair(language, 1.7), {images, 1.85}, {tuning, 3.0}}) {
      StepFeed<LossSpike> f = Jumped(texture, before, times, 100);
      EXPECT_EQ(f.End(), Severity::kCritical) << before << " x" << times;
      EXPECT_NEAR(static_cast<double>(f.Described().opened_step),
                  10 * before + 10, 40);
      ExpectWords(f.Described().sentence);
    }
  }
}

TEST(LossLift, ASmallerJumpOfASteadyLossIsAWarning) {
  const Texture language = {.last = 2.5, .framework = "megatron"};
  for (const double times : {1.5, 1.6}) {
    StepFeed<LossSpike> f = Jumped(language, 200, times, 80);
    EXPECT_EQ(f.End(), Severity::kWarning) << times;
  }
  StepFeed<LossSpike> harder = Jumped(language, 200, 1.4, 80);
  EXPECT_EQ(harder.End(), Severity::kNone) << "as harder data do";
  StepFeed<LossSpike> noisy = Jumped({.width = 0.3}, 200, 1.5, 80);
  EXPECT_EQ(noisy.End(), Severity::kNone);
}

// It need not wait for the end, as a daemon cannot.
TEST(LossLift, FiveHundredStepsWithoutAWayBackAreCritical) {
  const Texture language = {.framework = "megatron"};
  EXPECT_LE(Jumped(language, 120, 1.7, 49).now, Severity::kWarning);
  EXPECT_EQ(Jumped(language, 120, 1.7, 52).now, Severity::kCritical);
}

// Of +0.9 nats, and back within 40 records: no stage of a curriculum.
TEST(LossLift, ASpikeThatComesBackIsAWarningThatClears) {
  for (const double records : {25, 40}) {
    StepFeed<LossSpike> f;
    Noise noise;
    for (int i = 0; i < 700; ++i) {
      const double above = i < 400 ? 0 : std::exp((400 - i) / records);
      f.Step({.loss = (2.3 + 0.3 * std::exp(-i / 300.0) + 0.9 * above) *
                      noise.Factor(0.008)});
    }
    EXPECT_EQ(f.worst, Severity::kWarning) << records;
    EXPECT_EQ(f.now, Severity::kNone);
    EXPECT_EQ(f.End(), Severity::kNone);
  }
}

// Of a run whose baseline is as wide as its descent.
TEST(LossLift, ASpikeOfALossThatStillFallsIsAWarning) {
  StepFeed<LossSpike> f = Jumped({.framework = "torchtitan"}, 200, 1, 1);
  for (const double loss : {7.8, 7.4, 7.0, 6.6, 6.2, 5.8, 5.4, 5.0, 4.8}) {
    f.Step({.loss = loss});
  }
  for (int i = 0; i < 30; ++i) f.Step({.loss = 4.6});
  EXPECT_EQ(f.worst, Severity::kWarning);
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(LossLift, WhatRisesLittleByLittleDidNotJump) {
  StepFeed<LossSpike> f;  // a critic's, whose rewards grow
  Noise noise;
  for (int i = 0; i < 3000; ++i) {
    f.Step({.loss = (0.7 + 0.002 * i) * noise.Factor(0.1)});
  }
  EXPECT_EQ(f.End(), Severity::kNone);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(LossLift, NoisyMixedAndWanderingLossesAreLeftInPeace) {
  for (const double width : {0.02, 0.1, 0.3, 0.6}) {
    for (const int records : {40, 80, 150, 300, 1200}) {
      StepFeed<LossSpike> mixed;
      StepFeed<LossSpike> wanders;
      StepFeed<LossSpike> around_zero;
      Noise noise;
      for (int i = 0; i < records; ++i) {
        const double task = std::vector{
            0.3, 1.2,
            2.6}[static_cast<size_t>(std::min(2.0, 3 * noise.Uniform()))];
        mixed.Step({.loss = task * noise.Factor(width)});
        wanders.Step(
            {.loss = (1 + 0.6 * std::sin(i / 25.0)) * noise.Factor(width)});
        around_zero.Step({.loss = width * noise.Normal()});
      }
      EXPECT_LE(mixed.End(), Severity::kInfo) << width << " " << records;
      EXPECT_LE(wanders.End(), Severity::kInfo) << width << " " << records;
      EXPECT_LE(around_zero.End(), Severity::kInfo) << width << " " << records;
    }
  }
}

// Loss and rate go back up together, and come down again.
TEST(LossLift, AWarmRestartOfTheLearningRateIsNoSpike) {
  const auto cycles = [](bool told) {
    StepFeed<LossSpike> f;
    Noise noise;
    for (int i = 0; i < 1200; ++i) {
      const double at = (i % 300) / 300.0;
      const double rate = 5e-4 * (1 + std::cos(3.14159265 * at)) + 1e-6;
      const double learned = 2.2 * std::exp(-i / 40.0);
      Update update = {.loss =
                           (1.2 + learned + 900 * rate) * noise.Factor(0.03)};
      if (told) update.learning_rate = rate;
      f.Step(update);
    }
    return f;
  };
  StepFeed<LossSpike> f = cycles(true);
  EXPECT_EQ(f.worst, Severity::kNone);
  EXPECT_EQ(f.End(), Severity::kNone);
  StepFeed<LossSpike> lost = f;
  lost.Steps({.loss = 300, .learning_rate = 1e-3}, 2);
  EXPECT_EQ(lost.now, Severity::kCritical) << "an explosion is one";
}

// A rate that was never so high: the loss that follows is no new level.
TEST(LossLift, ALearningRateThatIsRaisedByFarBeginsNoCycle) {
  StepFeed<LossSpike> f;
  Noise noise;
  for (int i = 0; i < 150; ++i) {
    f.Step({.loss = 0.3 * noise.Factor(0.4), .learning_rate = 3e-3});
  }
  for (int i = 0; i < 60; ++i) {
    f.Step({.loss = 4 * noise.Factor(0.8), .learning_rate = 0.35});
  }
  EXPECT_GE(f.worst, Severity::kWarning);
}

// What is missing until it clears will not come.
TEST(LossSpike, WhereTheLogEndsAtTheLevelOfBeforeAWarningIsOver) {
  for (const int back : {1, 12}) {
    StepFeed<LossSpike> f;
    Noise noise;
    const auto steps = [&](double level, int records) {
      for (int i = 0; i < records; ++i) {
        f.Step({.loss = level * noise.Factor(0.01)});
      }
    };
    steps(2.3, 300);
    steps(4.5, 8);
    steps(2.2, back);
    EXPECT_EQ(f.now, Severity::kWarning);
    EXPECT_EQ(f.End(), back == 1 ? Severity::kWarning : Severity::kNone);
  }
}

}  // namespace
}  // namespace nanwatch
