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

}  // namespace
}  // namespace nanwatch
