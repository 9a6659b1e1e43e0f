// Rule 34: a loss far above its level, and whether it comes back.

#include "detect/loss_spike.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "tests/golden/words.h"
#include "tests/unit/detect/noise.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

// From 3.9 to 0.15 in 100 records, as small models learn: the median of these
// is no level, and the spread of these is the descent's.
void Descend(StepFeed<LossSpike>* f) {
  for (int i = 0; i < 100; ++i) {
    f->Step({.loss = 3.9 * std::exp(-0.033 * i) * (1 + 0.02 * (i % 5 - 2))});
  }
}

TEST(LossSpike, ARateTooHighAfterASteepDescentIsCritical) {
  StepFeed<LossSpike> f(NoScaler());
  Descend(&f);
  for (const double loss : {3.3, 6.8, 8.7, 11.5, 15.1, 13.0, 10.6, 11.7}) {
    f.Step({.loss = loss});
  }
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Described().opened_step, 101);
  for (int i = 0; i < 40; ++i) f.Step({.loss = 9.0 + i % 4});
  EXPECT_EQ(f.now, Severity::kCritical);
}

TEST(LossSpike, ABadBatchInASteepDescentIsNone) {
  StepFeed<LossSpike> f(NoScaler());
  Descend(&f);
  f.Step({.loss = 1.2});
  for (int i = 0; i < 100; ++i) {
    f.Step({.loss = i % 30 == 0 ? 0.6 : 0.14 * (1 + 0.02 * (i % 5))});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

StepFeed<LossSpike> HealthyLoss(int records) {
  StepFeed<LossSpike> f;
  Noise noise;
  for (int i = 0; i < records; ++i) {
    f.Step({.loss = 2.215 + 0.02 * noise.Normal()});
  }
  return f;
}

TEST(LossSpike, TellsALoneJumpFromLossesThatStandOutOften) {
  StepFeed<LossSpike> f = HealthyLoss(200);
  f.Step({.loss = 30});
  EXPECT_NEAR(f.rule.JumpsFrom(5, false), 2.215, 0.05);
  EXPECT_EQ(f.rule.newest(), 30);
  EXPECT_EQ(f.rule.JumpsFrom(20, false), 0);
  f.Step({.loss = 30});
  EXPECT_EQ(f.rule.JumpsFrom(5, false), 0);  // the second
  for (int i = 0; i < 60; ++i) f.Step({.loss = i % 10 == 9 ? 30 : 2.2});
  EXPECT_TRUE(f.rule.IsUp());
  EXPECT_EQ(f.rule.JumpsFrom(5, false), 0);  // a task of its own
  for (int i = 0; i < 200; ++i) f.Step({.loss = i % 10 == 9 ? 30 : 2.2});
  EXPECT_EQ(f.rule.JumpsFrom(5, true), 0);
}

TEST(LossSpike, WhatStoodOutAloneMayDoSoInEachEpoch) {
  StepFeed<LossSpike> f = HealthyLoss(200);
  for (int i = 0; i < 151; ++i) f.Step({.loss = i % 50 == 0 ? 30 : 2.2});
  EXPECT_EQ(f.rule.JumpsFrom(5, false), 0);
  EXPECT_GT(f.rule.JumpsFrom(5, true), 0);
}

TEST(LossSpike, ALevelBelowZeroIsNotNothing) {
  StepFeed<LossSpike> f;
  Noise noise;
  for (int i = 0; i < 200; ++i) f.Step({.loss = -0.9 + 0.01 * noise.Normal()});
  f.Steps({.loss = 0}, 30);
  EXPECT_EQ(f.worst, Severity::kInfo);
  f.Steps({.loss = 30}, 4);
  EXPECT_GE(f.worst, Severity::kWarning);
}

TEST(LossSpike, QuietOnHealthyLosses) {
  EXPECT_EQ(HealthyLoss(10000).worst, Severity::kNone);
}

TEST(LossSpike, QuietOnNoisyAndNegativeLosses) {
  Noise noise;
  StepFeed<LossSpike> heavy;  // exponential: one sample a batch
  for (int i = 0; i < 20000; ++i) {
    heavy.Step({.loss = -std::log(1e-9 + noise.Uniform())});
  }
  EXPECT_EQ(heavy.worst, Severity::kNone);
  StepFeed<LossSpike> policy;  // starts at 0, negative, near zero
  policy.Step({.loss = 0});
  policy.Step({.loss = -1e-8});
  for (int i = 0; i < 5000; ++i) {
    policy.Step({.loss = -0.01 + 0.02 * noise.Normal()});
  }
  EXPECT_EQ(policy.worst, Severity::kNone);
}

TEST(LossSpike, ASmallJumpThatGoesAwayIsANote) {
  StepFeed<LossSpike> f = HealthyLoss(500);  // a learning rate begins anew
  f.Steps({.loss = 2.7}, 29);
  EXPECT_EQ(f.now, Severity::kInfo);
  ExpectWords(f.Described().sentence);
  f.Steps({.loss = 2.21}, 20);
  EXPECT_EQ(f.now, Severity::kNone);
  StepFeed<LossSpike> stays = HealthyLoss(500);
  stays.Steps({.loss = 2.7}, 256);
  EXPECT_EQ(stays.worst, Severity::kInfo) << "other data, it may be";
  EXPECT_EQ(stays.now, Severity::kNone) << "it is the level";
}

TEST(LossSpike, WarnsAfterThreeAndClears) {
  StepFeed<LossSpike> f = HealthyLoss(500);
  f.Steps({.loss = 3.4}, 2);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Step({.loss = 3.5});
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Described().opened_step, 501);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Steps({.loss = 2.21}, 19), Severity::kWarning);
  EXPECT_EQ(f.Steps({.loss = 2.21}, 1), Severity::kNone);
}

