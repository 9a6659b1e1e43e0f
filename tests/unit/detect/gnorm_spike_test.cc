// Rule 27: a gradient norm far above its level.

#include "detect/gnorm_spike.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "detect/gnorm_explosion.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/noise.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

StepFeed<GnormSpike> HealthyNorms(int records) {
  StepFeed<GnormSpike> f(NoScaler());
  Noise noise;
  for (int i = 0; i < records; ++i) {
    f.Step({.grad_norm = 0.2 * std::exp(0.25 * noise.Normal())});
  }
  return f;
}

TEST(GnormSpike, QuietOnTenThousandHealthyRecords) {
  EXPECT_EQ(HealthyNorms(10000).worst, Severity::kNone);
}

TEST(GnormSpike, OneBatchIsANoteThreeWarnAndClearAfterTwenty) {
  StepFeed<GnormSpike> f = HealthyNorms(500);
  EXPECT_EQ(f.Step({.grad_norm = 5}), Severity::kInfo);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Step({.grad_norm = 5}), Severity::kInfo);
  EXPECT_EQ(f.Step({.grad_norm = 5}), Severity::kWarning);
  EXPECT_EQ(f.Steps({.grad_norm = 0.2}, 19), Severity::kWarning);
  EXPECT_EQ(f.Steps({.grad_norm = 0.2}, 1), Severity::kNone);
}

TEST(GnormSpike, ALevelThatStaysIsCritical) {
  StepFeed<GnormSpike> f = HealthyNorms(500);
  f.Steps({.grad_norm = 20}, 250);
  EXPECT_EQ(f.now, Severity::kWarning);
  f.Steps({.grad_norm = 20}, 1);
  EXPECT_EQ(f.now, Severity::kCritical);
  f.Steps({.grad_norm = 20}, 540);
  EXPECT_EQ(f.now, Severity::kCritical) << "it did not come back";
  StepFeed<GnormSpike> other = HealthyNorms(500);
  other.Steps({.grad_norm = 1}, 300);
  EXPECT_GE(other.worst, Severity::kWarning);
  EXPECT_EQ(other.Steps({.grad_norm = 1}, 500), Severity::kNone)
      << "it is the level";
}

TEST(GnormSpike, ANormThatRisesWithItsObjectiveIsANote) {
  const auto worst = [](const char* moves, double norm) {
    StepFeed<GnormSpike> f = HealthyNorms(500);
    f.run.settings["objective_moves"] = moves;
    f.Steps({.grad_norm = norm}, 100);
    return f.worst;
  };
  EXPECT_EQ(worst("500-504", 1.2), Severity::kInfo);
  EXPECT_EQ(worst("100-140", 1.2), Severity::kWarning);
  EXPECT_EQ(worst("500-504", 20), Severity::kWarning) << "by far too much";
}

TEST(GnormSpike, ANormThatStaysUpWhileTheLossReturnsIsAWarning) {
  StepFeed<GnormSpike> f = HealthyNorms(500);
  f.loss_returns = true;
  EXPECT_EQ(f.Steps({.grad_norm = 20}, 252), Severity::kWarning);
  f.loss_returns = false;
  EXPECT_EQ(f.Step({.grad_norm = 20}), Severity::kCritical);
}

// The same 200 steps, whether a record is one of them or ten.
TEST(GnormSpike, ASpikeIsAWarningHoweverOftenItIsLogged) {
  for (const int64_t every : {1, 2, 10}) {
    StepFeed<GnormSpike> f(NoScaler());
    Noise noise;
    const auto step = [&](double norm) {
      f.Step({.grad_norm = norm * std::exp(0.25 * noise.Normal()),
              .unseen = every - 1});
    };
    for (int i = 0; i < 500; ++i) step(0.2);
    for (int64_t i = 0; i < 200; i += every) step(20);
    for (int i = 0; i < 100; ++i) step(0.2);
    EXPECT_EQ(f.worst, Severity::kWarning) << every;
    for (int64_t i = 0; i < 500; i += every) step(20);
    EXPECT_EQ(f.worst, Severity::kCritical) << every;
  }
}

// However long it takes: its way back shows.
TEST(GnormSpike, ASpikeThatComesDownIsAWarningAndTellsItsPeak) {
  for (const double records : {10, 40, 80}) {
    StepFeed<GnormSpike> f(NoScaler());
    Noise noise;
    std::string told;
    for (int i = 0; i < 700; ++i) {
      const double above = i < 400 ? 0 : 8 * std::exp(-(i - 400) / records);
      f.Step({.grad_norm = 0.3 * (1 + above) * std::exp(0.1 * noise.Normal()),
              .unseen = 9});
      if (f.now != Severity::kNone) told = f.Described().sentence;
    }
    EXPECT_EQ(f.worst, Severity::kWarning) << records;
    EXPECT_EQ(f.now, Severity::kNone) << records;
    ExpectWords(told);
  }
}

