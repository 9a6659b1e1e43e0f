// Rule 2: a scale below one.

#include "detect/scale_below_one.h"

#include <gmock/gmock.h>

#include "model/scale_bound.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

TEST(ScaleBelowOne, OneOverflowIsANoteAndASecondAWarning) {
  StepFeed<ScaleBelowOne> f(Scaler("pytorch"));
  f.Good(1, 3);
  f.Scale(0.5, true);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Good(0.5, 1);
  EXPECT_EQ(f.now, Severity::kInfo);
  EXPECT_EQ(f.Good(0.5, 198), Severity::kInfo);
  f.Scale(0.25, true);
  EXPECT_EQ(f.now, Severity::kWarning);
}

TEST(ScaleBelowOne, GrowingOverflowsMakeItCritical) {
  StepFeed<ScaleBelowOne> f(Scaler("fairseq"));  // fairseq#512
  f.Good(0.5, 3);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Fall(0.5, 3);
  EXPECT_EQ(f.now, Severity::kCritical);
}

// It never grows in between.
TEST(ScaleBelowOne, SlowFallsMakeItCritical) {
  StepFeed<ScaleBelowOne> f(Scaler("pytorch"));
  for (double scale = 8; scale > 1.0 / 128; scale /= 2) {
    f.Good(scale, 70);
    f.Scale(scale / 2, true);
  }
  EXPECT_EQ(f.now, Severity::kCritical);
}

// The best scale of this run lies between 0.25 and 0.5: underflow, but no
// collapse.
TEST(ScaleBelowOne, ProbingBelowOneIsAWarning) {
  StepFeed<ScaleBelowOne> f(Scaler("pytorch"));
  for (int i = 0; i < 6; ++i) {
    f.Good(0.25, 2000);
    f.Scale(0.5, true);
  }
  EXPECT_EQ(f.worst, Severity::kWarning);
  f.Fall(0.25, 3);
  EXPECT_EQ(f.now, Severity::kCritical);
}

// fairseq and Apex print its falls alone: to the same scale again and again.
TEST(ScaleBelowOne, ProbesWhoseGrowthNoLineTellsAreAWarning) {
  StepFeed<ScaleBelowOne> f;
  f.Fall(4, 3);
  for (int i = 0; i < 6; ++i) {
    f.Good(0.5, 2000);
    f.Scale(0.5, true);
  }
  EXPECT_EQ(f.worst, Severity::kWarning);
  f.Good(0.5, 10);
  f.Scale(0.5, true);
  f.Scale(0.5, true);
  EXPECT_EQ(f.now, Severity::kCritical);
}

TEST(ScaleBelowOne, FarBelowIsCriticalAtOnceAndStays) {
  StepFeed<ScaleBelowOne> f;  // yolact#359
  f.Scale(1.52587890625e-05, true);
  f.Scale(7.62939453125e-06, true);
  EXPECT_EQ(f.now, Severity::kCritical);
  EXPECT_EQ(f.Good(7.62939453125e-06, 500), Severity::kCritical);
}

// A line in fifty batches: a record of them is no update.
TEST(ScaleBelowOne, CountsRecordsAndNothingWhereItIsOver) {
  StepFeed<ScaleBelowOne> f;
  f.Step({.scale = 1, .unseen = 49});
  for (double scale = 0.5; scale > 1e-6; scale /= 8) {
    f.Step({.scale = scale, .unseen = 49});
    f.Step({.scale = scale, .unseen = 49});
  }
  EXPECT_EQ(f.now, Severity::kCritical);
  ExpectWords(f.Described().sentence);
  f.Step({.scale = 1, .unseen = 49});
  EXPECT_EQ(f.now, Severity::kCritical);
  ExpectWords(f.Described().sentence);
}

TEST(ScaleBelowOne, ClearsAtTwo) {
  StepFeed<ScaleBelowOne> f(Scaler("pytorch"));
  f.Good(1, 1);
  f.Scale(0.5, true);
  f.Good(0.5, 2);
  EXPECT_EQ(f.Good(2, 198), Severity::kInfo);
  EXPECT_EQ(f.Good(2, 1), Severity::kNone);
}

