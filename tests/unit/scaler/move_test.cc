// What declared scalers never do, record after record.

#include "scaler/move.h"

#include <gmock/gmock.h>

#include "model/scale_bound.h"
#include "scaler/tracker.h"

namespace nanwatch {
namespace {

class Feed {
 public:
  explicit Feed(const char* name, int64_t interval = 0) {
    ScalerDeclaration d;
    d.kind = ScalingKind::kDynamic;
    d.name = name;
    if (interval > 0) d.growth_interval = interval;
    tracker.Declare(d);
  }
  Impossible Step(double scale, bool overflow, int64_t step = -1) {
    StepRecord r;
    r.step = step_ = step < 0 ? step_ + 1 : step;
    r.present = 1u << static_cast<int>(StepField::kLossScale);
    r.value[static_cast<int>(StepField::kLossScale)] = scale;
    r.flags_present = 1u << static_cast<int>(StepFlag::kOverflow);
    r.flags = overflow ? r.flags_present : 0;
    tracker.OnStep(r);
    return tracker.why_impossible();
  }
  Impossible Good(double scale, int times) {
    for (int i = 1; i < times; ++i) Step(scale, false);
    return Step(scale, false);
  }
  uint64_t impossible() const { return tracker.impossible_transitions(); }
  ScalerTracker tracker;