TEST(LossSpike, AVastOneThatIsNearlyBackAtItsThirdRecordWarns) {
  StepFeed<LossSpike> f = HealthyLoss(500);
  for (const double loss : {8.7, 3.9, 3.0}) f.Step({.loss = loss});
  EXPECT_EQ(f.now, Severity::kWarning);
  StepFeed<LossSpike> small = HealthyLoss(500);
  for (const double loss : {3.5, 2.7, 2.5}) small.Step({.loss = loss});
  EXPECT_EQ(small.now, Severity::kInfo);
}

TEST(LossSpike, OneRecordBesideANormThatWarnsIsAWarning) {
  for (const int after : {0, 2, 6}) {
    StepFeed<LossSpike> f = HealthyLoss(500);
    EXPECT_EQ(f.Step({.loss = 4.5}), Severity::kNone);
    f.Steps({.loss = 2.21}, after);
    f.norm_warns = true;
    f.Steps({.loss = 2.21}, 1);
    EXPECT_EQ(f.now, after < 4 ? Severity::kWarning : Severity::kNone) << after;
    if (after >= 4) continue;
    EXPECT_EQ(f.Described().opened_step, 501);
    ExpectWords(f.Described().sentence);
    f.Steps({.loss = 2.21}, 25);
    EXPECT_EQ(f.now, Severity::kNone);
  }
}

// A flipped bit: NaN, then one loss of 4e36. The NaN is told, as it was first.
TEST(LossSpike, BehindANanANormThatWarnsShowsNoSpike) {
  StepFeed<LossSpike> f = HealthyLoss(500);
  f.norm_warns = true;
  f.Steps({.loss = NAN}, 3);
  EXPECT_EQ(f.Step({.loss = 4e36}), Severity::kNone);
  EXPECT_EQ(f.Steps({.loss = NAN}, 3), Severity::kNone);
}

TEST(LossSpike, BesideANormThatWarnsASmallRiseIsNone) {
  StepFeed<LossSpike> f = HealthyLoss(500);
  f.norm_warns = true;
  EXPECT_EQ(f.Steps({.loss = 2.7}, 2), Severity::kNone);
}

TEST(LossSpike, SaysWhetherItReturns) {
  StepFeed<LossSpike> falls = HealthyLoss(500);
  for (double loss = 8.7; loss > 3; loss *= 0.97) falls.Step({.loss = loss});
  EXPECT_TRUE(falls.rule.Returns());
  falls.Steps({.loss = 2.21}, 10);
  EXPECT_TRUE(falls.rule.Returns()) << "it is back";
  falls.Steps({.loss = 2.21}, 20);
  EXPECT_FALSE(falls.rule.Returns()) << "and all is well";
  StepFeed<LossSpike> stays = HealthyLoss(500);
  stays.Step({.loss = 8.7});
  stays.Steps({.loss = 6}, 30);
  EXPECT_FALSE(stays.rule.Returns());
  StepFeed<LossSpike> settles = HealthyLoss(500);
  for (int i = 0; i < 40; ++i) {
    settles.Step({.loss = 6 + 2.7 * std::exp(-i / 15.0)});
  }
  EXPECT_FALSE(settles.rule.Returns());
  StepFeed<LossSpike> slow = HealthyLoss(500);
  for (int i = 0; i < 100; ++i) {
    slow.Step({.loss = 5 + 3.7 * std::exp(-i / 60.0)});
  }
  EXPECT_FALSE(slow.rule.Returns());
}

