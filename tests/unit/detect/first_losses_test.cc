// Rules 34 and 36: a loss that is wrong from the first records on.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "detect/loss_not_decreasing.h"
#include "detect/loss_spike.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/noise.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

// Three losses before a ramp, behind a checkpoint or from the beginning.
TEST(LossSpike, ALossThatLeavesItsFirstRecordsForGoodIsCritical) {
  for (const int64_t first : {0, 6400}) {
    StepFeed<LossSpike> f;
    Noise noise;
    f.step = first;
    const auto step = [&](double loss) {
      f.Step({.loss = loss + 0.01 * noise.Normal(), .unseen = 9});
    };
    for (int i = 0; i < 3; ++i) step(3);
    for (int i = 1; i <= 11; ++i) step(3 + 4.5 * i / 11);
    for (int i = 0; i < 4; ++i) step(7.5);
    EXPECT_GE(f.now, first > 0 ? Severity::kWarning : Severity::kInfo) << first;
    for (int i = 0; i < 26; ++i) step(7.5);
    EXPECT_EQ(f.now, Severity::kCritical) << first;
    EXPECT_NEAR(f.Described().opened_step, first + 60, 40) << first;
    ExpectWords(f.Described().sentence);
    // Back where it began, a fresh run has learned nothing; one that goes on
    // is where it was.
    for (int i = 0; i < 28; ++i) f.Step({.loss = 3.1});
    EXPECT_EQ(f.now, first > 0 ? Severity::kNone : Severity::kCritical);
    ExpectWords(f.Described().sentence);
    for (int i = 0; i < 60; ++i) f.Step({.loss = 1.8});
    EXPECT_EQ(f.now, Severity::kNone) << first;
    ExpectWords(f.Described().sentence);
  }
}

// A rate that is many times too high from the first step on.
TEST(LossSpike, ALossThatRisesFromTheFirstRecordOnIsCriticalByRecord20) {
  for (const double times : {1.1, 1.2, 1.5, 3.0}) {
    StepFeed<LossSpike> f;
    Noise noise;
    for (int i = 0; i < 20; ++i) {
      const double rise = std::min(std::pow(times, i), 50.0);
      f.Step({.loss = 2.3 * rise * std::exp(0.05 * noise.Normal())});
    }
    EXPECT_EQ(f.now, Severity::kCritical) << times;
    EXPECT_LE(f.Described().opened_step, 7) << times;
  }
}

// Rewards without a spread, or labels that are all masked.
TEST(LossNotDecreasing, ALossAndANormOfZeroFromTheFirstRecordOnAreAWarning) {
  const Update zero = {.loss = 0, .grad_norm = 0, .learning_rate = 1e-6};
  StepFeed<LossNotDecreasing> f(NoScaler());
  EXPECT_EQ(f.Steps(zero, 15), Severity::kNone);
  EXPECT_EQ(f.Step(zero), Severity::kWarning);
  f.Steps({.loss = 0.1, .grad_norm = 1, .learning_rate = 1e-6}, 400);
  EXPECT_EQ(f.now, Severity::kNone) << "it moved";
}

// Means over epochs have no noise that could hide a decrease.
TEST(LossNotDecreasing, EpochsThatStandAreAWarningAfterEight) {
  for (const bool learns : {false, true}) {
    StepFeed<LossNotDecreasing> f(NoScaler());
    f.run.settings["records"] = "epochs";
    for (int epoch = 1; epoch <= 20; ++epoch) {
      const double fall = learns ? 0.003 * epoch : 0;
      f.Step({.loss = 2.303 + 0.0005 * (epoch % 3) - fall});
      EXPECT_EQ(f.now == Severity::kNone, epoch < 8 || learns) << epoch;
    }
    EXPECT_EQ(f.worst, learns ? Severity::kNone : Severity::kWarning);
    f.Steps({.loss = 2.1}, 2);
    EXPECT_EQ(f.End(), Severity::kNone) << "it moved";
  }
}

