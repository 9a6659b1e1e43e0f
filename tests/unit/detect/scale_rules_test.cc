// Rules 1 to 4, 9 and 14: where the loss scale is.

#include <gmock/gmock.h>

#include <cmath>
#include <span>

#include "detect/scale_at_floor.h"
#include "detect/scale_below_one.h"
#include "detect/scale_collapse.h"
#include "detect/scale_discontinuity.h"
#include "detect/scale_limit_cycle.h"
#include "detect/scale_unrepresentable.h"
#include "model/scale_bound.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

using ::testing::HasSubstr;

// --- 1 scale_at_floor --------------------------------------------------------

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
  EXPECT_THAT(f.Described().sentence, HasSubstr("its floor is 1"));
  EXPECT_EQ(f.Described().opened_step, 12);
}

TEST(ScaleAtFloor, WithoutAGoodAttemptTheFallCountsToo) {
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
  EXPECT_THAT(f.Described().sentence, HasSubstr("; 1 overflow came at"));
  EXPECT_EQ(f.Scale(1, true), Severity::kCritical);
  // A fall of some octaves is survived there.
  StepFeed<ScaleAtFloor> near(Scaler("deepspeed"));
  near.Good(64, 200);
  near.Fall(64, 6);
  near.Steps({.scale = 1, .overflow = true}, 2);
  EXPECT_EQ(near.now, Severity::kWarning);
  // So is a search, with a good attempt half way.
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
  EXPECT_THAT(f.Described().sentence,
              AllOf(HasSubstr("fell to 1,"), HasSubstr("no floor")));
  f.Fall(1, 20);
  EXPECT_THAT(f.Described().sentence, Not(HasSubstr("its floor is")));
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
  EXPECT_THAT(f.Described().sentence, HasSubstr("3 overflows came there"));
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

// --- 2 scale_below_one -------------------------------------------------------

TEST(ScaleBelowOne, WarnsAfterTwoAttempts) {
  StepFeed<ScaleBelowOne> f(Scaler("pytorch"));
  f.Good(1, 3);
  f.Scale(0.5, true);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Good(0.5, 1);
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Good(0.5, 198), Severity::kWarning);
}

