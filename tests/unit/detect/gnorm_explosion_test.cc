// Rule 28: a gradient norm above all that was healthy, or not finite.

#include "detect/gnorm_explosion.h"

#include <gmock/gmock.h>

#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

TEST(GnormExplosion, TenTimesTheHealthyMaximumWarns) {
  StepFeed<GnormExplosion> f(NoScaler());
  for (int i = 0; i < 100; ++i) f.Step({.grad_norm = 1 + i % 7});
  EXPECT_EQ(f.Step({.grad_norm = 69}), Severity::kNone);
  StepFeed<GnormExplosion> g(NoScaler());
  for (int i = 0; i < 100; ++i) g.Step({.grad_norm = 1 + i % 7});
  EXPECT_EQ(g.Step({.grad_norm = 70}), Severity::kWarning);
  EXPECT_EQ(g.Steps({.grad_norm = 4}, 49), Severity::kWarning);
  EXPECT_EQ(g.Steps({.grad_norm = 4}, 1), Severity::kNone);
}

// A net that has learned everything but a sample or two.
TEST(GnormExplosion, OneThatTheRunKnowsIsForInformation) {
  StepFeed<GnormExplosion> f(NoScaler());
  f.Steps({.grad_norm = 3}, 20);
  f.Steps({.grad_norm = 0.001}, 200);
  EXPECT_EQ(f.Step({.grad_norm = 0.4}), Severity::kInfo);
  f.Steps({.grad_norm = 0.001}, 60);
  EXPECT_EQ(f.now, Severity::kNone);
  EXPECT_EQ(f.Steps({.grad_norm = 0.4}, 2), Severity::kInfo);
  EXPECT_EQ(f.Step({.grad_norm = 0.4}), Severity::kWarning) << "no sample";
  StepFeed<GnormExplosion> g(NoScaler());
  g.Steps({.grad_norm = 3}, 20);
  g.Steps({.grad_norm = 0.001}, 200);
  EXPECT_EQ(g.Step({.grad_norm = 4}), Severity::kWarning) << "nor known";
}

// A clip survives one batch.
TEST(GnormExplosion, OneBesideALossThatGoesOnIsForInformation) {
  for (const bool moves : {false, true}) {
    StepFeed<GnormExplosion> f(NoScaler());
    f.Steps({.loss = 2, .grad_norm = 1}, 100);
    EXPECT_EQ(f.Step({.loss = 2, .grad_norm = 50}), Severity::kInfo);
    f.Steps({.loss = moves ? 9 : 2, .grad_norm = 1}, 1);
    EXPECT_EQ(f.now, moves ? Severity::kWarning : Severity::kInfo);
    f.Steps({.loss = 2, .grad_norm = 1}, 60);
    EXPECT_EQ(f.now, Severity::kNone);
    f.Steps({.loss = 2, .grad_norm = 50}, 2);
    EXPECT_EQ(f.now, Severity::kInfo);
    EXPECT_EQ(f.Step({.loss = 2, .grad_norm = 50}), Severity::kWarning);
  }
  StepFeed<GnormExplosion> vast(NoScaler());
  vast.Steps({.loss = 2, .grad_norm = 1}, 100);
  EXPECT_EQ(vast.Step({.loss = 2, .grad_norm = 1000}), Severity::kWarning);
}

TEST(GnormExplosion, OneThatGrowsWithRewardsIsForInformation) {
  StepFeed<GnormExplosion> f(NoScaler());
  f.level = LevelKind::kOfRewards;
  f.Steps({.grad_norm = 1}, 100);
  EXPECT_EQ(f.Steps({.grad_norm = 30}, 40), Severity::kInfo);
  EXPECT_EQ(f.Step({.grad_norm = 2000}), Severity::kCritical);
}

