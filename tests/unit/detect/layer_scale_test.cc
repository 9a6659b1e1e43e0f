// Rules 2 and 3 where each layer has a scale of its own.

#include <gmock/gmock.h>

#include <span>

#include "detect/scale_below_one.h"
#include "detect/scale_unrepresentable.h"
#include "model/scale_bound.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

StepLayers Layers(double lowest, double highest = 65536) {
  return {{.layers = 2, .lowest = lowest, .highest = highest}, "head"};
}

TEST(ScaleUnrepresentable, NamesALayerThatNoGradientSurvives) {
  for (const double bad : {0.0, -1.0, 0x1p-130, kNan, kInf}) {
    StepFeed<ScaleUnrepresentable> f;
    f.layers = Layers(2);
    EXPECT_EQ(f.Step({.loss = 1}), Severity::kNone);
    f.layers = Layers(bad);
    EXPECT_EQ(f.Step({.loss = 1}), Severity::kCritical) << bad;
    EXPECT_EQ(f.Described().subject.op, "head");
    EXPECT_EQ(f.Described().opened_step, 2);
    ExpectWords(f.Described().sentence);
  }
}

TEST(ScaleUnrepresentable, ALayerMayRecover) {
  StepFeed<ScaleUnrepresentable> f;
  f.layers = Layers(0);
  f.Step({});
  f.layers = Layers(16);
  EXPECT_EQ(f.Steps({}, 49), Severity::kCritical);
  f.layers.reset();  // says nothing of layers
  EXPECT_EQ(f.Steps({.loss = 1}, 100), Severity::kCritical);
  f.layers = Layers(16);
  EXPECT_EQ(f.Step({}), Severity::kNone);
}

TEST(ScaleUnrepresentable, TheScaleOfAllComesBeforeALayers) {
  StepFeed<ScaleUnrepresentable> f(Scaler("pytorch"));
  f.layers = Layers(0);
  f.Step({.scale = 65536});
  EXPECT_EQ(f.Described().subject.op, "head");
  f.Scale(-1, true);
  EXPECT_EQ(f.Described().subject.op, "");
}

TEST(ScaleBelowOne, WarnsOfALayerAndIsCriticalFarBelow) {
  StepFeed<ScaleBelowOne> f;
  f.layers = Layers(0.5);
  EXPECT_EQ(f.Step({.overflow = true}), Severity::kNone) << "for two records";
  EXPECT_EQ(f.Steps({.overflow = true}, 50), Severity::kWarning)
      << "whose overflows these are is not known";
  EXPECT_EQ(f.Described().subject.op, "head");
  ExpectWords(f.Described().sentence);
  f.layers = Layers(0x1p-11);
  EXPECT_EQ(f.Step({}), Severity::kCritical);
  f.layers = Layers(1);
  EXPECT_EQ(f.Steps({}, 199), Severity::kCritical);
  EXPECT_EQ(f.Step({}), Severity::kNone);
}

TEST(ScaleBelowOne, LeavesUnusableScalesOfLayersToRule3) {
  StepFeed<ScaleBelowOne> f;
  for (const double bad : {0.0, -1.0, kNan, kInf}) {
    f.layers = Layers(bad);
    EXPECT_EQ(f.Steps({}, 10), Severity::kNone) << bad;
  }
}

TEST(LayerExtremes, TakesWhatIsNotFiniteForTheLowest) {
  const LayerScale scales[] = {{.op = 4, .scale = 2},
                               {.op = 5, .scale = 0},
                               {.op = 6, .scale = kInf},
                               {.op = 7, .scale = kNan},
                               {.op = 8, .scale = 2}};
  const LayerExtremes two = ExtremesOf(std::span(scales).first(2));
  EXPECT_EQ(two.layers, 2u);
  EXPECT_EQ(two.lowest_op, 5u);
  EXPECT_EQ(two.highest_op, 4u);
  const LayerExtremes all = ExtremesOf(scales);
  EXPECT_EQ(all.lowest_op, 6u);
  EXPECT_EQ(all.lowest, kInf);
  EXPECT_EQ(all.highest_op, 4u);
  EXPECT_EQ(all.highest, 2);
  EXPECT_EQ(ExtremesOf({}).layers, 0u);
}

}  // namespace
}  // namespace nanwatch
