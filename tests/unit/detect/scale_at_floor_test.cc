// Rule 1: a scale that cannot fall any more.

#include "detect/scale_at_floor.h"

#include <gmock/gmock.h>

#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

TEST(ScaleAtFloor, WarnsAtTheFloorAndIsCriticalWhenOverflowsGoOn) {
  StepFeed<ScaleAtFloor> f(Scaler("deepspeed"));
  f.Good(4, 10);
  f.Scale(2, true);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Scale(1, true);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Scale(1, true);
  f.Scale(1, true);
  EXPECT_EQ(f.now, Severity::kWarning) << "as runs that recovered had";
  f.Scale(1, true);
  EXPECT_EQ(f.now, Severity::kCritical);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Described().opened_step, 12);
}

TEST(ScaleAtFloor, WithoutAGoodUpdateTheFallCountsToo) {
  StepFeed<ScaleAtFloor> f(Scaler("deepspeed"));  // deepspeed#697
  f.Scale(4, true);
  f.Scale(1, true);
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Scale(1, true), Severity::kCritical);
}

// All overflow since it stood 2048 times higher, where training went well.
TEST(ScaleAtFloor, AFallFromFarAboveIsCriticalAtTheSecondOverflowThere) {
  StepFeed<ScaleAtFloor> f(Scaler("deepspeed"));
  f.Good(2048, 200);
  f.Fall(2048, 11);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Scale(1, true);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Scale(1, true), Severity::kCritical);
  // A fall of some octaves is survived there.
  StepFeed<ScaleAtFloor> near(Scaler("deepspeed"));
  near.Good(64, 200);
  near.Fall(64, 6);
  near.Steps({.scale = 1, .overflow = true}, 2);
  EXPECT_EQ(near.now, Severity::kWarning);
  // So is a search, with a good update half way.
  StepFeed<ScaleAtFloor> search(Scaler("deepspeed"));
  search.Good(search.Fall(0x1p32, 16), 3);
  search.Fall(65536, 16);
  search.Steps({.scale = 1, .overflow = true}, 2);
  EXPECT_EQ(search.now, Severity::kWarning);
}

TEST(ScaleAtFloor, ALongSearchMayEndThere) {
  StepFeed<ScaleAtFloor> f(Scaler("deepspeed"));  // GPT-Neo 2.7B, converged
  const double scale = f.Fall(0x1p33, 33);
  f.Scale(scale, true);
  f.Scale(scale, true);
  EXPECT_EQ(f.Good(1, 199), Severity::kWarning);
  EXPECT_EQ(f.Good(1, 1), Severity::kNone);
}

TEST(ScaleAtFloor, NamesNoFloorWhereTheScalerHasNone) {
  StepFeed<ScaleAtFloor> f(Scaler("pytorch"));
  f.Good(4, 10);
  f.Fall(4, 2);
  EXPECT_EQ(f.now, Severity::kWarning);
  ExpectWords(f.Described().sentence);
  f.Fall(1, 20);
  ExpectWords(f.Described().sentence);
}

TEST(ScaleAtFloor, IsolatedOverflowsAtTheFloorAreNotCritical) {
  StepFeed<ScaleAtFloor> f(Scaler("deepspeed"));
  f.Good(2, 1);
  for (int i = 0; i < 20; ++i) {
    f.Scale(1, true);
    f.Good(1, 5);
  }
  EXPECT_EQ(f.worst, Severity::kWarning);
}

TEST(ScaleAtFloor, ClearsWhenOverflowsEndThoughTheScaleStays) {
  StepFeed<ScaleAtFloor> f(Scaler("deepspeed"));
  f.Good(2, 1);
  f.Scale(1, true);
  EXPECT_EQ(f.Good(1, 199), Severity::kWarning);
  EXPECT_EQ(f.Good(1, 1), Severity::kNone);
  EXPECT_EQ(f.Good(1, 500), Severity::kNone);
}

