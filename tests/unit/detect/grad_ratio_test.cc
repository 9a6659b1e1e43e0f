// Rule 29: how much less, or more, of a gradient comes to the first layer.

#include "detect/grad_ratio.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/golden/words.h"
#include "tests/unit/detect/reference.h"

namespace nanwatch {
namespace {

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
  ExpectWords(f.Described().sentence);
  f.gradients = FirstAndLast(1, 1);
  EXPECT_EQ(f.Steps({.loss = 2}, 49), Severity::kWarning);
  EXPECT_EQ(f.Step({.loss = 2}), Severity::kNone);
  f.gradients = FirstAndLast(1e-4f, 1);
  EXPECT_EQ(f.Steps({.loss = 2}, 20), Severity::kWarning);
  ExpectWords(f.Described().sentence);
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

TEST(GradRatio, ANewRatioThatStaysIsTheUsualOne) {
  StepFeed<GradRatio> f(NoScaler());
  f.gradients = FirstAndLast(1, 1);
  f.Steps({.loss = 2}, 80);
  f.gradients = FirstAndLast(1000, 1);
  EXPECT_EQ(f.Steps({.loss = 2}, 256), Severity::kWarning);
  EXPECT_EQ(f.Steps({.loss = 2}, 50), Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
