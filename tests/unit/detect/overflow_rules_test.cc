// Rules 5 to 7: how often updates overflow.

#include <gmock/gmock.h>

#include <cmath>

#include "detect/never_calibrated.h"
#include "detect/overflow_rate.h"
#include "detect/overflow_streak.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

// --- 5 overflow_streak -------------------------------------------------------

TEST(OverflowStreak, FiveWarnSixteenAreCriticalFiftyCleanClear) {
  StepFeed<OverflowStreak> f(Scaler("pytorch"));
  f.Good(65536, 50);
  double scale = f.Fall(65536, 4);
  EXPECT_EQ(f.now, Severity::kNone);
  scale = f.Fall(scale, 1);
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Described().opened_step, 51);
  scale = f.Fall(scale, 10);
  EXPECT_EQ(f.now, Severity::kWarning);
  scale = f.Fall(scale, 1);
  EXPECT_EQ(f.now, Severity::kCritical);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Good(scale, 49), Severity::kCritical);
  EXPECT_EQ(f.Good(scale, 1), Severity::kNone);
}

TEST(OverflowStreak, StartUpDescentIsQuiet) {
  StepFeed<OverflowStreak> f(Scaler("megatron"));
  f.Fall(4294967296.0 * 2, 17);  // 2^32 to 2^16
  f.Good(65536, 100);
  EXPECT_EQ(f.worst, Severity::kNone);
  StepFeed<OverflowStreak> undeclared;
  undeclared.Fall(4294967296.0 * 2, 19);
  EXPECT_EQ(undeclared.worst, Severity::kNone);
}

TEST(OverflowStreak, AppliedUpdatesAreADegreeLess) {
  StepFeed<OverflowStreak> f;
  f.Steps({.scale = 1024, .overflow = false}, 20);
  const Update applied = {.scale = 1024, .overflow = true, .skipped = false};
  EXPECT_EQ(f.Steps(applied, 15), Severity::kInfo);
  EXPECT_EQ(f.Steps(applied, 1), Severity::kWarning);
  EXPECT_EQ(f.Steps(applied, 100), Severity::kWarning);
  ExpectWords(f.Described().sentence);
}

// A log that shows one step in a hundred.
TEST(OverflowStreak, OfStepsThatAreNotShownNothingIsClaimed) {
  StepFeed<OverflowStreak> f;
  f.Steps({.scale = 1024, .overflow = false, .unseen = 99}, 20);
  f.Steps({.scale = 1024, .overflow = true, .unseen = 99}, 8);
  ExpectWords(f.Described().sentence);
}

// What is counted since the start of a row is said since that.
TEST(OverflowStreak, ARowIsToldSinceItsOwnFirst) {
  StepFeed<OverflowStreak> f;
  f.Steps({.scale = 1, .overflow = false}, 20);
  f.Steps({.scale = 1, .overflow = true}, 8);
  f.Steps({.scale = 1, .overflow = false}, 1);
  f.Steps({.scale = 1, .overflow = true}, 30);
  EXPECT_EQ(f.Described().opened_step, 21);
  EXPECT_EQ(NumberOf(f.Described(), "streak_from"), 30);
  ExpectWords(f.Described().sentence);
}

TEST(OverflowStreak, UpdatesThatAreAppliedOnPurposeAreForInformation) {
  StepFeed<OverflowStreak> f(FixedScale(false));
  f.Steps({.scale = 128, .overflow = true}, 100);
  EXPECT_EQ(f.worst, Severity::kInfo);
  ExpectWords(f.Described().sentence);
}

TEST(OverflowStreak, FixedScalesHaveNoGrace) {
  StepFeed<OverflowStreak> f(FixedScale());
  f.Steps({.scale = 128, .overflow = true}, 5);
  EXPECT_EQ(f.now, Severity::kWarning);
}