TEST(LossSpike, RecoveringSpikesAreNeverCritical) {
  StepFeed<LossSpike> f = HealthyLoss(500);
  for (double loss = 8.7; loss > 2.3; loss *= 0.97) f.Step({.loss = loss});
  f.Steps({.loss = 2.21}, 100);
  EXPECT_EQ(f.worst, Severity::kWarning);
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(LossSpike, ALossThatStaysUpIsCritical) {
  StepFeed<LossSpike> f = HealthyLoss(500);  // above all that it ever was
  f.Steps({.loss = 7}, 55);
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Steps({.loss = 7}, 1), Severity::kCritical);
  StepFeed<LossSpike> log = HealthyLoss(500);  // every tenth step
  log.Steps({.loss = 7, .unseen = 9}, 25);
  EXPECT_EQ(log.now, Severity::kWarning);
  EXPECT_EQ(log.Steps({.loss = 7, .unseen = 9}, 1), Severity::kCritical);
}

// From scratch, and high again: below all that it ever was.
StepFeed<LossSpike> Learned(const char* framework = "") {
  StepFeed<LossSpike> f;
  f.run.framework = framework;
  Noise noise;
  for (int i = 0; i < 300; ++i) {
    f.Step({.loss = 2.5 + 8 * std::exp(-i / 40.0) + 0.03 * noise.Normal()});
  }
  return f;
}

TEST(LossSpike, WhereAllIsOverALossThatStaysUpIsCritical) {
  StepFeed<LossSpike> f = Learned();
  for (int i = 0; i < 7; ++i) f.Step({.loss = 6 + 0.1 * (i % 4)});
  EXPECT_EQ(f.now, Severity::kWarning);
  StepFeed<LossSpike> few = f;
  EXPECT_EQ(few.End(), Severity::kWarning) << "too few";
  f.Step({.loss = 6.2});
  EXPECT_EQ(f.now, Severity::kWarning) << "it may come back";
  EXPECT_EQ(f.End(), Severity::kCritical);
  EXPECT_EQ(f.Described().opened_step, 301);
  ExpectWords(f.Described().sentence);
  StepFeed<LossSpike> back = Learned();
  back.Steps({.loss = 6}, 40);
  back.Step({.loss = 2.6});
  EXPECT_EQ(back.End(), Severity::kWarning) << "it came back";
}

TEST(LossSpike, WhereAllIsOverASpikeThatComesDownIsAWarning) {
  for (const double slow : {10.0, 40.0, 100.0, 160.0}) {
    for (const int records : {16, 20, 40, 80, 130}) {
      StepFeed<LossSpike> f = Learned();
      for (int i = 0; i < records; ++i) {
        f.Step({.loss = 2.5 + 6 * std::exp(-i / slow) + 0.05 * (i % 3)});
      }
      EXPECT_LE(f.End(), Severity::kWarning) << slow << " " << records;
    }
  }
}

// Thrown high, it comes to stand at a level that is none of its own.
TEST(LossSpike, WhereAllIsOverALossThatStandsHighIsCritical) {
  StepFeed<LossSpike> f(NoScaler());
  Descend(&f);
  for (int i = 0; i < 300; ++i) {
    f.Step({.loss = 15 * std::exp(-i / 10.0) + 4.3 + 0.1 * (i % 4)});
  }
  EXPECT_EQ(f.End(), Severity::kCritical);
  EXPECT_EQ(f.Described().opened_step, 101);
}

TEST(LossSpike, WhereAllIsOverASmallJumpStaysWhatItIs) {
  StepFeed<LossSpike> f = Learned("litgpt");
  f.Steps({.loss = 3.5}, 60);
  const Severity before = f.now;
  EXPECT_LE(before, Severity::kWarning);
  EXPECT_EQ(f.End(), before);
}

