// Rule 14: a scale that moves as its scaler never does.

#include "detect/scale_discontinuity.h"

#include <gmock/gmock.h>

#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

TEST(ScaleDiscontinuity, FiresOnAResetAndClearsAfterAThousand) {
  StepFeed<ScaleDiscontinuity> f(Scaler("pytorch"));
  f.Good(128, 10);
  EXPECT_EQ(f.Good(65536, 1), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Good(65536, 999), Severity::kWarning);
  EXPECT_EQ(f.Good(65536, 1), Severity::kNone);
}

TEST(ScaleDiscontinuity, WhatScalersDoIsFine) {
  StepFeed<ScaleDiscontinuity> f(Scaler("ascend_tf"));
  double scale = 65536;
  for (int i = 0; i < 30; ++i) f.Scale(scale *= 0.8, true);
  f.Good(2 * scale, 5);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleDiscontinuity, StaysWhileTheScaleStandsUnderOverflows) {
  StepFeed<ScaleDiscontinuity> f(Scaler("pytorch"));
  f.Good(1024, 10);
  for (int i = 0; i < 2000; ++i) f.Scale(1024, true);
  EXPECT_EQ(f.now, Severity::kWarning);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Good(1024, 1000), Severity::kNone);
}

TEST(ScaleDiscontinuity, SaysWhatTheScalerNeverDoes) {
  StepFeed<ScaleDiscontinuity> f(Scaler("pytorch"));
  f.Good(1024, 10);
  f.Scale(256, true);
  ExpectWords(f.Described().sentence);
}

}  // namespace
}  // namespace nanwatch