 private:
  int64_t step_ = 0;
};

TEST(Move, HealthyRunsOfEveryScalerAreQuiet) {
  for (const ScalerSpec& spec : AllScalers()) {
    for (const bool before : {true, false}) {
      ScalerDeclaration d;
      d.init_scale = spec.init > 0 ? spec.init : 65536;
      d.growth_interval = 40;
      ScalerModel model(Resolve(&spec, d));
      if (!model.Next(false)) continue;  // statistical
      Feed f(std::string(spec.name).c_str(), 40);
      for (int i = 0; i < 4000; ++i) {
        // Calibration, then overflows in ones, twos and threes.
        const bool overflow = i < 12 || i % 97 < (i / 97) % 4;
        const double from = model.scale();
        model.Next(overflow);
        f.Step(before ? from : model.scale(), overflow);
      }
      EXPECT_EQ(f.impossible(), 0u) << spec.name << " " << before;
    }
  }
}

TEST(Move, PopartGrowsOrFallsByOneFactorAnUpdate) {
  Feed f("popart");
  f.Step(1024, false);
  EXPECT_EQ(f.Step(2048, false), Impossible::kNone);
  EXPECT_EQ(f.Step(1024, false), Impossible::kNone);
  EXPECT_EQ(f.Step(8192, false), Impossible::kRatio);
  // Over three updates, two of which are not seen.
  EXPECT_EQ(f.Step(1024, false, 7), Impossible::kNone);
  // Those that follow their statistics anywhere.
  for (const char* name : {"adaloss", "te_delayed", "te_current", "ms_amp"}) {
    Feed any(name);
    any.Step(1024, false);
    EXPECT_EQ(any.Step(8192, false), Impossible::kNone) << name;
    EXPECT_EQ(any.Step(3, false), Impossible::kNone) << name;
  }
  Feed none("unit_scaling");
  none.Step(1, false);
  EXPECT_EQ(none.Step(2, false), Impossible::kRatio);
}

TEST(Move, AGrowthAtAnOverflowIsImpossible) {
  Feed f("pytorch", 10);
  f.Good(1024, 20);
  f.Step(1024, true);  // recorded before the update
  EXPECT_EQ(f.Step(2048, true), Impossible::kGrewAtOverflow);
  EXPECT_EQ(f.tracker.last_transition(), Transition::kImpossible);
  EXPECT_EQ(f.impossible(), 1u);
}

TEST(Move, TheOrderOfScaleAndUpdateIsLearnedFromFalls) {
  Feed after("pytorch", 10);
  after.Good(1024, 20);
  after.Step(512, true);
  after.Good(512, 9);
  EXPECT_EQ(after.Step(1024, true), Impossible::kGrewAtOverflow);
  Feed before("pytorch", 10);
  before.Good(1024, 20);
  before.Step(1024, true);
  before.Good(512, 10);
  EXPECT_EQ(before.Step(1024, true), Impossible::kNone);
}

TEST(Move, AGrowthLongBeforeItsIntervalIsImpossibleButNotTheFirst) {
  Feed f("pytorch", 100);
  f.Good(1024, 5);
  EXPECT_EQ(f.Step(2048, false), Impossible::kNone);  // counted before us
  f.Good(2048, 99);
  EXPECT_EQ(f.Step(4096, false), Impossible::kNone);
  f.Good(4096, 49);  // two updates a step
  EXPECT_EQ(f.Step(8192, false), Impossible::kGrewEarly);
  EXPECT_EQ(f.impossible(), 1u);
}

TEST(Move, IntervalsThatAreNotDeclaredMayBeShorter) {
  Feed f("pytorch");
  f.Good(1024, 5);
  f.Good(2048, 200);
  EXPECT_EQ(f.Step(4096, false), Impossible::kNone);
  f.Good(4096, 9);
  EXPECT_EQ(f.Step(8192, false), Impossible::kGrewEarly);
}

TEST(Move, AfterAResumeTheFirstGrowthMayComeAtAnyTime) {
  Feed f("pytorch", 100);
  f.Good(1024, 5);
  f.Good(2048, 50);
  f.Step(2048, false, 20);
  EXPECT_EQ(f.Step(4096, false), Impossible::kNone);
}

// "0" says that it is no more than a half: no ratio leads there.
TEST(Move, AScaleThatAPrintRoundsToZeroMayHaveComeFromAnyAbove) {
  Feed f("pytorch", 50);
  f.Good(0x1p-3, 60);
  EXPECT_EQ(f.Step(AtMost(0.03125), true, 200), Impossible::kNone);
  EXPECT_EQ(f.Step(0x1p-3, false, 400), Impossible::kNone);
  EXPECT_EQ(f.impossible(), 0u);
  Feed low("pytorch", 50);
  low.Good(0x1p-20, 60);
  low.Step(AtMost(0.03125), true, 200);
  EXPECT_EQ(low.tracker.last_transition(), Transition::kHeld);
  EXPECT_EQ(low.tracker.scale(), 0x1p-20) << "it is no higher";
  Feed floor("fairseq");  // at 1e-4
  floor.Good(1, 60);
  EXPECT_EQ(floor.Step(AtMost(0x1p-20), true, 200), Impossible::kRatio);
  Feed grew("pytorch", 50);
  grew.Good(0x1p-3, 60);
  grew.Step(AtMost(0.03125), true);
  EXPECT_EQ(grew.Step(1, false), Impossible::kRatio) << "in one update";
}

TEST(Move, LogsWithGapsCountTheirSteps) {
  Feed f("megatron", 1000);
  for (int64_t step = 100; step <= 900; step += 100) f.Step(1024, false, step);
  f.Step(2048, false, 1000);
  for (int64_t step = 1100; step < 2000; step += 100) {
    f.Step(2048, false, step);
  }
  EXPECT_EQ(f.Step(4096, false, 2000), Impossible::kNone);
  f.Step(4096, true, 2100);
  EXPECT_EQ(f.Step(256, true, 2200), Impossible::kNone);
}

TEST(Move, OneOverflowTakesOneBackoff) {
  Feed f("pytorch");
  f.Good(1024, 5);
  EXPECT_EQ(f.Step(256, true), Impossible::kFellTwice);
  Feed unseen("fairseq");  // only updates that went well are recorded
  unseen.Good(128, 5);
  EXPECT_EQ(unseen.Step(16, false), Impossible::kNone);
  Feed floor("megatron");
  floor.Good(1.5, 5);
  EXPECT_EQ(floor.Step(1, true), Impossible::kNone);
}

TEST(Move, SharedScalersMoveBetweenTwoRecords) {
  Feed f("pytorch", 100);
  f.tracker.Share();
  f.Good(1024, 5);
  EXPECT_EQ(f.Step(256, true), Impossible::kNone);
  f.Good(256, 49);
  EXPECT_EQ(f.Step(512, false), Impossible::kNone);
}

TEST(Move, AScaleThatStandsUnderOverflowsIsNeverUpdated) {
  Feed f("pytorch");
  f.Step(1024, false);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(f.Step(1024, true), Impossible::kNone);
  EXPECT_EQ(f.Step(1024, true), Impossible::kNeverFell);
  EXPECT_TRUE(f.tracker.never_falls());
  EXPECT_EQ(f.Step(1024, true), Impossible::kNone);  // said once
  EXPECT_TRUE(f.tracker.never_falls());
  EXPECT_EQ(f.impossible(), 1u);
}

TEST(Move, AtTheFloorOrForgivingAScaleMayStand) {
  Feed floor("megatron");
  for (int i = 0; i < 50; ++i) floor.Step(1, true);
  EXPECT_EQ(floor.impossible(), 0u);
  Feed forgives("megatron");
  for (int i = 0; i < 9; ++i) forgives.Step(64, true);
  EXPECT_EQ(forgives.impossible(), 0u);
  EXPECT_EQ(forgives.Step(64, true), Impossible::kNeverFell);
}

}  // namespace
}  // namespace nanwatch
