#include "scaler/tracker.h"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

namespace nanwatch {
namespace {

using ::testing::Optional;

class Feed {
 public:
  explicit Feed(const ScalerDeclaration& declaration = {}) {
    tracker.Declare(declaration);
  }
  void Step(double scale, bool overflow, int64_t step = -1) {
    StepRecord r;
    r.step = step < 0 ? ++step_ : (step_ = step);
    r.present = 1u << static_cast<int>(StepField::kLossScale);
    r.value[static_cast<int>(StepField::kLossScale)] = scale;
    r.flags_present = 1u << static_cast<int>(StepFlag::kOverflow);
    r.flags = overflow ? r.flags_present : 0;
    tracker.OnStep(r);
  }
  // The record of a log that has no column of overflows.
  void Untold(double scale, int64_t step = -1) {
    StepRecord r;
    r.step = step < 0 ? ++step_ : (step_ = step);
    r.present = 1u << static_cast<int>(StepField::kLossScale);
    r.value[static_cast<int>(StepField::kLossScale)] = scale;
    tracker.OnStep(r);
  }
  void Good(double scale, int times) {
    for (int i = 0; i < times; ++i) Step(scale, false);
  }
  ScalerTracker tracker;

 private:
  int64_t step_ = 0;
};

ScalerDeclaration Declared(const char* name) {
  ScalerDeclaration d;
  d.kind = ScalingKind::kDynamic;
  d.name = name;
  return d;
}

TEST(Tracker, CountsUpdatesStreaksAndGoodSteps) {
  Feed f(Declared("pytorch"));
  f.Step(65536, true);
  f.Step(32768, true);
  f.Step(16384, false);
  f.Step(16384, true);
  EXPECT_EQ(f.tracker.updates(), 4);
  EXPECT_EQ(f.tracker.overflow_streak(), 1);
  EXPECT_EQ(f.tracker.good_steps(), 1);
  EXPECT_THAT(f.tracker.scale(), Optional(16384));
  EXPECT_THAT(f.tracker.first_scale(), Optional(65536));
  EXPECT_EQ(f.tracker.last_transition(), Transition::kHeld);
}

TEST(Tracker, GraceEndsWithTheFirstGoodStepOrTheBudget) {
  Feed f(Declared("pytorch"));
  EXPECT_EQ(f.tracker.grace_updates(), 18);
  for (int i = 0; i < 18; ++i) f.Step(65536 / (1 << i), true);
  EXPECT_TRUE(f.tracker.in_grace());
  f.Step(0.125, true);
  EXPECT_FALSE(f.tracker.in_grace());
  Feed g(Declared("pytorch"));
  g.Step(65536, false);
  EXPECT_FALSE(g.tracker.in_grace());
}

TEST(Tracker, GraceFollowsTheScalersSemantics) {
  EXPECT_EQ(Feed(Declared("megatron")).tracker.grace_updates(), 35);
  ScalerDeclaration ascend = Declared("ascend_tf");
  ascend.init_scale = 4294967296.0;
  ascend.backoff_factor = 0.5;
  EXPECT_EQ(Feed(ascend).tracker.grace_updates(), 67);
  ascend.backoff_factor.reset();  // 0.8: 100 backoffs, bounded
  EXPECT_EQ(Feed(ascend).tracker.grace_updates(), 200);
}

// A log with a column of the scale and none of overflows: those of a search
// have finite losses too, and show in the scale of the next record.
TEST(Tracker, WhatTellsNoOverflowIsNoGoodStepUntilTheScaleStands) {
  Feed f;
  for (int i = 0; i < 12; ++i) {
    f.Untold(65536 >> i);
    EXPECT_TRUE(f.tracker.in_grace()) << i;
    EXPECT_FALSE(f.tracker.good()) << i;
  }
  EXPECT_EQ(f.tracker.highest_good_scale(), 0);
  f.Untold(32);
  f.Untold(32);
  EXPECT_TRUE(f.tracker.in_grace()) << "it stood for two";
  f.Untold(32);
  EXPECT_FALSE(f.tracker.in_grace());
  EXPECT_TRUE(f.tracker.good());
  EXPECT_FALSE(f.tracker.steady()) << "that it is good is new";
  EXPECT_EQ(f.tracker.highest_good_scale(), 32);
  f.Untold(16);
  EXPECT_FALSE(f.tracker.good());
  f.Untold(16);
  EXPECT_TRUE(f.tracker.good()) << "the search is over";
}

TEST(Tracker, WhatTellsNoOverflowIsGoodWhereItSaysSoOrGrew) {
  Feed told;
  told.Untold(65536);
  told.Step(65536, false);
  EXPECT_FALSE(told.tracker.in_grace());
  EXPECT_EQ(told.tracker.highest_good_scale(), 65536);
  Feed grown;
  grown.Untold(65536);
  grown.Untold(131072);
  EXPECT_FALSE(grown.tracker.in_grace());
}

// Every fifth step: five halvings a line, and when they came is not known.
TEST(Tracker, ASearchBetweenStepLinesHasNoGoodStepEither) {
  Feed f;
  int64_t step = 0;
  for (const double scale : {65536.0, 2048.0, 64.0, 8.0}) {
    f.Untold(scale, step += 5);
    EXPECT_TRUE(f.tracker.in_grace()) << scale;
  }
  f.Untold(8, step += 5);
  f.Untold(8, step += 5);
  EXPECT_FALSE(f.tracker.in_grace());
  EXPECT_EQ(f.tracker.highest_good_scale(), 8);
}

TEST(Tracker, ALossThatIsNotFiniteIsNoSearchs) {
  StepRecord r;
  r.step = 1;
  r.present = 1u << static_cast<int>(StepField::kLossScale) |
              1u << static_cast<int>(StepField::kLoss);
  r.value[static_cast<int>(StepField::kLossScale)] = 65536;
  r.value[static_cast<int>(StepField::kLoss)] = NAN;
  Feed f;
  f.tracker.OnStep(r);
  EXPECT_FALSE(f.tracker.in_grace());
}

// Its scale was found before the log begins.
TEST(Tracker, ALogFromTheMidstOfATrainingBeginsNoSearch) {
  Feed f;
  f.Untold(65536, 5000);
  EXPECT_FALSE(f.tracker.in_grace());
  EXPECT_EQ(f.tracker.highest_good_scale(), 65536);
}

TEST(Tracker, FixedScalesAndNoScalerHaveNoGrace) {
  ScalerDeclaration fixed;
  fixed.kind = ScalingKind::kStatic;
  Feed f(fixed);
  f.Step(1024, true);
  EXPECT_FALSE(f.tracker.in_grace());
  EXPECT_FALSE(f.tracker.dynamic());
  f.Step(512, true);
  EXPECT_EQ(f.tracker.last_transition(), Transition::kImpossible);
  EXPECT_EQ(f.tracker.impossible_transitions(), 1u);
  ScalerDeclaration none;
  none.kind = ScalingKind::kNone;
  EXPECT_FALSE(Feed(none).tracker.in_grace());
}

TEST(Tracker, UndeclaredScalesBecomeDynamicWhenTheyMove) {
  Feed f;
  f.Step(65536, false);
  EXPECT_FALSE(f.tracker.dynamic());
  f.Step(32768, true);
  EXPECT_TRUE(f.tracker.dynamic());
  EXPECT_EQ(f.tracker.last_transition(), Transition::kBackedOff);
}

// Runs the model of `name` until it grew twice and fell thrice.
ScalerTracker Simulate(const char* name, double init, bool scale_before) {
  ScalerDeclaration d;
  if (init > 0) d.init_scale = init;
  const ScalerParameters p = Resolve(FindScaler(name), d);
  ScalerModel model(p);
  Feed f;
  const auto step = [&](bool overflow) {
    const double before = model.scale();
    const double after = *model.Next(overflow);
    f.Step(scale_before ? before : after, overflow);
  };
  for (int i = 0; i < 6; ++i) step(true);
  for (int64_t i = 0; i < 2 * p.growth_interval + 2; ++i) step(false);
  for (int i = 0; i < 4; ++i) step(true);
  EXPECT_EQ(f.tracker.impossible_transitions(), 0u) << name;
  return f.tracker;
}

TEST(Tracker, RecognisesScalersFromTransitions) {
  for (const bool before : {true, false}) {
    for (const char* name : {"pytorch", "deepspeed", "megatron", "fairseq"}) {
      const ScalerTracker t = Simulate(name, 0, before);
      ASSERT_NE(t.spec(), nullptr) << name;
      EXPECT_EQ(t.spec()->name, name) << before;
      EXPECT_TRUE(t.recognised());
    }
  }
}

TEST(Tracker, RecognisesNobodyFromHalvingsAlone) {
  Feed f;
  for (double scale = 1000; scale > 100; scale /= 2) f.Step(scale, true);
  EXPECT_EQ(f.tracker.spec(), nullptr);
}

// Both halve from 65536; who prints the log tells them apart.
TEST(Tracker, TheProgramsOwnScalerIsPreferred) {
  const auto fall = [](const char* framework) {
    Feed f;
    f.tracker.Expect(framework);
    for (double scale = 65536; scale > 1000; scale /= 2) f.Step(scale, true);
    return f.tracker.spec()->name;
  };
  EXPECT_EQ(fall(""), "pytorch");
  EXPECT_EQ(fall("hf_trainer+deepspeed"), "deepspeed");
  EXPECT_EQ(fall("gnmt+apex"), "apex");
  EXPECT_EQ(fall("nanogpt"), "pytorch");
}

// The library's first line may come long after the program's.
TEST(Tracker, TheProgramsOwnScalerIsPreferredWhenItIsKnownLate) {
  Feed f;
  f.Good(65536, 10);
  double scale = 65536;
  for (int i = 0; i < 5; ++i) f.Step(scale /= 2, true);
  ASSERT_NE(f.tracker.spec(), nullptr);
  EXPECT_EQ(f.tracker.spec()->name, "pytorch");
  f.tracker.Expect("imagenet+apex");
  EXPECT_EQ(f.tracker.spec()->name, "apex");
}

TEST(Tracker, TheProgramsOwnScalerMayHaveBeenGivenAFloor) {
  Feed f;
  f.tracker.Expect("imagenet+apex");
  f.Good(65536, 10);
  double scale = 65536;
  for (int i = 0; i < 16; ++i) f.Step(scale /= 2, true);
  for (int i = 0; i < 30; ++i) f.Step(1, true);
  ASSERT_NE(f.tracker.spec(), nullptr);
  EXPECT_EQ(f.tracker.spec()->name, "apex");
}

TEST(Tracker, ScalersOfOneProgramAreItsAlone) {
  const auto named = [](const char* framework) {
    Feed f;
    f.tracker.Expect(framework);
    f.Good(8192, 10);
    double scale = 8192;
    for (int i = 0; i < 4; ++i) f.Step(scale /= 2, true);
    return f.tracker.spec();
  };
  ASSERT_NE(named("gnmt"), nullptr);
  EXPECT_EQ(named("gnmt")->name, "gnmt");
  EXPECT_EQ(named("key_value+colossalai")->name, "colossalai");
  EXPECT_EQ(named("insightface")->name, "pytorch");
  const ScalerSpec* unknown = named("");
  EXPECT_TRUE(unknown == nullptr || !unknown->of_one_program);
}

TEST(Tracker, KnowsTheScaleOfTheFirstUpdate) {
  Feed answered(Declared("deepspeed"));  // "Attempted 65536, reducing to 32768"
  answered.Step(32768, true);
  EXPECT_EQ(answered.tracker.first_tried(), 65536);
  Feed forgiven(Declared("megatron"));
  forgiven.Step(4294967296.0, true);
  forgiven.Step(2147483648.0, true);
  EXPECT_EQ(forgiven.tracker.first_tried(), 4294967296.0);
  Feed good(Declared("pytorch"));
  good.Step(32768, false);
  EXPECT_EQ(good.tracker.first_tried(), 32768);
  EXPECT_EQ(Feed().tracker.first_tried(), 0);
}

TEST(Tracker, AScaleThatStandsAtOneIsNoScalersWithoutAFloor) {
  Feed f;
  for (double scale = 65536; scale >= 1; scale /= 2) f.Step(scale, true);
  EXPECT_EQ(f.tracker.spec()->name, "pytorch");
  for (int i = 0; i < 12; ++i) f.Step(1, true);
  ASSERT_NE(f.tracker.spec(), nullptr);
  EXPECT_EQ(f.tracker.spec()->floor, 1) << f.tracker.spec()->name;
}

TEST(Tracker, AClampAtTheCeilingIsAMove) {
  Feed f(Declared("apex"));
  f.Step(10240000, false);
  f.Step(16777216, false);
  EXPECT_EQ(f.tracker.last_transition(), Transition::kGrew);
}

TEST(Tracker, DeclaredScalersAreChecked) {
  Feed f(Declared("pytorch"));
  f.Step(1024, false);
  f.Step(4096, false);  // the scaler's update() called twice
  EXPECT_EQ(f.tracker.last_transition(), Transition::kImpossible);
  f.Step(4096, false);
  EXPECT_EQ(f.tracker.last_transition(), Transition::kHeld);
  f.Step(3276.8, true);  // ratio 0.8 is not PyTorch's
  EXPECT_EQ(f.tracker.impossible_transitions(), 2u);
}

TEST(Tracker, AScaleThatWasNotRestoredIsTold) {
  const auto first = [](double before, double scale, int64_t step) {
    Feed f(Declared("pytorch"));
    f.tracker.Continue(before);
    f.Step(scale, true, step);
    return f.tracker.why_impossible();
  };
  EXPECT_EQ(first(64, 65536, 500), Impossible::kNotRestored);
  EXPECT_EQ(first(64, 512, 500), Impossible::kNotRestored);
  EXPECT_EQ(first(64, 256, 500), Impossible::kNone) << "a probe, saved";
  EXPECT_EQ(first(65536, 64, 500), Impossible::kNone) << "saved in a fall";
  EXPECT_EQ(first(0, 65536, 500), Impossible::kNone) << "not known";
  EXPECT_EQ(first(64, 65536, 0), Impossible::kNone) << "trained anew";
}

// A restart whose steps go on, in one log: the scale is where it began.
TEST(Tracker, AFreshScalerBeginsItsSearchAnew) {
  Feed f;
  for (int i = 0; i < 18; ++i) f.Step(std::ldexp(1, 32 - i), true);
  f.Good(8192, 2000);
  f.Step(0x1p32, true);
  EXPECT_EQ(f.tracker.why_impossible(), Impossible::kNotRestored);
  EXPECT_EQ(f.tracker.good_scale_before(), 8192);
  EXPECT_TRUE(f.tracker.in_grace());
  for (int i = 1; i < 19; ++i) {
    f.Step(std::ldexp(1, 32 - i), true);
    EXPECT_TRUE(f.tracker.in_grace());
    EXPECT_EQ(f.tracker.why_impossible(), Impossible::kNone);
  }
  // Restarted again before a step was good.
  Feed again = f;
  again.Step(0x1p32, true);
  EXPECT_EQ(again.tracker.why_impossible(), Impossible::kNotRestored);
  EXPECT_EQ(again.tracker.good_scale_before(), 8192);
  f.Good(8192, 1);
  EXPECT_FALSE(f.tracker.in_grace());
  EXPECT_EQ(f.tracker.since_start(), 20);
  Feed doubled(Declared("pytorch"));  // by a second update(): no restart
  doubled.Good(1024, 100);
  doubled.Step(32768, false);
  EXPECT_EQ(doubled.tracker.why_impossible(), Impossible::kRatio);
}

TEST(Tracker, ToleratesRoundedScalesAndUnseenUpdates) {
  Feed f(Declared("megatron"));
  f.Step(536870912, true);
  f.Step(268435460, true);  // 2^28 as a float32 prints it
  EXPECT_EQ(f.tracker.last_transition(), Transition::kBackedOff);
  f.Step(65536, false, 100);  // ten-step log lines: many backoffs
  EXPECT_EQ(f.tracker.last_transition(), Transition::kBackedOff);
  f.Step(262144, false, 3000);  // two growths unseen
  EXPECT_EQ(f.tracker.last_transition(), Transition::kGrew);
  EXPECT_EQ(f.tracker.impossible_transitions(), 0u);
}

TEST(Tracker, BelowADeclaredFloorIsImpossible) {
  Feed f(Declared("megatron"));
  f.Step(2, true);
  f.Step(1, true);
  EXPECT_EQ(f.tracker.last_transition(), Transition::kBackedOff);
  f.Step(0.5, true);
  EXPECT_EQ(f.tracker.last_transition(), Transition::kImpossible);
}

TEST(Tracker, ForecastsTheFloorAtTheRateOfTheFall) {
  Feed f(Declared("megatron"));
  f.Good(1024, 50);
  EXPECT_EQ(f.tracker.updates_to_floor(), std::nullopt);
  f.Step(512, true);
  f.Step(256, true);
  EXPECT_THAT(f.tracker.updates_to_floor(), Optional(8));
  f.Good(256, 101);
  EXPECT_EQ(f.tracker.updates_to_floor(), std::nullopt);
  f.Step(512, false);
  EXPECT_EQ(f.tracker.updates_to_floor(), std::nullopt);
}

TEST(Tracker, TheForecastEndsWithTheFall) {
  Feed f(Declared("jmp"));
  f.Good(32768, 50);
  f.Step(16384, true);
  f.Step(8192, true);
  f.Step(4096, true);
  f.Good(4096, 4);
  EXPECT_NE(f.tracker.updates_to_floor(), std::nullopt);
  f.Good(4096, 1);
  EXPECT_EQ(f.tracker.updates_to_floor(), std::nullopt)
      << "five clean updates after a backoff an update";
  f.Step(2048, true);
  EXPECT_NE(f.tracker.updates_to_floor(), std::nullopt) << "it goes on";
}

TEST(Tracker, AFallOfBackoffsFarApartIsOverLater) {
  Feed f(Declared("jmp"));
  double scale = 32768;
  f.Step(scale, false);
  for (int fall = 0; fall < 4; ++fall) {
    f.Step(scale /= 2, true);
    f.Good(scale, 9);
  }
  f.Good(scale, 31);  // 40 clean ones, as long as four distances
  EXPECT_NE(f.tracker.updates_to_floor(), std::nullopt);
  f.Good(scale, 1);
  EXPECT_EQ(f.tracker.updates_to_floor(), std::nullopt);
}

TEST(Tracker, OneBackoffIsForecastForFourCleanUpdates) {
  Feed f(Declared("jmp"));
  f.Good(1024, 50);
  f.Step(512, true);
  f.Good(512, 4);
  EXPECT_NE(f.tracker.updates_to_floor(), std::nullopt);
  f.Good(512, 1);
  EXPECT_EQ(f.tracker.updates_to_floor(), std::nullopt);
}

TEST(Tracker, TheForecastIsTheModels) {
  // Two overflows a backoff, whichever of them the record shows.
  ScalerDeclaration d = Declared("ascend_tf");
  d.init_scale = 4294967296.0;
  d.backoff_factor = 0.5;
  Feed f(d);
  ScalerModel model(Resolve(FindScaler("ascend_tf"), d));
  for (int i = 0; i < 20; ++i) {
    f.Step(model.scale(), true);
    model.Next(true);
    if (i < 2) continue;  // it does not fall yet
    int64_t left = 0;
    ScalerModel ahead = model;
    for (; ahead.scale() > 1; ++left) ahead.Next(true);
    ASSERT_TRUE(f.tracker.updates_to_floor()) << i;
    EXPECT_NEAR(static_cast<double>(*f.tracker.updates_to_floor()),
                static_cast<double>(left), 2)
        << i;
  }
  // Every tenth update overflows: ten times as long.
  Feed slow(Declared("jmp"));
  double scale = 32768;
  slow.Step(scale, false);
  for (int fall = 0; fall < 4; ++fall) {
    slow.Step(scale /= 2, true);
    if (fall < 3) slow.Good(scale, 9);
  }
  // 11 halvings left; 4 in 31 updates so far.
  EXPECT_THAT(slow.tracker.updates_to_floor(), Optional(86));
}

TEST(Tracker, UnusableScalesNeverEnter) {
  Feed f(Declared("pytorch"));
  f.Step(1024, false);
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    f.Step(bad, true);
  }
  EXPECT_THAT(f.tracker.scale(), Optional(1024));
  EXPECT_EQ(f.tracker.impossible_transitions(), 0u);
}

TEST(Tracker, AScaleThatFellToZeroIsZero) {
  Feed f(Declared("pytorch"));
  float scale = 65536;
  for (; scale > 0; scale /= 2) f.Step(scale, true);
  EXPECT_THAT(f.tracker.present_scale(), Optional(f.tracker.scale()));
  f.Step(0, true);
  EXPECT_THAT(f.tracker.present_scale(), Optional(0));
  f.Step(0, false);
  EXPECT_THAT(f.tracker.present_scale(), Optional(0));
  EXPECT_THAT(f.tracker.scale(), Optional(0x1p-149));
  EXPECT_EQ(f.tracker.impossible_transitions(), 0u);
  f.Step(64, false);
  EXPECT_THAT(f.tracker.present_scale(), Optional(64));
}

// A log with too few digits, and a placeholder in place of a number.
TEST(Tracker, AZeroThatOverflowsDoNotExplainIsNotBelieved) {
  Feed f(Declared("pytorch"));
  f.Step(0, true);
  EXPECT_EQ(f.tracker.present_scale(), std::nullopt);
  f.Step(0.25, false);
  f.Step(0, false);
  EXPECT_THAT(f.tracker.present_scale(), Optional(0.25));
}

// A loss alone says of no update what became of it, whatever the scaler.
TEST(Tracker, FateIsUnknownWhereNothingSaysIt) {
  for (const ScalingKind kind : {ScalingKind::kUnknown, ScalingKind::kNone,
                                 ScalingKind::kStatic, ScalingKind::kDynamic}) {
    ScalerDeclaration d;
    d.kind = kind;
    ScalerTracker t;
    t.Declare(d);
    t.OnStep({});
    EXPECT_EQ(t.fate(), Fate::kUnknown);
    EXPECT_EQ(t.presumed_fate(),
              kind == ScalingKind::kDynamic ? Fate::kUnknown : Fate::kApplied);
  }
}

TEST(Tracker, FateSaysWhetherAnUpdateWasApplied) {
  ScalerDeclaration off = Declared("ascend_tf_fixed");
  off.overflow_check = false;
  Feed f(off);
  f.Step(128, true);
  EXPECT_EQ(f.tracker.fate(), Fate::kApplied);
  Feed g(Declared("pytorch"));
  g.Step(128, true);
  EXPECT_EQ(g.tracker.fate(), Fate::kLost);
  g.Step(64, false);
  EXPECT_EQ(g.tracker.fate(), Fate::kApplied);
  StepRecord bare;
  g.tracker.OnStep(bare);
  EXPECT_EQ(g.tracker.fate(), Fate::kUnknown);
}

TEST(Tracker, WithoutFlagsAFallIsAnOverflow) {
  ScalerTracker t;
  t.Declare({});
  StepRecord r;
  r.present = 1u << static_cast<int>(StepField::kLossScale);
  for (const double scale : {1024.0, 512.0, 512.0}) {
    r.value[static_cast<int>(StepField::kLossScale)] = scale;
    ++r.step;
    t.OnStep(r);
    EXPECT_EQ(t.overflowed(), scale == 512 && r.step == 2) << r.step;
  }
}

}  // namespace
}  // namespace nanwatch
