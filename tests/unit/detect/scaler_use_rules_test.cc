// Rules 10, 11, 55 and 57: whether scaler, schedule and metrics are used as
// they are meant to be.

#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "detect/lr_skip_desync.h"
#include "detect/metric_absent_as_zero.h"
#include "detect/scale_runaway.h"
#include "detect/scale_stuck.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

// --- 10 scale_stuck ----------------------------------------------------------

ScalerDeclaration Interval(int64_t interval) {
  ScalerDeclaration d = Scaler("pytorch");
  d.growth_interval = interval;
  return d;
}

TEST(ScaleStuck, FourDeclaredIntervalsAreANoteUntilItMoves) {
  StepFeed<ScaleStuck> f(Interval(100));
  f.Scale(1024, false);
  f.Good(1024, 399);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Good(1024, 1);
  EXPECT_EQ(f.now, Severity::kInfo);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Described().opened_step, 2);
  EXPECT_EQ(f.Good(2048, 1), Severity::kNone);
}

TEST(ScaleStuck, AnIntervalThatIsNotDeclaredGetsSixteen) {
  StepFeed<ScaleStuck> f(Scaler("pytorch"));
  f.Good(1024, 16 * 2000);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Good(1024, 1);
  EXPECT_EQ(f.now, Severity::kInfo);
}

TEST(ScaleStuck, RidingTheEdgeBetweenStepLinesIsHealthy) {
  // Every hundredth step is recorded: what the scale did between is unknown.
  StepFeed<ScaleStuck> f(Interval(100));
  f.Steps({.scale = 1024, .overflow = false, .unseen = 99}, 5000);
  EXPECT_EQ(f.worst, Severity::kNone);
  // Records without a scale and without a flag.
  StepFeed<ScaleStuck> blind(Interval(100));
  blind.Good(1024, 10);
  blind.Steps({.loss = 2}, 5000);
  EXPECT_EQ(blind.worst, Severity::kNone);
  // Updates that a log knows to be clean do count.
  StepFeed<ScaleStuck> clean(Interval(100));
  clean.Good(1024, 10);
  clean.Steps({.overflow = false}, 500);
  EXPECT_EQ(clean.worst, Severity::kInfo);
}

TEST(ScaleStuck, ProbesCeilingsAndFixedScalesAreHealthy) {
  StepFeed<ScaleStuck> probes(Interval(100));
  for (int i = 0; i < 50; ++i) {
    probes.Good(1024, 100);
    probes.Good(2048, 1);
    probes.Scale(1024, true);
  }
  EXPECT_EQ(probes.worst, Severity::kNone);
  ScalerDeclaration capped = Interval(100);
  capped.max_scale = 8192;
  StepFeed<ScaleStuck> ceiling(capped);
  ceiling.Good(8192, 5000);
  EXPECT_EQ(ceiling.worst, Severity::kNone);
  StepFeed<ScaleStuck> apex(Scaler("apex"));
  apex.Good(0x1p24, 50000);
  EXPECT_EQ(apex.worst, Severity::kNone);
  StepFeed<ScaleStuck> fixed{FixedScale()};
  fixed.Good(1024, 50000);
  EXPECT_EQ(fixed.worst, Severity::kNone);
  StepFeed<ScaleStuck> unknown;
  unknown.Good(1024, 50000);
  EXPECT_EQ(unknown.worst, Severity::kNone);
}

// --- 11 scale_runaway --------------------------------------------------------

TEST(ScaleRunaway, NotesWarnsAndIsCriticalAsItGoes) {
  StepFeed<ScaleRunaway> f(Scaler("pytorch"));
  double scale = 65536;
  for (; scale <= 0x1p32; scale *= 2) f.Good(scale, 200);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Good(scale, 99);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Good(scale, 1);
  EXPECT_EQ(f.now, Severity::kInfo);
  for (; scale < 0x1p48; scale *= 2) f.Good(scale, 200);
  EXPECT_EQ(f.now, Severity::kInfo);
  f.Good(scale, 1);
  EXPECT_EQ(f.now, Severity::kWarning);
  for (; scale < 0x1p120; scale *= 2) f.Good(scale, 2);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Good(scale, 1);
  EXPECT_EQ(f.now, Severity::kCritical);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Good(0x1p30, 1), Severity::kNone);
}

TEST(ScaleRunaway, HighStartsTinyGradientsAndFixedScalesAreHealthy) {
  StepFeed<ScaleRunaway> megatron(Scaler("megatron"));
  megatron.Good(0x1p32, 5000);
  EXPECT_EQ(megatron.worst, Severity::kNone);
  StepFeed<ScaleRunaway> higher(Scaler("megatron"));
  higher.Good(0x1p40, 5000);
  EXPECT_EQ(higher.worst, Severity::kNone) << "as it was told to";
  StepFeed<ScaleRunaway> tiny(Scaler("pytorch"));
  tiny.Good(65536, 10);
  tiny.Good(0x1p28, 5000);
  EXPECT_EQ(tiny.worst, Severity::kNone);
  StepFeed<ScaleRunaway> probe(Scaler("pytorch"));
  probe.Good(65536, 10);
  for (int i = 0; i < 20; ++i) {
    probe.Good(0x1p32, 200);
    probe.Good(0x1p33, 1);
    probe.Scale(0x1p32, true);
  }
  EXPECT_EQ(probe.worst, Severity::kNone);
}