// A rate far too high throws the loss up at once. It comes back to where it
// began, and learns nothing there.
TEST(LossSpike, AnEarlyExplosionStaysUntilTheTrainingLearns) {
  StepFeed<LossSpike> f;
  Noise noise;
  const auto step = [&](double loss) {
    f.Step({.loss = loss * std::exp(0.02 * noise.Normal())});
  };
  step(4.28);
  for (int i = 0; i < 8; ++i) step(9 + 3 * i);
  for (int i = 0; i < 12; ++i) step(33 * std::exp(-i / 4.0) + 4);
  for (int i = 0; i < 300; ++i) step(3.6);
  EXPECT_GE(f.now, Severity::kWarning);
  EXPECT_EQ(f.Described().opened_step, 2);
  EXPECT_NEAR(f.Described().numbers[2].value, 4.28, 0.2) << "usual";
  ExpectWords(f.Described().sentence);
  for (int i = 0; i < 40; ++i) step(2.5);
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(LossSpike, AnEarlyExplosionThatLearnedNothingIsThereAtTheEnd) {
  StepFeed<LossSpike> f;
  f.Step({.loss = 5.31});
  for (const double loss : {1410.0, 916.0, 396.0, 95.6, 9.11, 6.7, 9.26}) {
    f.Step({.loss = loss});
  }
  for (int i = 0; i < 60; ++i) f.Step({.loss = 5.4 + 0.02 * (i % 5)});
  EXPECT_GE(f.End(), Severity::kWarning);
}

// A hot start that is usual in health is one no longer where nothing is
// learned for 200 records.
TEST(LossSpike, AHotStartThatLearnsNothingIsAWarning) {
  StepFeed<LossSpike> f;
  for (int i = 0; i < 8; ++i) f.Step({.loss = 3.43});
  for (int i = 0; i < 10; ++i) f.Step({.loss = 6.2 + 0.02 * (i % 3)});
  f.Steps({.loss = 3.4}, 150);
  EXPECT_LT(f.worst, Severity::kWarning);
  f.Steps({.loss = 3.4}, 60);
  EXPECT_EQ(f.now, Severity::kWarning);
}

// A queue of 65,536 negatives fills; that is no divergence.
TEST(LossSpike, AContrastiveLossBeginsWhereItStopsToRise) {
  const auto worst = [](const char* loss, double beyond) {
    StepFeed<LossSpike> f;
    f.run.settings["loss"] = loss;
    Noise noise;
    for (int i = 0; i < 200; ++i) {
      const double full = 11 - 0.01 * i + beyond * std::max(0, i - 100);
      f.Step({.loss = std::min(2.0 + 3 * i, full) * noise.Factor(0.01)});
    }
    return f.worst;
  };
  EXPECT_EQ(worst("contrastive", 0), Severity::kNone);
  EXPECT_EQ(worst("other", 0), Severity::kCritical);
  EXPECT_GE(worst("contrastive", 1), Severity::kWarning) << "later it counts";
}

// At once to where it began. What settles far below that learns no more.
TEST(LossSpike, LostWeightsLearnAgain) {
  for (const bool settles : {false, true}) {
    StepFeed<LossSpike> f;
    Noise noise;
    for (int i = 0; i < 100; ++i) {
      f.Step({.loss = (4.5 + 7.5 * std::exp(-i / 30.0)) * noise.Factor(0.01)});
    }
    for (int i = 0; i < 44; ++i) {
      const double loss =
          settles ? 7.6 + 3.5 * std::exp(-i / 3.0) : 11.8 - 0.05 * i;
      f.Step({.loss = loss * noise.Factor(0.01)});
    }
    EXPECT_GE(f.now, Severity::kWarning);
    const Finding finding = f.Described();
    EXPECT_TRUE(NumberOf(finding, "anew"));
    EXPECT_EQ(NumberOf(finding, "settles").has_value(), settles);
    ExpectWords(finding.sentence);
  }
}

// Ten records show how little noise there is. A run that has just begun may
// come back: a note, and a warning where it rises further.
TEST(LossSpike, AnEarlySpikeIsNoNoise) {
  for (const double times : {1.05, 1.75, 4.0}) {
    StepFeed<LossSpike> f;
    Noise noise;
    Severity worst = Severity::kNone;
    for (int i = 0; i < 60; ++i) {
      const double up = std::exp(-std::pow((i - 16) / 3.0, 2));
      const double loss = 6.3 + 6 * std::exp(-i / 14.0);
      f.Step({.loss = loss * (1 + (times - 1) * up) * noise.Factor(0.004)});
      worst = std::max(worst, f.now);
    }
    EXPECT_EQ(worst, times < 1.5   ? Severity::kNone
                     : times < 2.3 ? Severity::kInfo
                                   : Severity::kWarning)
        << times;
    EXPECT_EQ(f.End(), Severity::kNone);
  }
}

// Nor do they show it where the noise grows as the training learns.
TEST(LossSpike, NoiseMayGrowWithWhatIsLearned) {
  int warned = 0;
  Noise noise;
  for (int run = 0; run < 500; ++run) {
    StepFeed<LossSpike> f;
    for (int i = 0; i < 200; ++i) {
      const double width = 0.0005 + 0.08 * std::min(1.0, i / 20.0);
      f.Step({.loss = (4 + 6.9 * std::exp(-i / 40.0)) * noise.Factor(width)});
    }
    warned += f.worst > Severity::kInfo;
  }
  EXPECT_LE(warned, 1);
}

// Epochs of 2.14 and 1542, or a fine-tuning's lines of 1.15 and 310.
TEST(LossSpike, NoNoiseOfFewLossesHasAFactorOfAHundred) {
  const auto end = [](std::vector<double> losses, const char* of = "") {
    StepFeed<LossSpike> f;
    f.run.settings = {{"trains_on", of}};
    for (const double loss : losses) f.Step({.loss = loss});
    EXPECT_LT(f.worst, Severity::kWarning) << "a record may follow";
    return f.End();
  };
  EXPECT_EQ(end({2.31, 2.14, 1542}), Severity::kWarning);
  EXPECT_EQ(end({1.21, 1.14, 1.15, 310}), Severity::kWarning);
  EXPECT_EQ(end({0.9, 0.8, 0.7, 0.7, 0.6, 0.6, 0.5, 95}), Severity::kWarning);
  EXPECT_EQ(end({2.31, 2.14, 1542, 2.1}), Severity::kNone) << "it is back";
  EXPECT_EQ(end({2.31, 2.14, 180}), Severity::kNone) << "78 times";
  EXPECT_EQ(end({1542, 2.2, 2.1}), Severity::kNone) << "the first is high";
  EXPECT_EQ(end({8000, 31, 12, 1900}), Severity::kNone) << "a regression";
  EXPECT_EQ(end({0.011, 0.013, 0.012, 4}), Severity::kNone) << "a policy";
  EXPECT_EQ(end({0.02, 0.01, 0.03, 19}, "rewards"), Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
