// Rule 31: gradients that are exactly 0.

#include "detect/underflow_measured.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/golden/words.h"
#include "tests/unit/detect/reference.h"

namespace nanwatch {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

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
  ExpectWords(g.Described().sentence);
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
  ExpectWords(finding.sentence);
  f.Steps({.zero_fraction = 0}, 20);
  ExpectWords(f.Described().sentence);
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
  ExpectWords(f.Described().sentence);
}

// Of a tensor that became 0 beside what `before` brought.
bool IsTakenForALayer(const Update& before, const Update& after) {
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
    return Update{.scale = scale,
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

Update WithZeros(double loss, double zeros, double norm = 0.5) {
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
  ExpectWords(finding.sentence);
  EXPECT_THAT(NumberOf(finding, "first_loss"),
              Optional(DoubleNear(2.35, 1e-6)));
  EXPECT_EQ(f.Steps(WithZeros(2.31, 0.98), 1000), Severity::kWarning);
  f.Steps(WithZeros(1.5, 0), 90);
  EXPECT_EQ(f.now, Severity::kNone) << "it lives, and learns";
}

// After what most of it is 0.
Severity OfDeathAfter(const Update& before, int updates, bool tensor = true) {
  StepFeed<UnderflowMeasured> f(NoScaler());
  f.Step(WithZeros(2.35, 0));
  f.Steps(before, updates);
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

}  // namespace
}  // namespace nanwatch