// --- 55 metric_absent_as_zero ------------------------------------------------

TEST(MetricAbsentAsZero, ANormThatIsAlwaysZeroIsANote) {
  StepFeed<MetricAbsentAsZero> f(NoScaler());
  for (int i = 0; i < 99; ++i) f.Step({.loss = 3 - 0.001 * i, .grad_norm = 0});
  EXPECT_EQ(f.now, Severity::kNone);
  f.Step({.loss = 2.5, .grad_norm = 0});
  EXPECT_EQ(f.now, Severity::kInfo);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Step({.loss = 2.5, .grad_norm = 0.1}), Severity::kNone);
}

TEST(MetricAbsentAsZero, AClientThatSeesThatAllAreZeroIsBelieved) {
  StepFeed<MetricAbsentAsZero> f(NoScaler());
  for (int i = 0; i < 500; ++i) {
    f.Step({.loss = 3 - 0.001 * i,
            .grad_norm = 0,
            .fault = UpdateFault::kAllZero});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(MetricAbsentAsZero, VanishedAbsentAndStandingOnesAreNot) {
  StepFeed<MetricAbsentAsZero> vanished(NoScaler());
  vanished.Step({.loss = 3, .grad_norm = 0.1});
  for (int i = 0; i < 500; ++i) {
    vanished.Step({.loss = 3 - 0.001 * i, .grad_norm = 0});
  }
  EXPECT_EQ(vanished.worst, Severity::kNone) << "it was collected";
  StepFeed<MetricAbsentAsZero> absent(NoScaler());
  for (int i = 0; i < 500; ++i) absent.Step({.loss = 3 - 0.001 * i});
  EXPECT_EQ(absent.worst, Severity::kNone);
  StepFeed<MetricAbsentAsZero> standing(NoScaler());
  standing.Steps({.loss = 0.7, .grad_norm = 0}, 500);
  EXPECT_EQ(standing.worst, Severity::kNone) << "nothing shows that it moves";
  StepFeed<MetricAbsentAsZero> bad(NoScaler());
  bad.Steps({.loss = std::nan(""), .grad_norm = 0}, 500);
  EXPECT_EQ(bad.worst, Severity::kNone) << "of labels that are all ignored";
}

// --- 57 lr_skip_desync -------------------------------------------------------

// A warm-up with a skip every `every` updates. The schedule waits for the
// optimizer or not; records show the rate before or after its step.
StepFeed<LrSkipDesync> WarmUp(int updates, int every, bool waits, bool after) {
  StepFeed<LrSkipDesync> f(Scaler("pytorch"));
  double rate = 0;
  for (int i = 1; i <= updates; ++i) {
    const bool skip = i % every == 0;
    const double before = rate;
    if (!skip || !waits) rate += 1e-6;
    f.Step({.scale = 1024,
            .overflow = skip,
            .skipped = skip,
            .learning_rate = after ? rate : before});
  }
  return f;
}

TEST(LrSkipDesync, AScheduleThatGoesOnIsANote) {
  for (const bool after : {false, true}) {
    const StepFeed<LrSkipDesync> f = WarmUp(500, 20, false, after);
    EXPECT_EQ(f.now, Severity::kInfo) << after;
    ExpectWords(f.Described().sentence);
    EXPECT_EQ(WarmUp(500, 20, true, after).worst, Severity::kNone) << after;
  }
}

TEST(LrSkipDesync, AStreakAtTheStartCounts) {
  for (const bool waits : {false, true}) {
    StepFeed<LrSkipDesync> f(Scaler("megatron"));
    double rate = 1e-6;
    double scale = 0x1p40;
    for (int i = 0; i < 60; ++i) {
      const bool skip = i < 25;
      f.Step({.scale = scale,
              .overflow = skip,
              .skipped = skip,
              .learning_rate = rate});
      if (skip) scale /= 2;
      if (!skip || !waits) rate += 1e-6;
    }
    EXPECT_EQ(f.worst, waits ? Severity::kNone : Severity::kInfo);
  }
}

TEST(LrSkipDesync, ItIsOverWhenItMattersNoMore) {
  StepFeed<LrSkipDesync> f = WarmUp(500, 20, false, true);
  for (int i = 0; i < 5000; ++i) {
    f.Step({.scale = 1024, .overflow = false, .learning_rate = 1e-4 / (i + 1)});
  }
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(LrSkipDesync, ConstantAbsentAndSparseRatesSayNothing) {
  StepFeed<LrSkipDesync> constant(Scaler("pytorch"));
  StepFeed<LrSkipDesync> absent(Scaler("pytorch"));
  StepFeed<LrSkipDesync> sparse(Scaler("pytorch"));
  for (int i = 0; i < 1000; ++i) {
    const bool skip = i % 3 == 0;
    Update a = {.scale = 1024, .overflow = skip, .skipped = skip};
    absent.Step(a);
    a.learning_rate = 1e-4;
    constant.Step(a);
    a.learning_rate = 1e-4 * i;
    a.unseen = 9;
    sparse.Step(a);
  }
  EXPECT_EQ(constant.worst, Severity::kNone);
  EXPECT_EQ(absent.worst, Severity::kNone);
  EXPECT_EQ(sparse.worst, Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