TEST(OverflowStreak, SaysWhenTheFloorIsReached) {
  StepFeed<OverflowStreak> f(Scaler("megatron"));
  f.Good(65536, 50);
  f.Fall(65536, 6);
  ExpectWords(f.Described().sentence);
}

TEST(OverflowStreak, AGoodUpdateHalfWayDownIsStillCalibration) {
  StepFeed<OverflowStreak> f;  // NVIDIA's BERT: a counter of skips, no scale
  f.Steps({.overflow = true}, 3);
  f.Step({.overflow = false});
  f.Steps({.overflow = true}, 8);
  f.Steps({.overflow = false}, 60);
  EXPECT_EQ(f.worst, Severity::kNone);
  f.Steps({.overflow = true}, 5);
  EXPECT_EQ(f.now, Severity::kWarning);
}

TEST(OverflowStreak, FallsBetweenStepLinesDoNotFollowOneAnother) {
  StepFeed<OverflowStreak> f;
  f.Steps({.scale = 65536, .unseen = 99}, 50);
  for (int i = 1; i <= 8; ++i) {
    f.Step({.scale = std::ldexp(65536, -i), .unseen = 99});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

// --- 6 overflow_rate ---------------------------------------------------------

TEST(OverflowRate, ProbesAfterGrowthAreExplainedWhateverTheInterval) {
  StepFeed<OverflowRate> f(Scaler("deepspeed"));
  f.Good(65536, 2);
  for (int i = 0; i < 100; ++i) {  // two overflows in a hundred updates
    f.Scale(65536, true);
    f.Scale(32768, true);
    f.Good(32768, 97);
    f.Good(65536, 1);
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(OverflowRate, UnansweredOverflowsWarnAndThenClear) {
  StepFeed<OverflowRate> f(Scaler("pytorch"));
  f.Good(65536, 1);
  for (int i = 0; i < 10; ++i) {
    f.Scale(1024, true);
    f.Good(1024, 9);
  }
  EXPECT_EQ(f.now, Severity::kNone);  // 10 of 1000 is the limit
  f.Scale(1024, true);
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Good(1024, 950), Severity::kWarning);
  EXPECT_EQ(f.Good(1024, 50), Severity::kNone);
}

TEST(OverflowRate, TenPercentIsCritical) {
  StepFeed<OverflowRate> f(FixedScale());
  for (int i = 0; i < 101; ++i) {
    f.Scale(1024, true);
    f.Good(1024, 4);
  }
  EXPECT_EQ(f.now, Severity::kCritical);
  ExpectWords(f.Described().sentence);
}

TEST(OverflowRate, OftenAppliedIsAWarning) {
  StepFeed<OverflowRate> f;
  f.Steps({.scale = 1024, .overflow = false}, 50);
  for (int i = 0; i < 101; ++i) {
    f.Step({.scale = 1024, .overflow = true, .skipped = false});
    f.Steps({.scale = 1024, .overflow = false}, 4);
    if (i == 50) {
      EXPECT_EQ(f.now, Severity::kInfo);
    }
  }
  EXPECT_EQ(f.now, Severity::kWarning);
}

TEST(OverflowRate, IsolatedOverflowsWithoutAScaleAreProbes) {
  StepFeed<OverflowRate> f;
  for (int i = 0; i < 50; ++i) {
    f.Step({.overflow = true});
    f.Steps({.overflow = false}, 60);
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

// A log's counter tells of overflows between two lines that show the scale.
TEST(OverflowRate, IsolatedOverflowsThatTellNoScaleAreProbes) {
  StepFeed<OverflowRate> f(Scaler("deepspeed"));
  for (int i = 0; i < 50; ++i) {
    f.Good(1024, 60);
    f.Step({.overflow = true});
    f.Step({.overflow = true});  // DeepSpeed forgives one
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

// A line in ten steps shows the scale, and no overflow but by it.
TEST(OverflowRate, WhatTheScaleAloneShowsIsOfAllSteps) {
  const auto worst = [](int64_t unseen) {
    StepFeed<OverflowRate> f(Scaler("pytorch"));
    double scale = 0x1p40;
    f.Step({.scale = scale});
    for (int i = 0; i < 40; ++i) {
      f.Step({.scale = scale /= 2, .unseen = unseen});
      for (int k = 0; k < 19; ++k) f.Step({.scale = scale, .unseen = unseen});
    }
    return f.worst;
  };
  EXPECT_EQ(worst(0), Severity::kWarning);
  EXPECT_EQ(worst(9), Severity::kNone) << "4 or 5 of 1000";
}

// Those of a start are none of its count, and a fall between two lines may
// stand for several.
TEST(OverflowRate, SaysNoMoreThanItCounted) {
  StepFeed<OverflowRate> start;
  start.Steps({.skipped = true}, 180);
  ExpectWords(start.Described().sentence);
  StepFeed<OverflowRate> lines(Scaler("pytorch"));
  lines.Steps({.scale = 0x1p40, .unseen = 9}, 10);
  for (double scale = 0x1p40; scale > 1; scale /= 8) {
    lines.Step({.scale = scale, .unseen = 9});
  }
  ExpectWords(lines.Described().sentence);
  StepFeed<OverflowRate> told(Scaler("pytorch"));
  told.Steps({.scale = 64, .overflow = false, .unseen = 9}, 50);
  told.Steps({.scale = 64, .overflow = true, .unseen = 9}, 50);
  ExpectWords(told.Described().sentence);
}

TEST(OverflowRate, CalibrationIsNotCounted) {
  StepFeed<OverflowRate> f(Scaler("megatron"));
  f.Fall(4294967296.0, 30);
  f.Good(4, 100);
  EXPECT_EQ(f.worst, Severity::kNone);
}

// --- 7 never_calibrated ------------------------------------------------------

TEST(NeverCalibrated, FiresWhenTheBudgetIsSpent) {
  StepFeed<NeverCalibrated> f(Scaler("pytorch"));
  const double scale = f.Fall(65536 * 2, 18);
  EXPECT_EQ(f.now, Severity::kNone);
  const double floor = f.Fall(scale, 1);
  EXPECT_EQ(f.now, Severity::kWarning);
  ExpectWords(f.Described().sentence);
  f.Fall(floor, 4);
  EXPECT_EQ(f.now, Severity::kCritical);
  EXPECT_EQ(f.Good(0.25, 9), Severity::kCritical);
  EXPECT_EQ(f.Good(0.25, 1), Severity::kNone);
}

TEST(NeverCalibrated, IsCriticalWhereNoUpdateFollows) {
  StepFeed<NeverCalibrated> f(Scaler("pytorch"));
  f.Fall(65536 * 2, 19);
  EXPECT_EQ(f.End(), Severity::kCritical);
  StepFeed<NeverCalibrated> found(Scaler("pytorch"));
  found.Fall(65536 * 2, 19);
  found.Good(0.25, 5);
  EXPECT_EQ(found.End(), Severity::kWarning) << "it found one at last";
}

TEST(NeverCalibrated, OneGoodStepIsEnough) {
  StepFeed<NeverCalibrated> f(Scaler("pytorch"));
  f.Fall(65536, 10);
  f.Good(64, 1);
  f.Fall(64, 30);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(NeverCalibrated, FiresForAFixedScaleThatNeverFits) {
  StepFeed<NeverCalibrated> f(FixedScale());
  f.Steps({.scale = 1024, .overflow = true}, 16);
  EXPECT_EQ(f.now, Severity::kCritical);
}

TEST(NeverCalibrated, AppliedUpdatesAreLearned) {
  StepFeed<NeverCalibrated> f(FixedScale(false));
  f.Steps({.scale = 1024, .overflow = true}, 100);
  EXPECT_EQ(f.worst, Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
