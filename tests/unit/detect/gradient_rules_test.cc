// Rules 29 to 33: what gradients do on their way back, and what is lost of
// them.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "detect/grad_ratio.h"
#include "detect/grad_vanishing.h"
#include "detect/no_single_scale.h"
#include "detect/underflow_measured.h"
#include "detect/underflow_predicted.h"
#include "tests/unit/detect/reference.h"

namespace nanwatch {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Optional;

// --- 29 grad_ratio -----------------------------------------------------------

StepGradients FirstAndLast(float first, float last) {
  StepGradients g;
  g.first_order = 0;
  g.last_order = 9;
  g.first_rms = first;
  g.last_rms = last;
  return g;
}

TEST(GradRatio, TheUsualRatioIsNoTroubleWhateverItIs) {
  StepFeed<GradRatio> f(NoScaler());
  f.gradients = FirstAndLast(1e-7f, 65536);  // the last is the loss itself
  EXPECT_EQ(f.Steps({.loss = 2}, 500), Severity::kNone);
}

TEST(GradRatio, AChangeThatStaysWarnsAndClears) {
  StepFeed<GradRatio> f(NoScaler());
  f.gradients = FirstAndLast(1, 1);
  f.Steps({.loss = 2}, 80);
  f.gradients = FirstAndLast(100, 1);
  EXPECT_EQ(f.Steps({.loss = 2}, 19), Severity::kNone);
  EXPECT_EQ(f.Step({.loss = 2}), Severity::kWarning);
  EXPECT_THAT(f.Described().sentence, HasSubstr("explode"));
  f.gradients = FirstAndLast(1, 1);
  EXPECT_EQ(f.Steps({.loss = 2}, 49), Severity::kWarning);
  EXPECT_EQ(f.Step({.loss = 2}), Severity::kNone);
  f.gradients = FirstAndLast(1e-4f, 1);
  EXPECT_EQ(f.Steps({.loss = 2}, 20), Severity::kWarning);
  EXPECT_THAT(f.Described().sentence, HasSubstr("vanish"));
}

TEST(GradRatio, OtherObservedOpsBeginAnew) {
  StepFeed<GradRatio> f(NoScaler());
  f.gradients = FirstAndLast(1, 1);
  f.Steps({.loss = 2}, 80);
  f.gradients = FirstAndLast(1000, 1);
  f.gradients->last_order = 4;
  f.Steps({.loss = 2}, 100);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(GradRatio, AgreesWithTheWholeHistory) {
  int changes = 0;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 engine(seed);
    std::normal_distribution<float> noise(0, 0.5);
    StepFeed<GradRatio> f(NoScaler());
    std::vector<float> added;
    std::vector<Mark> marks;
    int rejected = 0;
    int held = 0;
    float level = 0;
    for (int i = 0; i < 1500; ++i) {
      if (engine() % 150 == 0) {
        static constexpr float kLevels[] = {0, 0, 7, -12, 2};
        level = kLevels[engine() % 5];
      }
      const float ratio = std::exp2(level + noise(engine));
      f.gradients = FirstAndLast(ratio, 1);
      const Severity before = f.now;
      f.Step({.loss = 2});
      const Baseline b = BaselineOf(added);
      const float away = Log2(ratio) - b.center;
      const bool odd =
          b.samples >= 64 && (away > Log2(70.0f) || away < -Log2(1000.0f));
      held = odd ? held + 1 : 0;
      if (!odd) {
        added.push_back(Log2(ratio));
        rejected = 0;
      } else if (++rejected == 256) {
        added.clear();
        rejected = 0;
      }
      marks.push_back(
          {held >= 20 ? Severity::kWarning : Severity::kNone, !odd});
      ASSERT_EQ(f.now, OpinionAfter(marks, 50)) << i;
      changes += f.now != before;
    }
  }
  EXPECT_GT(changes, 10);
}

// --- 30 grad_vanishing -------------------------------------------------------

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
  EXPECT_THAT(f.Described().sentence, HasSubstr("The gradient norm is 0"));
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

TEST(GradVanishing, ANormThatIsAlwaysZeroWasNotCollected) {
  StepFeed<GradVanishing> f(NoScaler());
  f.Steps({.loss = 2, .grad_norm = 0}, 1000);
  f.Steps({.loss = 2}, 1000);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(GradVanishing, AgreesWithTheWholeHistory) {
  int changes = 0;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 engine(seed);
    std::lognormal_distribution<double> noise(0, 0.4);
    StepFeed<GradVanishing> f(NoScaler());
    std::vector<float> added;
    std::vector<Mark> marks;
    int rejected = 0;
    int held = 0;
    double level = 1;
    float at_low = 0;
    for (int i = 0; i < 1500; ++i) {
      if (engine() % 120 == 0) {
        static constexpr double kLevels[] = {1, 1, 1e-5, 3e-3, 0};
        level = kLevels[engine() % 5];
      }
      const double norm = level * noise(engine);
      const Severity before = f.now;
      f.Step({.loss = 2, .grad_norm = norm});
      const Baseline b = BaselineOf(added);
      const bool known = b.samples >= 64;
      const float log2 = norm > 0 ? Log2(static_cast<float>(norm)) : -120;
      Mark mark;
      if (norm == 0 && !known) {
        mark.silent = true;
      } else if (known && log2 < b.center + Log2(1e-3f)) {
        at_low = b.center;
        if (++rejected == 256) {
          added.clear();
          rejected = 0;
        }
        if (++held >= 10) mark.trigger = Severity::kWarning;
      } else {
        added.push_back(log2);
        rejected = held = 0;
        mark.clean = !known || log2 >= at_low + Log2(1e-2f);
      }
      marks.push_back(mark);
      ASSERT_EQ(f.now, OpinionAfter(marks, 50)) << i;
      changes += f.now != before;
    }
  }
  EXPECT_GT(changes, 10);
}

// --- 31 underflow_measured ---------------------------------------------------

TEST(UnderflowMeasured, ALevelFromTheBeginningWarnsARiseIsCritical) {
  StepFeed<UnderflowMeasured> f(FixedScale());
  EXPECT_EQ(f.Steps({.scale = 1, .underflow_fraction = 0.30}, 200),
            Severity::kWarning);
  EXPECT_EQ(f.worst, Severity::kWarning);
  StepFeed<UnderflowMeasured> g(FixedScale());
  EXPECT_EQ(g.Steps({.scale = 1, .underflow_fraction = 0.001}, 100),
            Severity::kNone);
  EXPECT_EQ(g.Steps({.scale = 1, .underflow_fraction = 0.30}, 60),
            Severity::kCritical);
  EXPECT_THAT(g.Described().sentence,
              HasSubstr("of the gradient elements underflow"));
  g.Steps({.scale = 1, .underflow_fraction = 0}, 300);
  EXPECT_EQ(g.now, Severity::kNone);
}

TEST(UnderflowMeasured, ZerosFromTheBeginningAreNone) {
  std::mt19937 engine(5);
  std::normal_distribution<double> noise(0.95, 0.01);  // an embedding
  StepFeed<UnderflowMeasured> f(FixedScale());
  for (int i = 0; i < 3000; ++i) {
    f.Step({.scale = 128, .zero_fraction = std::min(1.0, noise(engine))});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(UnderflowMeasured, FrozenLayersAreANoteForAWhile) {
  StepFeed<UnderflowMeasured> f(NoScaler());
  f.Steps({.zero_fraction = 0.1}, 100);
  f.Steps({.zero_fraction = 0.6}, 2000);
  EXPECT_EQ(f.worst, Severity::kInfo);
  EXPECT_EQ(f.now, Severity::kNone) << "they stay frozen";
}

TEST(UnderflowMeasured, ZerosThatRiseAsTheScaleFallsAreCritical) {
  StepFeed<UnderflowMeasured> f(Scaler("pytorch"));
  f.Steps({.scale = 65536, .overflow = false, .zero_fraction = 0.2}, 100);
  double scale = 65536;
  double zeros = 0.2;
  for (int i = 0; i < 100; ++i) {
    if (i % 10 == 0 && scale > 64) scale /= 2;
    zeros = std::min(0.7, zeros + 0.006);
    f.Step({.scale = scale, .overflow = false, .zero_fraction = zeros});
  }
  EXPECT_EQ(f.now, Severity::kCritical);
}

TEST(UnderflowMeasured, EverythingZeroIsCriticalUnlessANormSaysOtherwise) {
  StepFeed<UnderflowMeasured> f(NoScaler());
  f.Steps({.grad_norm = 1, .zero_fraction = 0.1}, 50);
  f.Steps({.grad_norm = 1, .zero_fraction = 1}, 2);
  EXPECT_LT(f.worst, Severity::kCritical) << "a rounded number";
  StepFeed<UnderflowMeasured> g(NoScaler());
  g.Steps({.grad_norm = 1, .zero_fraction = 0.1}, 50);
  g.Steps({.grad_norm = 0, .zero_fraction = 1}, 3);
  EXPECT_EQ(g.now, Severity::kCritical);
}

// A margin loss is exactly 0 once all samples keep the margin.
TEST(UnderflowMeasured, ALossOfZeroHasNoGradients) {
  StepFeed<UnderflowMeasured> f(NoScaler());
  f.Steps({.loss = 0.5, .grad_norm = 1, .zero_fraction = 0.1}, 50);
  f.Steps({.loss = 0, .grad_norm = 0, .zero_fraction = 1}, 400);
  EXPECT_EQ(f.worst, Severity::kNone);
  f.Steps({.loss = 0.5, .grad_norm = 0, .zero_fraction = 1}, 3);
  EXPECT_EQ(f.now, Severity::kCritical);
}

TEST(UnderflowMeasured, ALossThatIsNoNumberTellsNothingOfGradients) {
  StepFeed<UnderflowMeasured> f(NoScaler());
  f.Steps({.loss = 0.5, .zero_fraction = 0}, 50);
  f.gradients.emplace();
  f.gradients->zeroed = 3;
  f.Step({.loss = kNan, .zero_fraction = 1});
  f.gradients = std::nullopt;
  f.Steps({.loss = 0.5, .zero_fraction = 0}, 50);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(UnderflowMeasured, NotCollectedIsNotZero) {
  StepFeed<UnderflowMeasured> f(NoScaler());
  f.Steps({.loss = 2}, 200);
  f.Steps({.zero_fraction = kNan, .underflow_fraction = kNan}, 200);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(UnderflowMeasured, OtherSampledTensorsBeginAnew) {
  StepFeed<UnderflowMeasured> f(NoScaler());
  f.gradients.emplace();
  f.gradients->range.Add(0, std::nullopt, 1.0f);
  f.gradients->range.AddZeros(1000, 0);
  f.Steps({.loss = 2}, 100);
  f.gradients->range.AddZeros(9000, 9000);  // an embedding as well
  f.Steps({.loss = 2}, 100);
  EXPECT_EQ(f.worst, Severity::kNone);
}

// A tensor of a thousandth of all elements becomes 0 and stays so.
TEST(UnderflowMeasured, NamesATensorThatBecameZeroHoweverSmall) {
  StepFeed<UnderflowMeasured> f(NoScaler());
  f.Steps({.zero_fraction = 0}, 40);
  f.gradients.emplace();
  f.gradients->zeroed = 3;
  f.gradients->zeroed_more = 1;
  f.Step({.zero_fraction = 0.001});
  f.gradients = std::nullopt;
  f.Steps({.zero_fraction = 0.001}, 3);
  EXPECT_EQ(f.now, Severity::kNone) << "an expert that a batch missed";
  f.Step({.zero_fraction = 0.001});
  EXPECT_EQ(f.now, Severity::kInfo);
  const Finding finding = f.Described();
  EXPECT_EQ(finding.subject.op, "zeroed");
  EXPECT_EQ(finding.subject.slot, Slot::kGradInput);
  EXPECT_EQ(finding.opened_step, 41);
  EXPECT_THAT(finding.sentence,
              HasSubstr("The gradient of zeroed and 1 more is exactly 0 since "
                        "step 41, and was not before."));
  f.Steps({.zero_fraction = 0}, 20);
  EXPECT_THAT(f.Described().sentence, HasSubstr("and is no more."));
  EXPECT_EQ(f.Described().subject.op, "zeroed") << "one incident";
  f.Steps({.zero_fraction = 0}, 40);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Steps({.zero_fraction = 0.001}, 40);
  EXPECT_EQ(f.now, Severity::kNone) << "nobody says which";
}

TEST(UnderflowMeasured, TheFirstTensorKeepsItsNameWhileOthersFollow) {
  StepFeed<UnderflowMeasured> f(NoScaler());
  f.Steps({.zero_fraction = 0}, 40);
  f.gradients.emplace();
  f.gradients->zeroed = 3;
  f.Steps({.zero_fraction = 0.001}, 5);  // another one at each step
  EXPECT_EQ(f.now, Severity::kInfo);
  EXPECT_EQ(f.Described().opened_step, 41);
  EXPECT_THAT(f.Described().sentence, HasSubstr("zeroed and 4 more"));
}

// Of a tensor that became 0 beside what `before` brought.
bool IsTakenForALayer(const Attempt& before, const Attempt& after) {
  StepFeed<UnderflowMeasured> f(Scaler("pytorch"));
  f.Steps(before, 40);
  f.gradients.emplace();
  f.gradients->zeroed = 3;
  f.Step(after);
  f.gradients = std::nullopt;
  f.Steps(after, 5);
  EXPECT_EQ(f.Described().subject.op, "zeroed");
  return NumberOf(f.Described(), "zeroed_tensors").has_value();
}

TEST(UnderflowMeasured, ALayerIsLostWhereNothingElseBroughtTheZeros) {
  const auto at = [](double scale, double rate, double zeros) {
    return Attempt{.scale = scale,
                   .overflow = false,
                   .learning_rate = rate,
                   .zero_fraction = zeros};
  };
  EXPECT_TRUE(IsTakenForALayer(at(1024, 1e-3, 0), at(1024, 1e-3, 0.001)));
  EXPECT_TRUE(IsTakenForALayer(at(1024, 1e-3, 0), at(1024, 1e-3, 0.5)));
  EXPECT_TRUE(IsTakenForALayer(at(1024, 1e-3, 0), at(2048, 2e-3, 0.5)));
  EXPECT_FALSE(IsTakenForALayer(at(1024, 1e-3, 0), at(512, 1e-3, 0.5)));
  EXPECT_FALSE(IsTakenForALayer(at(1024, 1e-3, 0), at(1024, 1e-1, 0.5)));
}

TEST(UnderflowMeasured, ATensorThatComesAndGoesIsNoFinding) {
  StepFeed<UnderflowMeasured> f(NoScaler());
  f.Steps({.zero_fraction = 0}, 40);
  for (int i = 0; i < 50; ++i) {
    f.gradients.emplace();
    f.gradients->zeroed = 3;
    f.Step({.zero_fraction = 0.001});
    f.gradients = std::nullopt;
    f.Steps({.zero_fraction = 0.001}, 2);
    f.Steps({.zero_fraction = 0}, 3);
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(UnderflowMeasured, NamesTheTensorOfALargeRise) {
  StepFeed<UnderflowMeasured> f(NoScaler());
  f.Steps({.zero_fraction = 0.1}, 40);
  f.gradients.emplace();
  f.gradients->zeroed = 3;
  f.Step({.loss = 2});  // nobody counts at this one
  f.gradients = std::nullopt;
  f.Steps({.zero_fraction = 0.9}, 2);
  EXPECT_EQ(f.now, Severity::kInfo);
  EXPECT_EQ(f.Described().subject.op, "zeroed");
  EXPECT_EQ(f.Described().opened_step, 41);
}

Attempt WithZeros(double loss, double zeros, double norm = 0.5) {
  return {.loss = loss, .grad_norm = norm, .zero_fraction = zeros};
}

TEST(UnderflowMeasured, AModelThatDiesBeforeItLearnsIsAWarning) {
  StepFeed<UnderflowMeasured> f(NoScaler());
  f.Step(WithZeros(2.35, 0));
  f.Steps({.loss = 900}, 8);  // none of these tells zeros
  f.Steps(WithZeros(2.31, 0.98), 3);
  f.Step(WithZeros(40, 0));  // it comes back once
  f.gradients.emplace();
  f.gradients->zeroed = 3;
  f.Step(WithZeros(2.31, 0.98));
  f.gradients = std::nullopt;
  EXPECT_LT(f.Steps(WithZeros(2.31, 0.98), 99), Severity::kWarning);
  EXPECT_EQ(f.Step(WithZeros(2.31, 0.98)), Severity::kWarning);
  const Finding finding = f.Described();
  EXPECT_EQ(finding.opened_step, 14);
  EXPECT_EQ(finding.subject.op, "zeroed");
  EXPECT_THAT(finding.sentence, HasSubstr("began at 2.35"));
  EXPECT_THAT(NumberOf(finding, "first_loss"),
              Optional(DoubleNear(2.35, 1e-6)));
  EXPECT_EQ(f.Steps(WithZeros(2.31, 0.98), 1000), Severity::kWarning);
  f.Steps(WithZeros(1.5, 0), 90);
  EXPECT_EQ(f.now, Severity::kNone) << "it lives, and learns";
}

// After what most of it is 0.
Severity OfDeathAfter(const Attempt& before, int attempts, bool tensor = true) {
  StepFeed<UnderflowMeasured> f(NoScaler());
  f.Step(WithZeros(2.35, 0));
  f.Steps(before, attempts);
  if (tensor) f.gradients.emplace().zeroed = 3;
  f.Step(WithZeros(2.35, 0.98));
  f.gradients = std::nullopt;
  f.Steps(WithZeros(2.35, 0.98), 500);
  return f.worst;
}

TEST(UnderflowMeasured, WhatDiesByTooHighARateShotUpBefore) {
  EXPECT_EQ(OfDeathAfter({.loss = 3}, 3), Severity::kWarning);
  EXPECT_EQ(OfDeathAfter({.loss = 2.3, .grad_norm = 1.6}, 3),
            Severity::kWarning);
  EXPECT_LT(OfDeathAfter({.loss = 2.7, .grad_norm = 1.2}, 3),
            Severity::kWarning)
      << "layers that were frozen, or cut off";
  EXPECT_LT(OfDeathAfter({.loss = 3}, 3, false), Severity::kWarning)
      << "elements here and there, of an embedding";
  EXPECT_LT(OfDeathAfter({.loss = 3}, 64), Severity::kWarning) << "late";
}

TEST(UnderflowMeasured, WhatLearnsOrNeverWasOtherwiseIsNotDead) {
  StepFeed<UnderflowMeasured> learns(NoScaler());
  learns.Step(WithZeros(2.35, 0));
  learns.Steps(WithZeros(5, 0), 2);
  for (int i = 0; i < 500; ++i) {
    learns.Step(WithZeros(2.3 * std::exp2(-i / 200.0), 0.9));
  }
  EXPECT_LT(learns.worst, Severity::kWarning) << "a router that chose early";
  StepFeed<UnderflowMeasured> always(NoScaler());
  always.Step(WithZeros(2.35, 0.98));
  always.Steps(WithZeros(5, 0.98), 500);
  EXPECT_EQ(always.worst, Severity::kNone);
  StepFeed<UnderflowMeasured> few(NoScaler());
  few.Step(WithZeros(2.35, 0.2));
  few.Steps(WithZeros(5, 0.55), 500);
  EXPECT_LT(few.worst, Severity::kWarning) << "most of it lives";
  StepFeed<UnderflowMeasured> late(NoScaler());
  late.Step(WithZeros(2.35, 0));
  late.Steps(WithZeros(5, 0), 10);
  late.Steps(WithZeros(1.2, 0), 40);
  late.Steps(WithZeros(2.35, 0.98), 500);
  EXPECT_LT(late.worst, Severity::kWarning) << "rules on the loss see it";
}

// The underflow fraction's part against its definition over all records.
TEST(UnderflowMeasured, AgreesWithTheWholeHistory) {
  int changes = 0;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 engine(seed);
    StepFeed<UnderflowMeasured> f(FixedScale());
    std::vector<double> all;
    std::vector<Mark> marks;
    double level = engine() % 2 == 0 ? 0 : 0.08;
    for (int i = 0; i < 800; ++i) {
      if (engine() % 100 == 0) {
        static constexpr double kLevels[] = {0, 0.004, 0.02, 0.3};
        level = kLevels[engine() % 4];
      }
      const double fraction = level * static_cast<double>(engine() % 100) / 50;
      const Severity before = f.now;
      f.Step({.scale = 1, .underflow_fraction = fraction});
      all.push_back(fraction);
      double smooth = all[0];
      for (size_t k = 1; k < all.size(); ++k) {
        smooth += (all[k] - smooth) / 20;
      }
      Mark mark;
      if (all.size() >= 16) {
        double first = 0;
        for (int k = 0; k < 16; ++k) first += all[k] / 16;
        mark.trigger = smooth >= 0.10 && smooth >= first + 0.05
                           ? Severity::kCritical
                       : smooth >= 0.01 ? Severity::kWarning
                                        : Severity::kNone;
      }
      mark.clean = smooth < 0.005;
      marks.push_back(mark);
      ASSERT_EQ(f.now, OpinionAfter(marks, 50)) << i;
      changes += f.now != before;
    }
  }
  EXPECT_GT(changes, 10);
}

// --- 32 underflow_predicted, 33 no_single_scale ------------------------------

// Tensors whose lower bounds are these; the largest value is `abs_max`.
StepGradients Tensors(const std::vector<double>& lowest, float abs_max) {
  StepGradients g;
  for (size_t i = 0; i < lowest.size(); ++i) {
    g.range.Add(static_cast<uint32_t>(i), lowest[i], abs_max);
  }
  return g;
}

TEST(UnderflowPredicted, WarnsOfAFixedScaleThatCouldBeHigher) {
  StepFeed<UnderflowPredicted> f(FixedScale());
  f.gradients = Tensors({3, 5, -4, -9, -9}, 1);  // 16 bits of room
  EXPECT_EQ(f.Steps({.scale = 128, .loss = 2}, 19), Severity::kNone);
  EXPECT_EQ(f.Step({.scale = 128, .loss = 2}), Severity::kWarning);
  const Finding found = f.Described();
  EXPECT_THAT(found.sentence, HasSubstr("2 of 5 gradient tensors"));
  EXPECT_THAT(found.sentence, HasSubstr("small most"));
  EXPECT_THAT(found.sentence, HasSubstr("a loss scale of 4096 would suit"));
  EXPECT_THAT(NumberOf(found, "recommended_scale"), Optional(4096));
  EXPECT_THAT(NumberOf(found, "headroom"), Optional(DoubleNear(16, 0.01)));
  f.gradients = Tensors({-1, -1, -1, -1}, 1);
  EXPECT_EQ(f.Steps({.scale = 4096, .loss = 2}, 50), Severity::kNone);
}

TEST(UnderflowPredicted, IsANoteWhileTheScalerGrowsByItself) {
  StepFeed<UnderflowPredicted> f(Scaler("pytorch"));
  f.gradients = Tensors({3, 5}, 1);
  f.Steps({.scale = 128, .overflow = false}, 100);
  EXPECT_EQ(f.worst, Severity::kInfo);
}

TEST(UnderflowPredicted, NoRoomOrFewTensorsAreNone) {
  StepFeed<UnderflowPredicted> f(FixedScale());
  f.gradients = Tensors({3, 5, 5}, 10000);  // 2.7 bits
  f.Steps({.scale = 128, .loss = 2}, 100);
  std::vector<double> many(100, -5.0);
  many[0] = many[1] = 6;
  f.gradients = Tensors(many, 1);
  f.Steps({.scale = 128, .loss = 2}, 100);
  f.gradients = std::nullopt;
  f.Steps({.scale = 128, .loss = 2}, 100);
  f.gradients.emplace();  // observed, but without moments
  f.gradients->range.Add(0, std::nullopt, 1.0f);
  f.Steps({.scale = 128, .loss = 2}, 100);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(NoSingleScale, WarnsWhenTheSpanIsWiderThanTheFormat) {
  StepFeed<NoSingleScale> f(Scaler("pytorch"));
  f.Step({.scale = 1024, .overflow = false});
  f.gradients = Tensors({9, -20, -20, -20, -20}, 32768);  // a bit of room
  EXPECT_EQ(f.Steps({.scale = 1024, .overflow = false}, 49), Severity::kNone);
  EXPECT_EQ(f.Step({.scale = 1024, .overflow = false}), Severity::kWarning);
  EXPECT_THAT(f.Described().sentence,
              HasSubstr("small needs one 8 bits above what large bears"));
  f.gradients = Tensors({1.5, -20, -20, -20, -20}, 32768);
  EXPECT_EQ(f.Steps({.scale = 1024, .overflow = false}, 199),
            Severity::kWarning);
  EXPECT_EQ(f.Step({.scale = 1024, .overflow = false}), Severity::kNone);
}

TEST(NoSingleScale, OneSmallTensorInManyDoesNoHarm) {
  StepFeed<NoSingleScale> f(Scaler("pytorch"));
  f.Step({.scale = 1024, .overflow = false});
  std::vector<double> many(100, -20.0);
  many[0] = 30;
  f.gradients = Tensors(many, 32768);
  f.Steps({.scale = 1024, .overflow = false}, 300);
  EXPECT_EQ(f.worst, Severity::kNone);
}

// Both against what each tensor says by itself, at each record.
TEST(ScaleRules, AgreeWithEachTensorByItself) {
  int changes = 0;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 engine(seed);
    StepFeed<UnderflowPredicted> low(FixedScale());
    StepFeed<NoSingleScale> none(FixedScale());
    std::vector<Mark> low_marks;
    std::vector<Mark> none_marks;
    int low_held = 0;
    int none_held = 0;
    double small = 0;
    float large = 1;
    for (int i = 0; i < 1200; ++i) {
      if (engine() % 80 == 0) {
        small = static_cast<double>(engine() % 30) - 15;
        large = std::exp2(static_cast<float>(engine() % 16));
      }
      std::vector<double> tensors;
      for (int k = 0; k < 20; ++k) {
        tensors.push_back(small - static_cast<double>(engine() % 120) / 10);
      }
      low.gradients = none.gradients = Tensors(tensors, large);
      const Severity before = low.now;
      const Severity none_before = none.now;
      low.Step({.scale = 128, .loss = 2});
      none.Step({.scale = 128, .loss = 2});
      const double room = std::log2(65504.0 / large);
      int losing = 0;
      int hopeless = 0;
      for (const double t : tensors) {
        losing += t > 0;
        hopeless += t > std::floor(room + 2);
      }
      const bool is_low = losing > 2 && room > 4;
      low_held = is_low ? low_held + 1 : 0;
      low_marks.push_back(
          {low_held >= 20 ? Severity::kWarning : Severity::kNone,
           losing <= 1 || room < 2});
      none_held = hopeless >= 2 ? none_held + 1 : 0;
      none_marks.push_back(
          {none_held >= 50 ? Severity::kWarning : Severity::kNone,
           hopeless < 2});
      ASSERT_EQ(low.now, OpinionAfter(low_marks, 50)) << i;
      ASSERT_EQ(none.now, OpinionAfter(none_marks, 200)) << i;
      changes += (low.now != before) + (none.now != none_before);
    }
  }
  EXPECT_GT(changes, 10);
}

}  // namespace
}  // namespace nanwatch