// Evidence is what counts, be it of a log of a few lines.
TEST(LossSpike, WhereAllIsOverAFewLossesThatStayUpAreCritical) {
  const auto end = [](int before, double noise_of_level, int records) {
    StepFeed<LossSpike> f;
    Noise noise;
    for (int i = 0; i < before; ++i) {
      f.Step({.loss = 2 + noise_of_level * noise.Normal()});
    }
    f.Steps({.loss = 7}, records);
    return f.End();
  };
  EXPECT_LE(end(6, 0.03, 2), Severity::kWarning);
  EXPECT_EQ(end(6, 0.03, 4), Severity::kWarning);
  EXPECT_EQ(end(6, 0.03, 8), Severity::kCritical);
  EXPECT_EQ(end(200, 0.1, 7), Severity::kWarning);
  EXPECT_EQ(end(200, 0.1, 8), Severity::kCritical);
}

TEST(LossSpike, WhereAllIsOverTheLastLossesAreHeldAgainstThoseBefore) {
  for (const auto& [before, records] : {std::pair(100, 20), {40, 40}}) {
    StepFeed<LossSpike> f;
    Noise noise;
    for (int i = 0; i < before; ++i) {
      const double level = 0.9 + 1.4 * std::exp(-6.0 * i / before);
      f.Step({.loss = level * (1 + 0.01 * noise.Normal())});
    }
    for (int i = 0; i < records; ++i) {
      f.Step({.loss = 1.65 * (1 + 0.01 * noise.Normal())});
    }
    EXPECT_EQ(f.now, Severity::kWarning);
    StepFeed<LossSpike> back = f;
    back.Steps({.loss = 0.92}, 2);
    EXPECT_LE(back.End(), Severity::kInfo) << "it came back";
    EXPECT_GE(back.Described().last_step, back.Described().opened_step);
    EXPECT_EQ(f.End(), Severity::kCritical) << before;
    EXPECT_EQ(f.Described().opened_step, before + 1);
    ExpectWords(f.Described().sentence);
  }
}

TEST(LossSpike, OneMeanOfAHundredStepsIsNoSingleBatch) {
  const auto worst = [](int every) {
    StepFeed<LossSpike> f;
    f.run.framework = "megatron";
    f.step = 29000;
    Noise noise;
    for (int i = 0; i < 200; ++i) {
      f.Step({.loss = 2.77 + 0.015 * noise.Normal(), .unseen = every - 1});
    }
    for (const double loss : {4.5, 3.7, 3.3, 3.0}) {
      f.Step({.loss = loss, .unseen = every - 1});
    }
    f.Steps({.loss = 2.77, .unseen = every - 1}, 30);
    EXPECT_EQ(f.now, Severity::kNone);
    return f.worst;
  };
  EXPECT_EQ(worst(100), Severity::kWarning);
  EXPECT_EQ(worst(1), Severity::kInfo);
}

// BigScience's tr1-13B, its first lines: a spike, on its way back.
TEST(LossSpike, WhereAllIsOverASpikeOfAFewLinesIsNoMoreThanAWarning) {
  StepFeed<LossSpike> f;
  f.run.framework = "megatron";
  f.step = 29010;
  for (const double loss :
       {2.776, 2.773, 2.768, 7.344, 8.716, 7.654, 7.192, 6.849}) {
    f.Step({.loss = loss, .unseen = 9});
    StepFeed<LossSpike> end = f;
    EXPECT_LE(end.End(), Severity::kWarning) << loss;
  }
}

// tr8-104B: the lines before it was lost.
TEST(LossSpike, WhereAllIsOverAMeanThatClimbsByANatIsAWarning) {
  const auto end = [](const char* framework, std::vector<double> losses) {
    StepFeed<LossSpike> f;
    f.run.framework = framework;
    f.step = 6890;
    for (const double loss : losses) f.Step({.loss = loss, .unseen = 9});
    return f.End();
  };
  EXPECT_EQ(end("megatron", {6.4, 6.41, 6.39, 6.4, 7.2, 7.3, 8.5, 8.4}),
            Severity::kWarning);
  EXPECT_LE(end("megatron", {6.4, 6.41, 6.39, 6.4, 6.9, 7.0, 7.1, 7.2}),
            Severity::kInfo);
}

// From scratch, so that it was as high before: a spike, until 500 steps.
TEST(LossSpike, ALossThatWasAsHighBeforeMayComeBackFor500Steps) {
  for (const int64_t every : {1, 10}) {
    StepFeed<LossSpike> f;
    Noise noise;
    const auto step = [&](double loss) {
      f.Step({.loss = loss + 0.02 * noise.Normal(), .unseen = every - 1});
    };
    for (int i = 0; i < 2000; ++i) step(2.5 + 8.5 * std::exp(-i / 200.0));
    for (int64_t i = 0; i < 500; i += every) step(7);
    EXPECT_EQ(f.now, Severity::kWarning) << every;
    for (int64_t i = 0; i < 3 * every; i += every) step(7);
    EXPECT_EQ(f.now, Severity::kCritical) << every;
  }
}