// Gradients fit at 1 or 2, and the scaler probes: said once, for information.
TEST(ScaleAtFloor, ProbesOfAScalerThatLivesThereAreANote) {
  StepFeed<ScaleAtFloor> f(Scaler("deepspeed"));
  f.Fall(65536, 16);
  EXPECT_EQ(f.now, Severity::kWarning);
  for (int i = 0; i < 20; ++i) {
    f.Good(1, 100);
    f.Good(2, 1);
    f.Scale(1, true);
    EXPECT_LE(f.now, i < 1 ? Severity::kWarning : Severity::kInfo) << i;
  }
  EXPECT_EQ(f.now, Severity::kInfo);
  f.Steps({.scale = 1, .overflow = true}, 3);
  EXPECT_EQ(f.now, Severity::kCritical) << "that is no probe";
  StepFeed<ScaleAtFloor> slow(Scaler("deepspeed"));  // never grows between
  for (const double scale : {8.0, 4.0, 2.0, 1.0}) {
    slow.Good(2 * scale, 200);
    slow.Scale(scale, true);
  }
  EXPECT_EQ(slow.now, Severity::kWarning);
}

// Moves by halves are fairseq's, too, whose floor is 1e-4; overflow upon
// overflow that leaves the scale at 1 shows another.
TEST(ScaleAtFloor, AScaleOfOneThatStandsIsAtItsFloorWhateverItsMovesFit) {
  StepFeed<ScaleAtFloor> f;
  f.run.framework = "event_table";
  f.Good(128, 20);
  f.Fall(128, 7);
  ASSERT_NE(f.tracker.spec(), nullptr);
  EXPECT_LT(f.tracker.floor(), 1);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Scale(1, true);
  EXPECT_EQ(f.now, Severity::kNone) << "it may forgive one";
  EXPECT_EQ(f.Scale(1, true), Severity::kWarning);
  EXPECT_EQ(f.Scale(1, true), Severity::kCritical);
  ExpectWords(f.Described().sentence);
}

TEST(ScaleAtFloor, ScaleOneFromTheStartIsNoFloor) {
  StepFeed<ScaleAtFloor> undeclared;
  EXPECT_EQ(undeclared.Good(1, 100), Severity::kNone);
  StepFeed<ScaleAtFloor> fixed(FixedScale());
  fixed.Steps({.scale = 1, .overflow = true}, 100);
  EXPECT_EQ(fixed.worst, Severity::kNone);
}

TEST(ScaleAtFloor, TheScalersOwnFloorCounts) {
  StepFeed<ScaleAtFloor> f(Scaler("fairseq"));
  f.Good(2, 5);
  f.Fall(2, 12);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Scale(1e-4, true);
  EXPECT_EQ(f.now, Severity::kWarning);
}

TEST(ScaleAtFloor, ScalerWithoutFloorIsCriticalOnItsWayThroughOne) {
  StepFeed<ScaleAtFloor> f;  // apex#834
  f.Fall(65536, 16);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Scale(0.5, true);
  EXPECT_EQ(f.now, Severity::kCritical);
}

// fairseq#506 lives below 1: a short search that ends there is none yet.
TEST(ScaleAtFloor, ShortSearchMayEndBelowOne) {
  StepFeed<ScaleAtFloor> f;
  f.Fall(4, 2);
  f.Scale(0.5, true);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Good(0.5, 300);
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(ScaleAtFloor, OfIcefallIsWhereItsProgramWarns) {
  StepFeed<ScaleAtFloor> f;
  f.run.framework = "icefall";
  f.Good(2, 5);
  f.Scale(0.5, true);
  EXPECT_EQ(f.Good(0.5, 10), Severity::kNone);
  f.Fall(0.5, 6);
  EXPECT_EQ(f.now, Severity::kWarning);
}

// icefall: 1 to 0.0039 within a line, and doubled every four lines.
TEST(ScaleAtFloor, WhatRoseFarAboveItsFloorIsOver) {
  StepFeed<ScaleAtFloor> f(Scaler("pytorch"));
  f.Good(4, 10);
  f.Fall(4, 2);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Good(2, 4);
  f.Good(8, 4);
  EXPECT_EQ(f.now, Severity::kWarning) << "it recovered a little";
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Good(16, 1), Severity::kNone);
  f.Fall(16, 4);
  EXPECT_EQ(f.now, Severity::kWarning) << "it fell again";
}

}  // namespace
}  // namespace nanwatch
