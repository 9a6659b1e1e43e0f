// Rules 32 and 33: whether one scale holds the range of all gradients.

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <vector>

#include "detect/no_single_scale.h"
#include "detect/underflow_predicted.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/reference.h"

namespace nanwatch {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

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
  ExpectWords(found.sentence);
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
  ExpectWords(f.Described().sentence);
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