// tr1-13B's, down within 500 steps; behind a checkpoint or from the beginning.
TEST(LossSpike, ASpikeThatComesDownIsAWarningHoweverOftenItIsLogged) {
  for (const int64_t every : {1, 2, 5, 10}) {
    for (const int64_t first : {1, 25001}) {
      StepFeed<LossSpike> f;
      Noise noise;
      f.step = first - 1;
      const auto step = [&](double loss) {
        f.Step({.loss = loss + 0.03 * noise.Normal(), .unseen = every - 1});
      };
      for (int i = 0; i < 500; ++i) step(2.77);
      for (int64_t i = 0; i < 1000; i += every) {
        step(2.77 + 6 * std::exp(-static_cast<double>(i) / 130));
      }
      EXPECT_EQ(f.worst, Severity::kWarning) << every << " from " << first;
    }
  }
}

// A log's line is the mean over the hundred steps before it.
TEST(LossSpike, TwoMeansOverManyStepsAreNoSingleBatch) {
  const auto spike = [](const char* framework, int64_t every) {
    StepFeed<LossSpike> f;
    f.run.framework = framework;
    Noise noise;
    f.step = 25000;
    const auto step = [&](double loss) {
      f.Step({.loss = loss + 0.004 * noise.Normal(), .unseen = every - 1});
    };
    for (int i = 0; i < 40; ++i) step(2.9);
    for (const double loss : {7.08, 4.83, 3.78, 3.32, 3.09, 2.99}) step(loss);
    for (int i = 0; i < 30; ++i) step(2.91);
    return f;
  };
  EXPECT_EQ(spike("megatron", 100).worst, Severity::kWarning);
  EXPECT_EQ(spike("megatron", 100).now, Severity::kNone);
  EXPECT_EQ(spike("megatron", 1).worst, Severity::kWarning) << "three batches";
  EXPECT_EQ(spike("nanogpt", 100).worst, Severity::kWarning);
}

// --- before there is a baseline ---------------------------------------------

// A fine-tuning's log: 2.1 to 1.6, and then `ratio` times that.
StepFeed<LossSpike> FineTuning(int healthy, double ratio, double climb,
                               int bad) {
  StepFeed<LossSpike> f;
  Noise noise;
  const auto step = [&](double loss) {
    f.Step({.loss = loss * std::exp(0.03 * noise.Normal())});
  };
  for (int i = 0; i < healthy; ++i) step(1.6 + 0.5 * std::exp(-i / 10.0));
  for (int i = 0; i < bad; ++i) {
    step(1.6 * std::min(ratio, std::pow(climb, i + 1)));
  }
  return f;
}

TEST(LossSpike, AShortLogThatDivergesIsCritical) {
  for (const int healthy : {10, 20, 40, 60}) {
    for (const double ratio : {4.0, 8.0}) {
      for (const double climb : {8.0, 1.35, 1.15}) {
        SCOPED_TRACE(::testing::Message()
                     << healthy << " x " << ratio << " by " << climb);
        if (healthy == 60 && climb == 1.15) continue;  // the baseline's
        EXPECT_GE(FineTuning(healthy, ratio, climb, 14).now,
                  Severity::kWarning);
        const StepFeed<LossSpike> f = FineTuning(healthy, ratio, climb, 40);
        EXPECT_EQ(f.now, Severity::kCritical);
        EXPECT_GT(f.Described().opened_step, healthy);
        EXPECT_LE(f.Described().opened_step, healthy + 9);
        ExpectWords(f.Described().sentence);
      }
    }
  }
  EXPECT_EQ(FineTuning(40, 2, 8, 4).now, Severity::kWarning);
  EXPECT_EQ(FineTuning(40, 2, 8, 31).now, Severity::kCritical);
}

TEST(LossSpike, FewLossesThatComeBackAreAWarningThatClears) {
  StepFeed<LossSpike> f = FineTuning(30, 4, 8, 8);
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Steps({.loss = 1.6}, 20), Severity::kNone);
}

