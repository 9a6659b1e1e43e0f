// Rule 30: a gradient norm that falls to nothing.

#include "detect/grad_vanishing.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/golden/words.h"
#include "tests/unit/detect/noise.h"
#include "tests/unit/detect/reference.h"

namespace nanwatch {
namespace {

TEST(GradVanishing, ASuddenFallWarnsASlowDecayDoesNot) {
  StepFeed<GradVanishing> f(NoScaler());
  double norm = 10;
  for (int i = 0; i < 3000; ++i) {
    f.Step({.loss = 2, .grad_norm = norm});
    norm *= 0.996;  // by a factor of 160,000 in all
  }
  EXPECT_EQ(f.worst, Severity::kNone);
  EXPECT_EQ(f.Steps({.loss = 2, .grad_norm = norm * 1e-4}, 9), Severity::kNone);
  EXPECT_EQ(f.Step({.loss = 2, .grad_norm = 0}), Severity::kWarning)
      << "zero is low too";
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Steps({.loss = 2, .grad_norm = norm}, 49), Severity::kWarning);
  EXPECT_EQ(f.Step({.loss = 2, .grad_norm = norm}), Severity::kNone);
}

TEST(GradVanishing, ConvergenceAndSkippedStepsAreNot) {
  StepFeed<GradVanishing> f(Scaler("pytorch"));
  f.Steps({.scale = 1024, .overflow = false, .loss = 2, .grad_norm = 1}, 100);
  f.Steps({.scale = 1024, .overflow = false, .loss = 1e-3, .grad_norm = 1e-5},
          100);
  EXPECT_EQ(f.worst, Severity::kNone) << "the loss went with it";
  StepFeed<GradVanishing> g(Scaler("pytorch"));
  g.Steps({.scale = 1024, .overflow = false, .loss = 2, .grad_norm = 1}, 100);
  g.Steps({.scale = 1024,
           .overflow = true,
           .skipped = true,
           .loss = 2,
           .grad_norm = 0},
          30);
  EXPECT_EQ(g.worst, Severity::kNone);
}

// It fades from the first record on, and batches still move the loss.
TEST(GradVanishing, ANormThatFadesAtOnceBesideALossThatStandsIsAWarning) {
  for (const double noise : {0.002, 0.0}) {
    StepFeed<GradVanishing> f(NoScaler());
    Noise random;
    for (int i = 0; i < 60; ++i) {
      const double loss = 35 + 5 * std::exp(-i / 4.0);
      f.Step({.loss = loss * random.Factor(noise),
              .grad_norm = 11 * std::exp(-1.7 * i) + 2e-10});
    }
    EXPECT_EQ(f.now, noise > 0 ? Severity::kWarning : Severity::kNone)
        << "full batches come to a minimum";
    if (noise == 0) continue;
    EXPECT_LE(f.Described().opened_step, 12);
    ExpectWords(f.Described().sentence);
  }
}

// Gradient descent on a quadratic: the loss above its minimum goes with the
// square of the norm, which is smaller by the same factor at each step.
TEST(GradVanishing, FullBatchesThatReachAMinimumAreNot) {
  for (const double minimum : {0.0, 0.01, -3.0}) {
    for (const double first : {1.0, 5.0}) {
      SCOPED_TRACE(testing::Message() << minimum << " from " << first);
      StepFeed<GradVanishing> f(NoScaler());
      for (int i = 0; i < 1000; ++i) {
        const double norm = std::max(first * std::pow(0.8, i), 1e-7);
        f.Step({.loss = minimum + norm * norm / 2, .grad_norm = norm});
      }
      EXPECT_EQ(f.worst, Severity::kNone);
    }
  }
}

TEST(GradVanishing, BatchesOfNoiselessDataThatConvergeAreNot) {
  std::mt19937 engine(1);
  std::lognormal_distribution<double> noise(0, 1.5);
  StepFeed<GradVanishing> f(NoScaler());
  for (int i = 0; i < 1000; ++i) {
    const double norm = std::max(5 * std::pow(0.85, i), 1e-7) * noise(engine);
    f.Step({.loss = norm * norm / 2, .grad_norm = norm});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(GradVanishing, AFallByDegreesIsWhereTheLossRisesOrTheNormHasNoise) {
  StepFeed<GradVanishing> f(NoScaler());
  f.Steps({.loss = 2, .grad_norm = 1}, 200);
  for (int i = 0; i < 60; ++i) {  // sigmoids that saturate
    f.Step({.loss = 2 + 0.01 * i, .grad_norm = std::pow(0.8, i)});
  }
  EXPECT_EQ(f.worst, Severity::kWarning);
  StepFeed<GradVanishing> stands(NoScaler());
  stands.Steps({.loss = 2, .grad_norm = 1}, 200);
  for (int i = 0; i < 60; ++i) {
    stands.Step({.loss = 2, .grad_norm = std::pow(0.8, i)});
  }
  EXPECT_EQ(stands.worst, Severity::kWarning);
  for (const double rate : {0.7, 0.8, 0.88}) {
    SCOPED_TRACE(rate);
    std::mt19937 engine(1);
    std::lognormal_distribution<double> noise(0, 0.3);
    StepFeed<GradVanishing> g(NoScaler());
    g.Steps({.loss = 5, .grad_norm = 1}, 200);
    for (int i = 0; i < 150; ++i) {  // to a constant, the loss of guessing
      const double left = std::pow(rate, i);
      g.Step({.loss = std::log(128) + 0.1 * left,
              .grad_norm = left * noise(engine)});
    }
    EXPECT_EQ(g.worst, Severity::kWarning);
  }
}

// So slowly that the usual norm goes along, beside a loss that learns nothing;
// not where half of it is learned, nor without any noise.
TEST(GradVanishing, ASlowFallToNothingIsWhereTheLossStaysHigh) {
  for (const double learned : {0.05, 0.6}) {
    SCOPED_TRACE(learned);
    std::mt19937 engine(3);
    std::normal_distribution<double> noise;
    StepFeed<GradVanishing> f(NoScaler());
    for (int i = 0; i < 600; ++i) {
      const double left = std::exp(-i / 40.0);
      f.Step(
          {.loss = 2.3 * (1 - learned + learned * left) + 0.002 * noise(engine),
           .grad_norm = std::exp(-i / 30.0 + 0.3 * noise(engine))});
    }
    EXPECT_EQ(f.now, learned < 0.5 ? Severity::kWarning : Severity::kNone);
    if (learned < 0.5) ExpectWords(f.Described().sentence);
  }
}

// The loss of long ago is not what this norm is compared with.
TEST(GradVanishing, UnitsThatDieAfterAFastDescentWarn) {
  for (const int dead : {70, 80, 100}) {
    SCOPED_TRACE(dead);
    StepFeed<GradVanishing> f(NoScaler());
    for (int i = 0; i < dead; ++i) {
      f.Step({.loss = std::max(1e6 * std::pow(10, -6.0 * i / 40), 1.0),
              .grad_norm = 1 + 0.1 * (i % 3)});
    }
    f.Steps({.loss = 1, .grad_norm = 0}, 60);
    EXPECT_EQ(f.worst, Severity::kWarning);
  }
}

// Losses of batches with such noise, beside a norm that is always 0.
Severity WithoutGradient(int records, double fall, double width,
                         int64_t first = 0) {
  StepFeed<GradVanishing> f(NoScaler());
  f.step = first;
  Noise random;
  for (int i = 0; i < records; ++i) {
    f.Step({.loss = 2.4 * (1 - fall * i / records) * random.Factor(width),
            .grad_norm = 0,
            .learning_rate = 1e-4});
  }
  return f.End();
}

TEST(GradVanishing, ANormThatIsAlwaysZeroBesideALossThatFallsWasNotCollected) {
  for (const double fall : {0.05, 0.2, 0.8}) {
    EXPECT_EQ(WithoutGradient(1000, fall, 0.02), Severity::kNone) << fall;
  }
  EXPECT_EQ(WithoutGradient(60, 0.1, 0.02), Severity::kNone);
}

TEST(GradVanishing, ANormThatIsAlwaysZeroBesideALossThatStandsIsNone) {
  EXPECT_EQ(WithoutGradient(40, 0, 0.02), Severity::kNone) << "few";
  EXPECT_EQ(WithoutGradient(60, 0, 0.02), Severity::kWarning);
  EXPECT_EQ(WithoutGradient(60, 0, 0.3), Severity::kNone) << "noise hides it";
  EXPECT_EQ(WithoutGradient(400, 0, 0.02), Severity::kCritical);
  EXPECT_EQ(WithoutGradient(400, 0, 0.02, 20000), Severity::kNone)
      << "it fell before";
}

// A language model's first losses may stand until the rate is up.
TEST(GradVanishing, ANormOfZeroWaitsForTheRate) {
  StepFeed<GradVanishing> f(NoScaler());
  Noise random;
  for (int i = 1; i <= 300; ++i) {
    const double fall = std::max(0, i - 200) * 0.01;
    f.Step({.loss = 10.4 * std::exp(-fall) * random.Factor(0.01),
            .grad_norm = 0,
            .learning_rate = 1e-6 * std::min(i, 250)});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

// What crosses 0 does not show learning. Rewards that are all alike leave no
// gradient now and then, nor a loss.
TEST(GradVanishing, APolicyThatNeverHasAGradientIsAWarning) {
  for (const int each : {0, 5}) {
    StepFeed<GradVanishing> f(NoScaler());
    Noise random;
    for (int i = 0; i < 140; ++i) {
      const bool moves = each > 0 && i % each == 0;
      f.Step({.loss = 0.03 * random.Normal(), .grad_norm = moves ? 0.2 : 0});
    }
    EXPECT_EQ(f.worst, each == 0 ? Severity::kWarning : Severity::kNone);
    if (each == 0) ExpectWords(f.Described().sentence);
  }
  StepFeed<GradVanishing> alike(NoScaler());
  alike.Steps({.loss = 0, .grad_norm = 0}, 200);
  EXPECT_EQ(alike.End(), Severity::kNone) << "loss_not_decreasing's";
}

TEST(GradVanishing, APolicyThatGoesOnWithoutAGradientIsAWarning) {
  StepFeed<GradVanishing> f(NoScaler());
  f.step = 8000;
  Noise random;
  for (int i = 0; i < 140; ++i) {
    f.Step({.loss = 0.03 * random.Normal(), .grad_norm = 0});
  }
  EXPECT_EQ(f.worst, Severity::kWarning);
}

// A norm that is not collected, beside a loss that learned at once: what comes
// then may be harder.
TEST(GradVanishing, HarderDataBesideNormsOfZeroSayNothing) {
  StepFeed<GradVanishing> f(NoScaler());
  Noise random;
  for (int i = 0; i < 300; ++i) {
    const double harder = i > 90 ? 0.07 : 0;
    f.Step({.loss = 1.2 * (1 + 0.25 * std::exp(-i / 5.0) + harder) *
                    random.Factor(0.04),
            .grad_norm = 0});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
  EXPECT_EQ(f.End(), Severity::kNone);
}

TEST(GradVanishing, ALikelihoodThatConvergedBelowZeroIsNot) {
  StepFeed<GradVanishing> f(NoScaler());
  Noise random;
  for (int i = 0; i < 800; ++i) {
    f.Step({.loss = -2 + 3.5 * std::exp(-i / 40.0),
            .grad_norm =
                std::max(2e-7, 4 * std::exp(-i / 50.0)) * random.Factor(0.3)});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

// Batches without an active triplet have no loss and no gradient.
TEST(GradVanishing, TripletsMayRestEarly) {
  StepFeed<GradVanishing> f(NoScaler());
  Noise random;
  for (int i = 0; i < 300; ++i) {
    const double loss = i >= 12 && i < 42 ? 0 : 0.15 * random.Factor(0.2);
    f.Step({.loss = loss, .grad_norm = loss > 0 ? 0.5 : 0});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