TEST(GnormExplosion, StayingThereIsCriticalAndNeverALevel) {
  StepFeed<GnormExplosion> f(NoScaler());
  f.Steps({.grad_norm = 1}, 100);
  f.Steps({.grad_norm = 50}, 250);
  EXPECT_EQ(f.now, Severity::kWarning) << "spikes come back";
  f.Steps({.grad_norm = 50}, 1);
  EXPECT_EQ(f.now, Severity::kCritical);
  EXPECT_EQ(f.Steps({.grad_norm = 50}, 600), Severity::kCritical);
  StepFeed<GnormExplosion> vast(NoScaler());
  vast.Steps({.grad_norm = 1}, 100);
  vast.Steps({.grad_norm = 5000}, 9);
  EXPECT_EQ(vast.now, Severity::kWarning);
  EXPECT_EQ(vast.Steps({.grad_norm = 5000}, 1), Severity::kCritical);
  StepFeed<GnormExplosion> log(NoScaler());  // every tenth step
  log.Steps({.grad_norm = 1, .unseen = 9}, 100);
  log.Steps({.grad_norm = 50, .unseen = 9}, 25);
  EXPECT_EQ(log.now, Severity::kWarning);
  EXPECT_EQ(log.Steps({.grad_norm = 50, .unseen = 9}, 1), Severity::kCritical);
}

TEST(GnormExplosion, StayingThereWhileTheLossReturnsIsAWarning) {
  StepFeed<GnormExplosion> f(NoScaler());
  f.Steps({.grad_norm = 1}, 100);
  f.loss_returns = true;
  EXPECT_EQ(f.Steps({.grad_norm = 50}, 252), Severity::kWarning);
  f.loss_returns = false;
  EXPECT_EQ(f.Step({.grad_norm = 50}), Severity::kCritical);
}

TEST(GnormExplosion, ASquareThatFp32DoesNotHoldIsAWarning) {
  constexpr double kWide = 0x1p64;
  StepFeed<GnormExplosion> f(NoScaler());
  EXPECT_EQ(f.Step({.skipped = false, .grad_norm = kWide}), Severity::kWarning);
  f.Step({.skipped = false, .grad_norm = 6e20});
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Steps({.skipped = false, .grad_norm = 1}, 60), Severity::kNone);
  StepFeed<GnormExplosion> below(NoScaler());
  EXPECT_EQ(below.Steps({.skipped = false, .grad_norm = 1.8e19}, 20),
            Severity::kNone);
  StepFeed<GnormExplosion> doubles(NoScaler());
  doubles.run.precision = "fp64";
  EXPECT_EQ(doubles.Steps({.skipped = false, .grad_norm = 6e20}, 20),
            Severity::kNone);
}

TEST(GnormExplosion, NonfiniteIsCriticalOnlyWhereApplied) {
  StepFeed<GnormExplosion> bf16(NoScaler());
  bf16.Step({.grad_norm = 0.752});
  EXPECT_EQ(bf16.Step({.grad_norm = kNan}), Severity::kCritical);
  ExpectWords(bf16.Described().sentence);
  bf16.Step({.skipped = false, .grad_norm = kNan});
  ExpectWords(bf16.Described().sentence);
  StepFeed<GnormExplosion> skipped(Scaler("pytorch"));
  skipped.Good(1024, 1);
  skipped.Steps({.overflow = true, .grad_norm = kInf}, 30);
  EXPECT_EQ(skipped.worst, Severity::kNone);
  StepFeed<GnormExplosion> unknown(Scaler("pytorch"));
  unknown.Steps({.scale = 1024, .grad_norm = 1}, 3);  // it stands: no search
  unknown.Steps({.scale = 1024, .grad_norm = kInf}, 2);
  EXPECT_EQ(unknown.now, Severity::kNone);
  EXPECT_EQ(unknown.Step({.scale = 1024, .grad_norm = kInf}),
            Severity::kCritical);
}