// A thousand healthy beginnings of each kind, in noise with a long tail.
TEST(LossSpike, HealthyBeginningsAreLeftInPeace) {
  Noise noise;
  const auto tail = [&] {  // Student's t of 4
    double squares = 0;
    for (int i = 0; i < 4; ++i) squares += std::pow(noise.Normal(), 2);
    return noise.Normal() / std::sqrt(squares / 4);
  };
  const auto warned = [&](const std::function<double(int)>& loss) {
    int count = 0;
    for (int run = 0; run < 1000; ++run) {
      const double size = 0.01 * std::pow(2, run % 7);  // 1 to 64 %
      StepFeed<LossSpike> f;
      for (int i = 0; i < 60; ++i) {
        f.Step({.loss = loss(i) * std::exp(size * tail())});
      }
      count += f.worst > Severity::kInfo;
      EXPECT_LT(f.worst, Severity::kCritical);
    }
    return count;
  };
  EXPECT_LE(warned([](int i) { return 3 + 8 * std::exp(-i / 12.0); }), 1);
  EXPECT_LE(warned([](int) { return 1.5; }), 1) << "stands";
  EXPECT_LE(warned([](int i) { return 10 - 0.12 * i; }), 1);
  EXPECT_LE(warned([](int i) { return 0.1 + 5 * std::exp(-i / 3.0); }), 1);
  EXPECT_LE(warned([](int i) {  // the end of a warm-up
              return 2 + std::exp(-std::pow((i - 30) / 6.0, 2));
            }),
            3);
}

// --- overflows that are applied ----------------------------------------------

TEST(LossSpike, LossesThatRunAwayWithOverflowsAreCritical) {
  const std::vector<double> runs[] = {{9.1, 8.2, 410, 2210},
                                      {7.9, 6.1, 25.1, 133},
                                      {12.1, 9.4, 92.5, 1200},
                                      {11.6, 8.8, 880, 1500},
                                      {8.8, 7.9, 7.2, 6.9, 91, 803}};
  for (const std::vector<double>& run : runs) {
    StepFeed<LossSpike> f;
    for (const double loss : run) {
      EXPECT_LT(f.now, Severity::kCritical);
      f.Step({.overflow = true, .unseen = 49});
      f.Step({.loss = loss, .unseen = 49});
    }
    EXPECT_EQ(f.now, Severity::kCritical) << run.back();
    EXPECT_EQ(f.Described().opened_step, f.step - 100);
    StepFeed<LossSpike> alone;  // no overflow says that weights are spoilt
    for (const double loss : run) alone.Step({.loss = loss, .unseen = 99});
    EXPECT_LT(alone.worst, Severity::kCritical);
  }
  StepFeed<LossSpike> mild(FixedScale(false));  // "overflow, still update"
  for (const double loss : {9.0, 8.0, 30.0, 60.0}) {
    mild.Step({.scale = 1024, .overflow = true, .loss = loss});
  }
  EXPECT_EQ(mild.now, Severity::kCritical);
}

TEST(LossSpike, AnExplosionIsCriticalWithTwoLossesOfHistory) {
  StepFeed<LossSpike> f(FixedScale(false));  // mindyolo#402
  f.Step({.scale = 1024, .overflow = true, .loss = 11.6707});
  f.Step({.scale = 1024, .overflow = true, .loss = 8.8465});
  f.Step({.scale = 1024, .overflow = true, .loss = 8712.5938});
  EXPECT_EQ(f.now, Severity::kWarning) << "its updates are applied";
  f.Step({.scale = 1024, .overflow = true, .loss = 15806.3818});
  EXPECT_EQ(f.now, Severity::kCritical);
}

// apex#493: an overflow in some hundred steps, no growth between, and a loss
// that rises with every one.
TEST(LossSpike, ALossThatRisesAsTheScaleFallsAndFallsIsCritical) {
  const auto fall = [](double worse, bool grows) {
    StepFeed<LossSpike> f;
    double loss = 0.15;
    double scale = 256;
    f.Step({.scale = scale, .overflow = false, .loss = loss});
    for (int i = 0; i < 9; ++i) {
      if (grows) f.Step({.scale = scale *= 2, .loss = loss, .unseen = 50});
      f.Step({.scale = scale /= 2, .overflow = true, .unseen = 50});
      f.Step({.scale = scale, .loss = loss *= worse, .unseen = 50});
    }
    return f;
  };
  EXPECT_EQ(fall(1.3, false).worst, Severity::kCritical);
  EXPECT_EQ(fall(1.0, false).worst, Severity::kNone);
  const auto numbers = fall(1.3, true).Described().numbers;
  EXPECT_TRUE(std::none_of(
      numbers.begin(), numbers.end(),
      [](const auto& number) { return number.name == "overflows"; }))
      << "the scale grows between";
  ExpectWords(fall(1.3, false).Described().sentence);
}