TEST(ScaleBelowOne, GrowingOverflowsMakeItCritical) {
  StepFeed<ScaleBelowOne> f(Scaler("fairseq"));  // fairseq#512
  f.Good(0.5, 3);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Fall(0.5, 3);
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

TEST(ScaleBelowOne, ClearsAtTwo) {
  StepFeed<ScaleBelowOne> f(Scaler("pytorch"));
  f.Good(1, 1);
  f.Scale(0.5, true);
  f.Good(0.5, 2);
  EXPECT_EQ(f.Good(2, 198), Severity::kWarning);
  EXPECT_EQ(f.Good(2, 1), Severity::kNone);
}

// InsightFace, at 0 for thousands of steps: neither the scale nor whether they
// overflowed is known.
TEST(ScaleBelowOne, AttemptsOfWhichNothingIsKnownClearNothing) {
  StepFeed<ScaleBelowOne> f(Scaler("pytorch"));
  f.Steps({.scale = 1024}, 3);
  EXPECT_EQ(f.Steps({.scale = AtMost(0.5)}, 1000), Severity::kWarning);
  EXPECT_EQ(f.Described().sentence,
            "The loss scale is 0.5 or less, below 1, for 1000 attempts, at "
            "least 1 of which overflowed: gradients are made smaller than "
            "without any scaling.");
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
  const auto after = [](int attempts, double scale, double fall) {
    StepFeed<ScaleBelowOne> f;
    for (int i = 0; i < attempts; ++i) {
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
  EXPECT_THAT(dead.Described().sentence,
              HasSubstr("it never moves, and the loss does"));
}

// --- 3 scale_unrepresentable -------------------------------------------------

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
  EXPECT_THAT(f.Described().sentence, HasSubstr("is 0 since step 1,"));
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

// --- 4 scale_collapse --------------------------------------------------------

TEST(ScaleCollapse, SixteenfoldWarnsAndADeepFallNearTheFloorIsCritical) {
  StepFeed<ScaleCollapse> f(Scaler("pytorch"));
  f.Good(65536, 100);
  f.Fall(65536, 3);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Scale(4096, true);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Fall(4096, 7);
  EXPECT_EQ(f.now, Severity::kWarning) << "well above the floor";
  f.Fall(32, 1);
  EXPECT_EQ(f.now, Severity::kCritical);
  EXPECT_THAT(f.Described().sentence, HasSubstr("from 65536"));
}

TEST(ScaleCollapse, AFallThatEndsAboveTheFloorIsAWarning) {
  StepFeed<ScaleCollapse> f(Scaler("megatron"));
  f.Good(65536, 1000);
  f.Fall(65536, 9);
  f.Good(128, 1000);
  EXPECT_EQ(f.worst, Severity::kWarning);
  EXPECT_EQ(f.now, Severity::kNone);
}

// Keras and DeepSpeed grow without a ceiling, past what a float holds.
// LlamaFactory#8514: 512 to 4 in seven overflows, and no more is told.
TEST(ScaleCollapse, WhereAllIsOverARowThatTookItNearTheFloorIsCritical) {
  const auto end = [](double from, int overflows, int good) {
    StepFeed<ScaleCollapse> f;
    f.Good(from, 10);
    f.Good(f.Fall(from, overflows), good);
    return f.End();
  };
  EXPECT_EQ(end(512, 7, 0), Severity::kCritical);
  EXPECT_EQ(end(512, 5, 0), Severity::kCritical);
  EXPECT_EQ(end(512, 4, 0), Severity::kWarning) << "a batch or two do that";
  EXPECT_EQ(end(512, 7, 1), Severity::kWarning) << "it fits there";
  EXPECT_EQ(end(65536, 7, 0), Severity::kWarning) << "far from the floor";
  EXPECT_EQ(end(128, 3, 0), Severity::kNone);
  StepFeed<ScaleCollapse> f;
  f.Good(512, 10);
  f.Fall(512, 7);
  f.End();
  EXPECT_EQ(f.Described().opened_step, 14) << "it was found before";
  StepFeed<ScaleCollapse> stands;
  stands.Good(32, 10);
  stands.Fall(32, 3);
  for (int i = 0; i < 3; ++i) stands.Scale(4, true);
  EXPECT_EQ(stands.now, Severity::kNone);
  EXPECT_EQ(stands.End(), Severity::kCritical);
  EXPECT_EQ(stands.Described().opened_step, 11);
}

TEST(ScaleCollapse, WhereAllIsOverASearchOfTheStartIsNone) {
  for (const int overflows : {5, 12, 28, 31}) {
    StepFeed<ScaleCollapse> f(Scaler("deepspeed"));
    f.Fall(4294967296.0, overflows);
    EXPECT_EQ(f.End(), Severity::kNone) << overflows;
  }
}

TEST(ScaleCollapse, AScaleBeyondFloatIsNoFall) {
  StepFeed<ScaleCollapse> f(Scaler("deepspeed"));
  for (int i = 120; i < 132; ++i) f.Good(std::ldexp(1, i), 300);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleCollapse, StartUpDescentIsNoCollapse) {
  StepFeed<ScaleCollapse> f(Scaler("megatron"));
  f.Fall(4294967296.0 * 2, 17);
  f.Good(65536, 500);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleCollapse, DescentWithAGoodStepNearItsEndIsNoCollapse) {
  // 2^32 to 1 at the start with good steps at 8 and 1 only; it converged.
  StepFeed<ScaleCollapse> f(Scaler("deepspeed"));
  f.Fall(4294967296.0, 29);
  f.Good(8, 2);
  f.Fall(8, 3);
  f.Good(1, 1);
  f.Scale(1, true);
  f.Good(1, 1000);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleCollapse, SawtoothOfOneHalvingIsHealthy) {
  StepFeed<ScaleCollapse> f(Scaler("pytorch"));
  for (int i = 0; i < 50; ++i) {
    f.Good(65536, 40);
    f.Scale(32768, true);
    f.Good(32768, 40);
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleCollapse, ClearsAtTheNewLevel) {
  StepFeed<ScaleCollapse> f(Scaler("pytorch"));
  f.Good(65536, 100);
  f.Fall(65536, 5);
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Good(2048, 600), Severity::kWarning);
  EXPECT_EQ(f.Good(2048, 200), Severity::kNone);
}

TEST(ScaleCollapse, ALevelBelowOneIsNone) {
  StepFeed<ScaleCollapse> f;
  f.Good(8192, 100);
  f.Good(0.5, 2000);
  EXPECT_EQ(f.now, Severity::kCritical);
  f.Good(1, 500);
  EXPECT_EQ(f.now, Severity::kNone);
}

// A line of every ten steps stands for ten attempts.
TEST(ScaleCollapse, ClearsAfterAsManyAttemptsWhereLinesAreFew) {
  StepFeed<ScaleCollapse> f;
  f.Steps({.scale = 8192, .unseen = 9}, 100);
  f.Steps({.scale = 128, .unseen = 9}, 60);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Steps({.scale = 128, .unseen = 9}, 11);
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(ScaleCollapse, StatisticalScalersMoveAsTheyLike) {
  StepFeed<ScaleCollapse> f(Scaler("openseq2seq_logmax"));
  f.Good(16384, 100);
  f.Good(16, 10);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleCollapse, ASearchThatTellsNoOverflowWasNeverHigher) {
  StepFeed<ScaleCollapse> f;
  double scale = 65536;
  for (int i = 0; i < 14; ++i) f.Step({.scale = scale /= 2, .loss = 9});
  f.Steps({.scale = scale, .loss = 8}, 1000);
  EXPECT_EQ(f.worst, Severity::kNone);
  // It stood, and fell later.
  StepFeed<ScaleCollapse> later;
  later.Steps({.scale = 65536, .loss = 9}, 10);
  for (scale = 65536; scale > 4;) later.Step({.scale = scale /= 2, .loss = 9});
  EXPECT_EQ(later.now, Severity::kCritical);
}

// --- 9 scale_limit_cycle -----------------------------------------------------

TEST(ScaleLimitCycle, FiresOnApex1135) {
  StepFeed<ScaleLimitCycle> f;
  const double up = 0x1p-9;
  for (const double scale :
       {2 * up, 4 * up, 2 * up, up, up / 2, up, up / 2, up, up / 2, 2 * up, up,
        up / 2, up / 4, up / 2, up / 4, up / 2}) {
    f.Scale(scale, true);
  }
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_THAT(f.Described().sentence, HasSubstr("changed direction"));
}

TEST(ScaleLimitCycle, RoundingIsNoTurn) {
  StepFeed<ScaleLimitCycle> f;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(f.Good(i % 2 == 0 ? 4096.0 : 4096.001, 1), Severity::kNone) << i;
  }
}

TEST(ScaleLimitCycle, OrdinaryProbesAreNoCycleAndItClears) {
  StepFeed<ScaleLimitCycle> f(Scaler("pytorch"));
  for (int i = 0; i < 20; ++i) {
    f.Scale(32768, true);
    f.Good(32768, 9);
    f.Good(65536, 1);
  }
  EXPECT_EQ(f.worst, Severity::kNone);
  for (int i = 0; i < 4; ++i) {
    f.Good(32768, 1);
    f.Good(65536, 1);
  }
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Good(65536, 199), Severity::kNone);
}

// --- 14 scale_discontinuity --------------------------------------------------

TEST(ScaleDiscontinuity, FiresOnAResetAndClearsAfterAThousand) {
  StepFeed<ScaleDiscontinuity> f(Scaler("pytorch"));
  f.Good(128, 10);
  EXPECT_EQ(f.Good(65536, 1), Severity::kWarning);
  EXPECT_THAT(f.Described().sentence, HasSubstr("from 128 to 65536"));
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
  EXPECT_THAT(f.Described().sentence,
              AllOf(HasSubstr("stands at 1024"), HasSubstr("update()")));
  EXPECT_EQ(f.Good(1024, 1000), Severity::kNone);
}

TEST(ScaleDiscontinuity, SaysWhatTheScalerNeverDoes) {
  StepFeed<ScaleDiscontinuity> f(Scaler("pytorch"));
  f.Good(1024, 10);
  f.Scale(256, true);
  EXPECT_THAT(f.Described().sentence, HasSubstr("never does at one overflow"));
}

// --- logs that show every tenth or hundredth step ----------------------------

TEST(ScaleUnrepresentable, AZeroWithTooFewDigitsIsAWarningUntilItIsOver) {
  StepFeed<ScaleUnrepresentable> f;
  f.Good(0.125, 10);
  EXPECT_EQ(f.Scale(0, false), Severity::kWarning);
  EXPECT_THAT(f.Described().sentence, HasSubstr("too few digits"));
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

TEST(ScaleLimitCycle, RidingTheEdgeBetweenStepLinesIsHealthy) {
  StepFeed<ScaleLimitCycle> lines;
  StepFeed<ScaleLimitCycle> steps;
  for (int i = 0; i < 200; ++i) {
    const double scale = i % 2 == 0 ? 1024 : 2048;
    lines.Step({.scale = scale, .unseen = 99});
    steps.Step({.scale = scale});
  }
  EXPECT_EQ(lines.worst, Severity::kNone);
  EXPECT_EQ(steps.worst, Severity::kWarning);
}

TEST(ScaleCollapse, AGoodAttemptHalfWayDownWorkedAtNoKnownScale) {
  // BigScience's small GPT-2: 10 of 10 skipped, then 8 of 10, then good.
  StepFeed<ScaleCollapse> f;
  f.Steps({.overflow = true}, 9);
  f.Step({.scale = 0x1p23, .overflow = true});
  for (int i = 0; i < 9; ++i) f.Step({.overflow = i != 4});
  f.Good(0x1p15, 1);
  f.Good(0x1p14, 100);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(ScaleCollapse, ALongDescentBetweenStepLinesIsHealthy) {
  // Five halvings in 5000 steps: gradients grow as the warm-up ends.
  StepFeed<ScaleCollapse> f;
  for (int i = 0; i < 51; ++i) {
    f.Step({.scale = std::ldexp(65536, -i / 10), .unseen = 99});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
  // The same within 60 steps is what the rule is for: tr1-13B.
  StepFeed<ScaleCollapse> fell;
  fell.Steps({.scale = 65536, .unseen = 9}, 20);
  fell.Step({.scale = 8192, .unseen = 9});
  fell.Step({.scale = 4096, .unseen = 9});
  EXPECT_EQ(fell.worst, Severity::kWarning);
}

// --- 2 and 3 of layer-wise scales --------------------------------------------

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
    EXPECT_THAT(f.Described().sentence, HasSubstr("of the layer head"));
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
  EXPECT_THAT(f.Described().sentence, HasSubstr("of the layer head is 0.5"));
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