// The program says that nothing is skipped, and its loop leaves it out.
// Of means the first ones of a row are not shown.
TEST(GnormExplosion, OfMeansItBeginsWhereTheLogSaysSo) {
  StepFeed<GnormExplosion> f(Scaler("pytorch"));
  f.Steps({.scale = 1024, .grad_norm = 1}, 100);
  f.run.settings["norms_not_finite_since"] = "40";
  f.Step({.scale = 1024, .grad_norm = kNan});
  EXPECT_EQ(f.now, Severity::kInfo);
  EXPECT_EQ(f.Described().opened_step, 40);
  f.Steps({.scale = 1024, .grad_norm = kNan}, 3);
  EXPECT_EQ(f.now, Severity::kCritical);
  EXPECT_EQ(f.Described().opened_step, 40);
}

TEST(GnormExplosion, AnUpdateThatFiniteLossesFollowWasLeftOut) {
  StepFeed<GnormExplosion> f(NoScaler());
  const Update fine = {.skipped = false, .loss = 2.5, .grad_norm = 1};
  f.Steps(fine, 70);
  EXPECT_EQ(f.Step({.skipped = false, .grad_norm = kNan}), Severity::kCritical);
  f.Steps(fine, 2);
  ExpectWords(f.Described().sentence);
  f.Steps(fine, 1);
  ExpectWords(f.Described().sentence);
  f.Steps({.skipped = false, .grad_norm = kNan}, 2);
  f.Steps(fine, 3);
  ExpectWords(f.Described().sentence);
  f.Steps({.skipped = false, .grad_norm = kInf}, 2);
  ExpectWords(f.Described().sentence);
  f.Steps(fine, 3);
  ExpectWords(f.Described().sentence);
}

// Hugging Face's log of an fp16 run: no scale, no flag.
TEST(GnormExplosion, ALogWithoutFlagsIsNotAccusedOfAnUpdate) {
  StepFeed<GnormExplosion> start;
  start.Steps({.loss = 2.9, .grad_norm = kNan}, 35);
  EXPECT_EQ(start.worst, Severity::kNone);
  EXPECT_EQ(start.Step({.grad_norm = kNan}), Severity::kCritical);
  StepFeed<GnormExplosion> probes;
  for (int i = 0; i < 10; ++i) {
    probes.Steps({.grad_norm = 1}, 200);
    probes.Step({.grad_norm = kInf});
  }
  EXPECT_EQ(probes.worst, Severity::kNone);
  probes.Steps({.grad_norm = kInf}, 2);
  EXPECT_EQ(probes.now, Severity::kCritical);
  ExpectWords(probes.Described().sentence);
  EXPECT_EQ(probes.Described().opened_step, 2010) << "the first of the three";
}

TEST(GnormExplosion, ARunThatEndsWithOneIsANote) {
  StepFeed<GnormExplosion> feed;
  feed.Steps({.loss = 2.9, .grad_norm = 1}, 200);
  feed.Step({.loss = 2.9, .grad_norm = kNan});
  EXPECT_EQ(feed.now, Severity::kNone) << "the next loss will tell";
  EXPECT_EQ(feed.End(), Severity::kInfo);
  EXPECT_EQ(feed.Described().opened_step, 201);
  StepFeed<GnormExplosion> healed;
  healed.Steps({.loss = 2.9, .grad_norm = 1}, 200);
  healed.Step({.loss = 2.9, .grad_norm = kNan});
  healed.Step({.loss = 2.9, .grad_norm = 1});
  EXPECT_EQ(healed.End(), Severity::kNone);
}

TEST(GnormExplosion, AMillionTimesTheAverageNeedsTenSamples) {
  StepFeed<GnormExplosion> f(NoScaler());
  f.Steps({.grad_norm = 1}, 9);
  EXPECT_EQ(f.Step({.grad_norm = 1e7}), Severity::kNone);
  StepFeed<GnormExplosion> g(NoScaler());
  g.Steps({.grad_norm = 1}, 10);
  EXPECT_EQ(g.Step({.grad_norm = 1e7}), Severity::kWarning);
}

}  // namespace
}  // namespace nanwatch