// Ascend's "overflow, still update": the next line is a hundred steps away.
TEST(LossSpike, ALossOutOfBoundsOnceUpdatesThatOverflowedAreAppliedWarns) {
  const auto jump = [](bool skipped) {
    StepFeed<LossSpike> f;
    f.Step({.overflow = true, .skipped = skipped, .loss = 9});
    f.Step({.overflow = false, .loss = 12, .unseen = 99});
    f.Step({.overflow = true, .skipped = skipped, .unseen = 50});
    f.Step({.overflow = false, .loss = 8700, .unseen = 49});
    return f;
  };
  EXPECT_EQ(jump(false).now, Severity::kWarning);
  EXPECT_EQ(jump(true).now, Severity::kNone);
  StepFeed<LossSpike> f = jump(false);
  f.Step({.overflow = false, .loss = 15800, .unseen = 99});
  EXPECT_EQ(f.now, Severity::kCritical);
}

// Gradients grow, the scaler answers, and a noisy loss is as it was.
TEST(LossSpike, ALuckyLossAmongOverflowsIsNoLevelToRiseFrom) {
  StepFeed<LossSpike> f;
  const double losses[] = {1.5, 1.2, 1.9, 1.4, 2.1, 1.1, 1.7};
  for (int i = 0; i < 200; ++i) {
    f.Step({.scale = 65536, .overflow = false, .loss = losses[i % 7]});
  }
  f.Step({.scale = 32768, .overflow = true, .loss = 0.6});
  double scale = 32768;
  for (int i = 0; i < 9; ++i) {
    f.Step({.scale = scale /= 2, .overflow = true, .loss = 2});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(LossSpike, FirstDescentIsHealthy) {
  StepFeed<LossSpike> f;  // tacotron2#137 and on
  for (const double loss :
       {49.316841, 40.57, 23.87, 13.44, 7.95, 6.59, 6.19, 5.51}) {
    f.Step({.loss = loss});
  }
  f.Steps({.loss = 5.0}, 200);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(LossSpike, RoundingIsNoNoise) {
  StepFeed<LossSpike> zeros;  // two digits, of an over-fitted model
  StepFeed<LossSpike> steps;
  zeros.Steps({.loss = 0}, 300);
  steps.Steps({.loss = 0.69}, 300);
  for (int i = 0; i < 50; ++i) {
    zeros.Steps({.loss = 0.01 + 0.01 * (i % 3)}, 5);
    zeros.Steps({.loss = 0}, 50);
    steps.Steps({.loss = 0.7 + 0.01 * (i % 3)}, 5);
    steps.Steps({.loss = 0.69}, 50);
  }
  EXPECT_EQ(zeros.worst, Severity::kNone);
  EXPECT_EQ(steps.worst, Severity::kNone);
  EXPECT_EQ(zeros.Steps({.loss = 0.9}, 5), Severity::kWarning);
}

TEST(LossSpike, LongTailsAreNoSpikes) {
  Noise noise;
  StepFeed<LossSpike> f;  // log-normal, far apart: three in a row by chance
  for (int i = 0; i < 100000; ++i) {
    f.Step({.loss = 1e-3 * std::exp(1.5 * noise.Normal())});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(LossSpike, AnotherMixOfDataIsNeverCritical) {
  StepFeed<LossSpike> f = HealthyLoss(500);
  Noise noise;
  for (int i = 0; i < 1000; ++i) {
    f.Step({.loss = 2.9 + 0.02 * noise.Normal()});
  }
  EXPECT_EQ(f.worst, Severity::kInfo);
  EXPECT_EQ(f.now, Severity::kNone) << "it is the level";
}

// BigScience's tr8-104B at the end of its warm-up.
TEST(LossSpike, AJumpThatClimbsFurtherIsAWarning) {
  StepFeed<LossSpike> f;
  f.run.framework = "megatron";
  Noise noise;
  for (int i = 0; i < 80; ++i) f.Step({.loss = 6.39 + 0.02 * noise.Normal()});
  for (const double loss : {6.6, 7.31, 8.5}) f.Step({.loss = loss});
  EXPECT_LE(f.now, Severity::kInfo);
  for (const double loss : {9.0, 9.6, 10.4}) f.Step({.loss = loss});
  EXPECT_EQ(f.now, Severity::kWarning);
}

TEST(LossSpike, AStageOfACurriculumIsANote) {
  Noise noise;
  StepFeed<LossSpike> f;
  for (int i = 0; i < 40000; ++i) {
    const double stage = 1.2 + 0.5 * std::exp(-(i % 2000) / 300.0);
    f.Step({.loss = stage * std::exp(0.03 * noise.Normal())});
  }
  EXPECT_LE(f.worst, Severity::kInfo);
}

TEST(LossSpike, OneHighLossOfAStageIsNotCritical) {
  Noise noise;
  StepFeed<LossSpike> f = HealthyLoss(500);
  for (int i = 0; i < 80; ++i) {
    f.Step({.loss = i % 10 == 9 ? 3.6 : 3.1 + 0.02 * noise.Normal()});
  }
  EXPECT_EQ(f.worst, Severity::kInfo);
}

TEST(LossSpike, AMixtureOfTasksIsNoSpike) {
  Noise noise;
  StepFeed<LossSpike> f;  // one in seven is of the other task
  for (int i = 0; i < 60000; ++i) {
    const double task = noise.Uniform() < 0.15 ? 4 : 0.5;
    f.Step({.loss = task * std::exp(0.1 * noise.Normal())});
  }
  EXPECT_LE(f.worst, Severity::kInfo);
  EXPECT_EQ(f.Steps({.loss = 4}, 501), Severity::kCritical)
      << "for good, it is a spike";
}

TEST(LossSpike, ACriticThatWandersThroughZeroIsNone) {
  Noise noise;
  StepFeed<LossSpike> f;
  double at = 0;
  for (int i = 0; i < 60000; ++i) {
    at = 0.98 * at + noise.Normal();
    f.Step({.loss = noise.Normal() - at});
  }
  EXPECT_LE(f.worst, Severity::kInfo);
  EXPECT_EQ(f.Steps({.loss = 2000}, 3), Severity::kCritical);
}

TEST(LossSpike, LossesThatBeginAtExactlyZeroAreNoLevel) {
  Noise noise;
  StepFeed<LossSpike> f;  // GRPO: nothing to learn from for 60 steps
  f.Steps({.loss = 0}, 60);
  for (int i = 0; i < 2000; ++i) {
    f.Step({.loss = std::round(8 * std::fabs(noise.Normal())) * 1e-4});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(LossSpike, SaysHowLongTheLongestSpikeWas) {
  StepFeed<LossSpike> f = HealthyLoss(500);
  f.Steps({.loss = 5}, 4);
  f.Steps({.loss = 2.21}, 5);
  f.Step({.loss = 4});
  f.Step({.loss = 2.21});
  EXPECT_EQ(f.now, Severity::kWarning);
  ExpectWords(f.Described().sentence);
}

TEST(LossSpike, AFirstRewardIsNoExplosion) {
  StepFeed<LossSpike> f;  // a critic that has nothing to learn for a while
  Noise noise;
  for (int i = 0; i < 50; ++i) f.Step({.loss = 1e-3 * noise.Uniform()});
  for (int i = 0; i < 10; ++i) f.Step({.loss = 0.5 * noise.Uniform()});
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(LossSpike, ThreeSteadyLossesAreHistoryEnoughToWarn) {
  // BigScience's tr1-13B from its line 29020 on, means of ten steps each.
  StepFeed<LossSpike> f;
  f.run.framework = "megatron";
  f.step = 29010;
  for (const double loss : {2.7759, 2.7728, 2.7681, 7.3437}) {
    f.Step({.loss = loss, .unseen = 9});
  }
  EXPECT_EQ(f.now, Severity::kNone);
  f.Step({.loss = 8.7159, .unseen = 9});
  f.Step({.loss = 7.6541, .unseen = 9});
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Steps({.loss = 2.8, .unseen = 9}, 20), Severity::kNone);
  // A wild start is none: BigScience's small GPT-2 runs.
  StepFeed<LossSpike> start;
  for (const double loss : {12.44, 12.44, 41.03, 12.9, 9.6, 8.1, 7.9}) {
    start.Step({.loss = loss, .unseen = 9});
  }
  EXPECT_EQ(start.worst, Severity::kNone);
}

TEST(LossSpike, NonfiniteLossesNeverEnterTheBaseline) {
  StepFeed<LossSpike> f = HealthyLoss(200);
  f.Steps({.loss = kNan}, 300);
  f.Steps({.loss = kInf}, 300);
  EXPECT_EQ(f.worst, Severity::kNone);
  EXPECT_EQ(f.Steps({.loss = 4}, 3), Severity::kWarning);
}

}  // namespace
}  // namespace nanwatch