TEST(GnormSpike, ASpikeThatIsBackWithinTenUpdatesIsANote) {
  StepFeed<GnormSpike> f = HealthyNorms(500);
  for (int i = 0; i < 6; ++i) f.Step({.grad_norm = 0.2 + 4 * std::pow(0.6, i)});
  EXPECT_EQ(f.worst, Severity::kInfo);
  f.Steps({.grad_norm = 0.2}, 30);
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(GnormSpike, TheLastDigitIsNoSpike) {
  StepFeed<GnormSpike> f(NoScaler());  // a small norm, printed with two digits
  for (int i = 0; i < 3000; ++i) {
    f.Step({.grad_norm = i % 100 < 5 ? 0.02 : 0.01});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
  f.Steps({.grad_norm = 2}, 4);
  EXPECT_EQ(f.now, Severity::kWarning);
}

TEST(GnormSpike, AJumpAmongTheFirstNormsThatStaysIsAWarning) {
  for (const int healthy : {10, 20, 64, 127}) {
    StepFeed<GnormSpike> f = HealthyNorms(healthy);
    EXPECT_EQ(f.worst, Severity::kNone);
    f.Steps({.grad_norm = 60}, 4);
    EXPECT_EQ(f.now, Severity::kWarning) << healthy;
    EXPECT_EQ(f.Described().opened_step, healthy + 1);
  }
}

TEST(GnormSpike, WarmUpDecayAndConstantNormsAreHealthy) {
  StepFeed<GnormSpike> decay(NoScaler());
  for (int i = 0; i < 2000; ++i) {
    decay.Step({.grad_norm = 100.0 / (1 + i / 20.0)});
  }
  EXPECT_EQ(decay.worst, Severity::kNone);
  StepFeed<GnormSpike> constant(NoScaler());
  constant.Steps({.grad_norm = 0.2}, 500);
  constant.Step({.grad_norm = 0.3});
  EXPECT_EQ(constant.worst, Severity::kNone);
}

// Gradients that are never zeroed add up.
TEST(GnormSpike, ANormThatGrowsLittleByLittleIsAWarning) {
  for (const double times : {3.0, 6.0, 40.0}) {
    StepFeed<GnormSpike> f = HealthyNorms(200);
    Noise noise;
    for (int i = 0; i < 1000; ++i) {
      f.Step({.loss = 2 + 2 * i / 1000.0,
              .grad_norm = 0.2 * std::pow(times, i / 1000.0) *
                           std::exp(0.25 * noise.Normal())});
    }
    EXPECT_EQ(f.worst >= Severity::kWarning, times > 20) << times;
    if (times > 20) ExpectWords(f.Described().sentence);
    StepFeed<GnormSpike> learns = HealthyNorms(200);
    for (int i = 0; i < 1000; ++i) {
      learns.Step({.loss = 3 - i / 1000.0,
                   .grad_norm = 0.2 * std::pow(times, i / 1000.0)});
    }
    EXPECT_EQ(learns.worst >= Severity::kWarning, times > 20)
        << "its loss falls, " << times;
  }
}

// From next to nothing, as where a table begins at 0. Where the client sees
// that gradients are made anew nothing adds up, and a spike is one all the
// same.
TEST(GnormSpike, WhatGrowsIsNotGuessedAboutWhereGradientsAreSeenToBeNew) {
  for (const bool fresh : {false, true}) {
    StepFeed<GnormSpike> f;
    Noise noise;
    for (int i = 0; i < 1200; ++i) {
      f.Step({.loss = 4 - i / 600.0,
              .grad_norm = 0.006 * std::pow(60, i / 1200.0) *
                           std::exp(0.1 * noise.Normal()),
              .fresh = fresh});
    }
    EXPECT_EQ(f.worst >= Severity::kWarning, !fresh);
    f.Steps({.loss = 2, .grad_norm = 40, .fresh = fresh}, 20);
    EXPECT_GE(f.now, Severity::kWarning);
  }
}

TEST(GnormSpike, NormsThatAddUpFromTheFirstRecordOnAreAWarning) {
  for (const double noise : {0.0, 0.05}) {
    StepFeed<GnormSpike> f;
    StepFeed<GnormSpike> zeroed_each_8th;
    StepFeed<GnormSpike> warms_up;
    Noise normal;
    for (int i = 1; i <= 64; ++i) {
      const double loss = 4 - i / 100.0;
      const double off = std::exp(noise * normal.Normal());
      f.Step({.loss = loss, .grad_norm = 0.6 * std::pow(i, 0.9) * off});
      zeroed_each_8th.Step(
          {.loss = loss, .grad_norm = 0.6 * (i % 8 + 1) * off});
      warms_up.Step({.loss = loss,
                     .grad_norm = 0.6 * (0.5 + i / 2.0) * off,
                     .learning_rate = 1e-5 * i});
    }
    EXPECT_EQ(f.worst, Severity::kWarning) << noise;
    EXPECT_EQ(f.Described().opened_step, 1);
    EXPECT_LT(zeroed_each_8th.worst, Severity::kWarning) << noise;
    EXPECT_LT(warms_up.worst, Severity::kWarning) << noise;
  }
}

TEST(GnormSpike, SkippedNonfiniteAndZeroNormsSayNothing) {
  StepFeed<GnormSpike> f = HealthyNorms(300);
  f.Step({.skipped = true, .grad_norm = 1e9});
  f.Step({.grad_norm = kInf});
  f.Step({.grad_norm = kNan});
  f.Step({.grad_norm = 0});
  EXPECT_EQ(f.worst, Severity::kNone);
}

// Adam on full batches, long after it reached the minimum.
TEST(GnormSpike, WobblesOfATrainingThatConvergedAreForInformation) {
  for (const double moves : {0.0, 1e-4, 1.0}) {
    SCOPED_TRACE(moves);
    StepFeed<GnormSpike> f(NoScaler());
    StepFeed<GnormExplosion> g(NoScaler());
    for (int i = 0; i < 600; ++i) {
      const double norm = std::max(10 * std::pow(0.95, i), 1e-5);
      f.Step({.loss = 0.8 + norm, .grad_norm = norm});
      g.Step({.loss = 0.8 + norm, .grad_norm = norm});
    }
    f.Steps({.loss = 0.8 * (1 + moves), .grad_norm = 1e-3}, 60);
    g.Steps({.loss = 0.8 * (1 + moves), .grad_norm = 1e-3}, 60);
    const auto worst = moves < 1e-3 ? Severity::kInfo : Severity::kWarning;
    EXPECT_EQ(f.worst, worst);
    EXPECT_GE(g.worst, worst);
    EXPECT_EQ(g.worst == Severity::kInfo, moves < 1e-3);
  }
  StepFeed<GnormSpike> f(NoScaler());
  for (int i = 0; i < 600; ++i) {
    f.Step({.loss = 0.08, .grad_norm = 1e-5 * (1 + 0.01 * (i % 3))});
  }
  f.Steps({.loss = 0.08, .grad_norm = 1e-3}, 3);
  EXPECT_EQ(f.worst, Severity::kWarning) << "it had no larger ones";
}

// A net that knows its text by heart: its loss wanders next to nothing.
TEST(GnormSpike, ANormThatRisesWhereAllIsLearnedIsForInformation) {
  for (const double loss : {0.08, 0.8}) {
    StepFeed<GnormSpike> f(NoScaler());
    for (int i = 0; i < 600; ++i) {
      f.Step({.loss = 0.05 + 3 * std::exp(-i / 20.0),
              .grad_norm = 0.3 + 4 * std::exp(-i / 20.0)});
    }
    f.Steps({.loss = loss, .grad_norm = 3}, 40);
    EXPECT_EQ(f.worst, loss < 0.1 ? Severity::kInfo : Severity::kWarning);
  }
}

// As its spread shrinks. A loss that stands says nothing of the kind.
TEST(GnormSpike, ALikelihoodsNormsGrowWithIt) {
  for (const bool falls : {true, false}) {
    StepFeed<GnormSpike> f(NoScaler());
    Noise noise;
    for (int i = 0; i < 600; ++i) {
      f.Step({.loss = (falls ? 2 - 0.01 * i : 2) + 0.05 * noise.Normal(),
              .grad_norm = 0.5 * std::exp(i / 120.0) * noise.Factor(0.1)});
    }
    EXPECT_EQ(f.worst <= Severity::kInfo, falls);
  }
}

TEST(GnormSpike, ANormMayRiseWhileTheLossIsAtItsLowest) {
  for (const bool learns : {true, false}) {
    StepFeed<GnormSpike> f(NoScaler());
    Noise noise;
    for (int i = 0; i < 500; ++i) {
      const double loss = i < 460 || learns ? 3 - 0.003 * i : 2.2;
      f.Step({.loss = loss * noise.Factor(0.01),
              .grad_norm = (i < 460 ? 0.2 : 0.7) * noise.Factor(0.05)});
    }
    EXPECT_EQ(f.worst, learns ? Severity::kInfo : Severity::kWarning);
  }
}

TEST(GnormSpike, ARateThatBeginsAnewBeginsALevel) {
  for (const bool returns : {true, false}) {
    SCOPED_TRACE(returns);
    StepFeed<GnormSpike> f(NoScaler());
    StepFeed<GnormExplosion> g(NoScaler());
    for (int i = 0; i < 900; ++i) {
      const double cycle = i % 300 / 300.0;
      const double rate = returns ? 0.1 * (1 - cycle) + 1e-4 : 0.1;
      const double norm = i >= 600 && i < 660 ? 0.2 : 0.01 + 1e-4 * (i % 7);
      f.Step({.loss = 0.5 - 0.1 * cycle,
              .grad_norm = norm,
              .learning_rate = rate});
      g.Step({.loss = 0.5 - 0.1 * cycle,
              .grad_norm = norm,
              .learning_rate = rate});
    }
    EXPECT_EQ(f.worst, returns ? Severity::kNone : Severity::kWarning);
    EXPECT_EQ(g.worst >= Severity::kWarning, !returns);
  }
}

}  // namespace
}  // namespace nanwatch