// InsightFace, at 0 for thousands of steps: neither the scale nor whether they
// overflowed is known.
TEST(ScaleBelowOne, UpdatesOfWhichNothingIsKnownClearNothing) {
  StepFeed<ScaleBelowOne> f(Scaler("pytorch"));
  f.Steps({.scale = 1024}, 3);
  EXPECT_EQ(f.Steps({.scale = AtMost(0.5)}, 1000), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  // They did not.
  EXPECT_EQ(f.Good(AtMost(0.5), 200), Severity::kNone);
}

// A log that shows the scale with its overflows alone.
TEST(ScaleBelowOne, OneOverflowFarBelowIsEnoughWhereNoMoveWasSeen) {
  StepFeed<ScaleBelowOne> f;
  f.Step({.loss = 17});
  // It says that the scale above overflowed, and that this one is left.
  EXPECT_EQ(f.Scale(0x1p-9, true), Severity::kCritical);
  EXPECT_EQ(f.Step({.overflow = false, .loss = 17.6}), Severity::kCritical);
  StepFeed<ScaleBelowOne> near;
  near.Scale(0.5, true);
  EXPECT_EQ(near.Steps({.overflow = false}, 5), Severity::kNone);
}

TEST(ScaleBelowOne, FixedScalesBelowOneAreAChoice) {
  StepFeed<ScaleBelowOne> f(FixedScale());
  EXPECT_EQ(f.Good(0.5, 50), Severity::kNone);
  for (int i = 0; i < 3000; ++i) f.Step({.scale = 0.5, .loss = 9.5});
  EXPECT_EQ(f.now, Severity::kNone);
}

// A log that begins when all is lost (insightface#2277): nothing moves.
TEST(ScaleBelowOne, StandingWithTheLossIsAWarningAndAfterTheWindowCritical) {
  const auto after = [](int updates, double scale, double fall) {
    StepFeed<ScaleBelowOne> f;
    for (int i = 0; i < updates; ++i) {
      const double noise = 0.05 * ((i * 7 + i / 5) % 11 - 5);
      f.Step({.scale = scale, .loss = 9.5 - fall * i + noise});
    }
    return f;
  };
  EXPECT_EQ(after(95, 0.5, 0).now, Severity::kNone);
  EXPECT_EQ(after(100, 0.5, 0).now, Severity::kWarning);
  EXPECT_EQ(after(2100, 0.5, 0).now, Severity::kCritical);
  EXPECT_EQ(after(100, 0x1p-9, 0).now, Severity::kCritical);
  EXPECT_EQ(after(2100, 0.5, 0.005).now, Severity::kNone) << "it learns";
  EXPECT_EQ(after(2100, 1, 0).now, Severity::kNone);
  const auto dead = after(2100, 0.5, 0);
  ExpectWords(dead.Described().sentence);
}

// It begins at 1, and its program raises what is lower (icefall#1463).
TEST(ScaleBelowOne, OfIcefallIsUsualDownToWhatItWarnsOf) {
  StepFeed<ScaleBelowOne> f;
  f.run.framework = "icefall";
  f.Good(2, 5);
  f.Scale(0.5, true);
  EXPECT_EQ(f.Good(0.5, 50), Severity::kNone);
  f.Good(2, 5);
  f.Fall(2, 7);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Fall(0x1p-6, 3);
  EXPECT_EQ(f.now, Severity::kCritical);
}

// A log that was cut tells no fall, and the loss may go on for a while.
TEST(ScaleBelowOne, ATinyScaleThatNeverMovedIsANote) {
  const auto worst = [](StepFeed<ScaleBelowOne> f, double scale) {
    for (int i = 0; i < 100; ++i) {
      f.Step({.scale = scale, .loss = 9.5 - 0.05 * i});
    }
    return f.worst;
  };
  const StepFeed<ScaleBelowOne> log;
  const StepFeed<ScaleBelowOne> chosen(FixedScale());
  EXPECT_EQ(worst(log, 0x1p-13), Severity::kInfo);
  EXPECT_EQ(worst(chosen, 0x1p-13), Severity::kNone);
  EXPECT_EQ(worst(log, 0.5), Severity::kNone);
}

TEST(ScaleBelowOne, WhatRoseTo16IsOver) {
  StepFeed<ScaleBelowOne> f;
  f.Good(4, 10);
  f.Fall(4, 6);
  EXPECT_EQ(f.now, Severity::kCritical);
  for (double scale = 0.125; scale <= 8; scale *= 2) f.Good(scale, 8);
  EXPECT_EQ(f.now, Severity::kCritical) << "it recovered a little";
  EXPECT_EQ(f.Good(16, 1), Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
