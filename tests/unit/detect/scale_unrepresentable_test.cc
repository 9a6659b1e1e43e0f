// Rule 3: a scale that no gradient survives.

#include "detect/scale_unrepresentable.h"

#include <gmock/gmock.h>

#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

TEST(ScaleUnrepresentable, FiresOnWhatNoGradientSurvives) {
  for (const double bad : {0.0, -1024.0, kNan, kInf, -kInf, 1e-39, 5e-321}) {
    StepFeed<ScaleUnrepresentable> f(Scaler("pytorch"));
    f.Good(1024, 3);
    EXPECT_EQ(f.Scale(bad, true), Severity::kCritical) << bad;
    EXPECT_EQ(f.Good(1024, 2000), Severity::kCritical) << "latched";
    EXPECT_EQ(f.Described().opened_step, 4);
  }
}

TEST(ScaleUnrepresentable, PlaceholdersOfLogsAreNotScales) {
  StepFeed<ScaleUnrepresentable> minus_one;
  minus_one.Steps({.scale = -1, .overflow = false}, 50);
  EXPECT_EQ(minus_one.worst, Severity::kNone);
  StepFeed<ScaleUnrepresentable> zero;
  zero.Steps({.scale = 0, .overflow = false}, 50);
  EXPECT_EQ(zero.worst, Severity::kNone);
  EXPECT_EQ(zero.Scale(0, true), Severity::kCritical);
}

// A log that begins when all is lost: its first line shows no overflow yet.
TEST(ScaleUnrepresentable, AZeroFromTheFirstRecordOnIsOneSinceThen) {
  StepFeed<ScaleUnrepresentable> f;
  EXPECT_EQ(f.Step({.scale = 0, .overflow = false, .loss = kNan}),
            Severity::kNone);
  EXPECT_EQ(f.Scale(0, true), Severity::kCritical);
  EXPECT_EQ(f.Described().opened_step, 1);
  ExpectWords(f.Described().sentence);
  StepFeed<ScaleUnrepresentable> placeholder;
  placeholder.Steps({.scale = 0, .overflow = false}, 5);
  placeholder.Scale(0, true);
  EXPECT_EQ(placeholder.Described().opened_step, 6);
}

TEST(ScaleUnrepresentable, AbsentScalesAndOrdinaryOnesAreFine) {
  StepFeed<ScaleUnrepresentable> f(NoScaler());
  f.Steps({.loss = 1}, 20);
  f.Good(0x1p-126, 1);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleUnrepresentable, AZeroWithTooFewDigitsIsAWarningUntilItIsOver) {
  StepFeed<ScaleUnrepresentable> f;
  f.Good(0.125, 10);
  EXPECT_EQ(f.Scale(0, false), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Good(0.25, 1), Severity::kNone);
  EXPECT_EQ(f.Scale(0, true), Severity::kCritical) << "an overflow at 0";
  EXPECT_EQ(f.Good(0.25, 50), Severity::kCritical);
  StepFeed<ScaleUnrepresentable> fallen(Scaler("apex"));
  fallen.Good(0x1p-125, 10);
  EXPECT_EQ(fallen.Scale(0, false), Severity::kCritical) << "all the way down";
}

TEST(ScaleUnrepresentable, WhoDeclaresItsScalerMeansTheZero) {
  StepFeed<ScaleUnrepresentable> f(Scaler("fairseq"));
  f.Good(0.125, 10);
  EXPECT_EQ(f.Scale(0, false), Severity::kCritical);
}

}  // namespace
}  // namespace nanwatch
