// Rule 35: a loss that has lost what was learned.

#include "detect/loss_high_plateau.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "tests/golden/words.h"
#include "tests/unit/detect/noise.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

Severity Worst(int records, const std::function<double(int)>& loss) {
  StepFeed<LossHighPlateau> f(NoScaler());
  for (int i = 0; i < records; ++i) f.Step({.loss = loss(i)});
  return f.worst;
}

TEST(LossHighPlateau, WhatWasLearnedIsLostAndComesBack) {
  StepFeed<LossHighPlateau> f(NoScaler());
  Noise noise;
  for (int i = 0; i < 1600; ++i) f.Step({.loss = Learning(i, &noise)});
  f.Steps({.loss = 7.5}, 63);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Steps({.loss = 7.5}, 1);
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Described().opened_step, 1601);
  ExpectWords(f.Described().sentence);
  f.Steps({.loss = 7.5}, 432);
  EXPECT_EQ(f.now, Severity::kWarning) << "spikes come back within 500 steps";
  f.Steps({.loss = 7.5}, 16);
  EXPECT_EQ(f.now, Severity::kCritical);
  f.Steps({.loss = 2.5}, 79);
  EXPECT_EQ(f.now, Severity::kNone);
}

// From 9.9 to 6 in 100 records, and back to 9.6 at once: two fifths of the
// first loss were learned, and hardly any of that is left.
TEST(LossHighPlateau, ALanguageModelBackWhereItBeganHasLostAll) {
  const auto worst = [](const char* framework, double back) {
    StepFeed<LossHighPlateau> f(NoScaler());
    f.run.framework = framework;
    for (int i = 0; i < 100; ++i) f.Step({.loss = 9.9 - 0.04 * i});
    for (int i = 0; i < 100; ++i) f.Step({.loss = back + 0.1 * (i % 3)});
    return f.worst;
  };
  EXPECT_EQ(worst("litgpt", 9.6), Severity::kWarning);
  EXPECT_EQ(worst("litgpt", 8.5), Severity::kWarning);
  EXPECT_EQ(worst("", 8.5), Severity::kWarning);
  EXPECT_EQ(worst("litgpt", 7.5), Severity::kNone) << "other data, it may be";
}

// A stage of a curriculum goes on with its descent, damage does not.
TEST(LossHighPlateau, ALevelThatStepsUpAndStaysIsAWarning) {
  const auto after = [](double times, double half, const char* moves = "") {
    StepFeed<LossHighPlateau> f(NoScaler());
    if (*moves != 0) f.run.settings["objective_moves"] = moves;
    Noise noise;
    for (int i = 0; i < 400; ++i) {
      const double more = (times - 1) * std::exp2(-(i - 200) / half);
      const double level = 2.6 + 5.4 * std::exp(-i / 30.0);
      f.Step({.loss = level * (i < 200 ? 1 : 1 + more) * noise.Factor(0.02)});
    }
    return f;
  };
  const auto damaged = after(1.45, 1e9);
  EXPECT_EQ(damaged.now, Severity::kWarning);
  EXPECT_NEAR(damaged.Described().opened_step, 201, 1);
  EXPECT_EQ(after(1.2, 1e9).worst, Severity::kNone);
  EXPECT_EQ(after(1.45, 100).worst, Severity::kNone) << "it descends again";
  EXPECT_EQ(after(1.45, 1e9, "200-201").worst, Severity::kNone)
      << "a printed weight moved there";
  EXPECT_EQ(after(1.45, 1e9, "90-100").now, Severity::kWarning)
      << "and long before";
}

// Of a log of 160 lines; of longer ones loss_spike says it earlier.
TEST(LossHighPlateau, WhereAllIsOverTwoBlocksAreEnough) {
  const auto end = [](int records, double falls) {
    StepFeed<LossHighPlateau> f(NoScaler());
    Noise noise;
    for (int i = 0; i < 128; ++i) {
      f.Step({.loss = 2.8 + 8 * std::exp(-i / 15.0) + 0.03 * noise.Normal()});
    }
    for (int i = 0; i < records; ++i) {
      f.Step({.loss = 2.8 + 5 * std::exp(-falls * i) + 0.03 * noise.Normal()});
    }
    EXPECT_EQ(f.now, Severity::kNone);
    f.End();
    if (f.now != Severity::kNone) {
      EXPECT_EQ(f.Described().opened_step, 129);
      ExpectWords(f.Described().sentence);
    }
    return f.now;
  };
  EXPECT_EQ(end(31, 0), Severity::kNone);
  EXPECT_EQ(end(32, 0), Severity::kCritical);
  EXPECT_EQ(end(47, 0), Severity::kCritical);
  EXPECT_EQ(end(32, 0.02), Severity::kNone) << "it comes down";
}

TEST(LossHighPlateau, WhereAllIsOverALossThatWandersIsLeft) {
  const auto end = [](double high) {
    StepFeed<LossHighPlateau> f(NoScaler());
    f.Steps({.loss = 1.3}, 32);
    f.Steps({.loss = 0.6}, 320);
    f.Steps({.loss = high}, 80);
    EXPECT_EQ(f.now, Severity::kWarning);
    return f.End();
  };
  EXPECT_EQ(end(1.0), Severity::kWarning);
  EXPECT_EQ(end(1.1), Severity::kCritical);
}

TEST(LossHighPlateau, WhereAllIsOverALossThatIsOnItsWayBackIsLeft) {
  StepFeed<LossHighPlateau> f(NoScaler());
  Noise noise;
  for (int i = 0; i < 1600; ++i) f.Step({.loss = Learning(i, &noise)});
  f.Steps({.loss = 7.5}, 64);
  f.Steps({.loss = 2.5}, 9);  // no block of its own yet
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.End(), Severity::kWarning);
}

TEST(LossHighPlateau, SeesALossThatCreepsUp) {
  StepFeed<LossHighPlateau> f(NoScaler());
  Noise noise;
  for (int i = 0; i < 2000; ++i) f.Step({.loss = Learning(i, &noise)});
  for (int i = 0; i < 4000; ++i) {
    f.Step({.loss = 2.5 + 0.002 * i + 0.05 * noise.Normal()});
  }
  EXPECT_EQ(f.worst, Severity::kCritical);
}

// From 3 to 4.5: too little for a level that is lost.
TEST(LossHighPlateau, WhereAllIsOverALanguageModelThatCreptUpIsAWarning) {
  for (const double end : {3.2, 4.5}) {
    StepFeed<LossHighPlateau> f;
    f.run.framework = "megatron";
    for (int i = 0; i < 500; ++i) f.Step({.loss = 3 + 8 * std::exp(-i / 50.0)});
    for (int i = 0; i < 300; ++i) f.Step({.loss = 3 + (end - 3) * i / 300});
    f.Steps({.loss = end}, 40);
    EXPECT_EQ(f.End(), end < 4 ? Severity::kNone : Severity::kWarning);
    if (f.now == Severity::kNone) continue;
    EXPECT_NEAR(f.Described().opened_step, 500, 40);
  }
}

TEST(LossHighPlateau, ALevelThatStaysIsNeverHealthy) {
  StepFeed<LossHighPlateau> f(NoScaler());
  Noise noise;
  for (int i = 0; i < 1600; ++i) f.Step({.loss = Learning(i, &noise)});
  f.Steps({.loss = 8}, 20000);
  EXPECT_EQ(f.now, Severity::kCritical);
  ExpectWords(f.Described().sentence);
  f.Steps({.loss = 2.5}, 30);  // the sentence stays that of the high level
  ExpectWords(f.Described().sentence);
}

TEST(LossHighPlateau, SeesALossThatDoublesSlowlyInNoise) {
  for (const double noise_of_level : {0.01, 0.05, 0.1}) {
    StepFeed<LossHighPlateau> f(NoScaler());
    Noise noise;
    const auto step = [&](double loss) {
      f.Step({.loss = loss * (1 + noise_of_level * noise.Normal())});
    };
    for (int i = 0; i < 1500; ++i) step(Learning(i, &noise));
    for (int i = 0; i < 300; ++i) step(2.5 * (1 + i / 300.0));
    EXPECT_LT(f.worst, Severity::kCritical);
    for (int i = 0; i < 1000; ++i) step(5);
    EXPECT_EQ(f.now, Severity::kCritical) << noise_of_level;
  }
}

// Wherever in a block of 16 it began.
TEST(LossHighPlateau, NamesTheFirstHighStep) {
  for (int healthy = 1600; healthy < 1616; ++healthy) {
    for (const int64_t unseen : {0, 9}) {
      StepFeed<LossHighPlateau> f(NoScaler());
      Noise noise;
      const auto step = [&](double loss) {
        f.Step({.loss = loss, .unseen = unseen});
      };
      for (int i = 0; i < healthy; ++i) step(Learning(i, &noise));
      const int64_t last = f.step;
      for (int i = 0; i < 96; ++i) step(7.5 + 0.05 * noise.Normal());
      ASSERT_EQ(f.now, Severity::kWarning) << healthy;
      EXPECT_EQ(f.Described().opened_step, last + 1 + unseen) << healthy;
    }
  }
}

TEST(LossHighPlateau, NamesNoStepBeforeACreepBegins) {
  StepFeed<LossHighPlateau> f(NoScaler());
  Noise noise;
  for (int i = 0; i < 3000; ++i) f.Step({.loss = Learning(i, &noise)});
  for (int i = 0; i < 2000; ++i) {
    f.Step({.loss = 2.5 * std::exp(i / 1000.0) + 0.05 * noise.Normal()});
  }
  EXPECT_EQ(f.now, Severity::kCritical);
  EXPECT_GT(f.Described().opened_step, 3000);
}

// What a language model had come to, as the engine hands it on.
LossReached AfterLearning() {
  StepFeed<LossHighPlateau> f(NoScaler());
  Noise noise;
  for (int i = 0; i < 2000; ++i) f.Step({.loss = Learning(i, &noise)});
  return f.rule.Reached().value();
}

TEST(LossHighPlateau, ARestartWithoutItsCheckpointIsTold) {
  StepFeed<LossHighPlateau> f(NoScaler());
  f.before = AfterLearning();
  EXPECT_EQ(f.before->last_step, 2000);
  EXPECT_EQ(f.before->records, 2000);
  EXPECT_NEAR(f.before->first, 11, 0.1);
  EXPECT_NEAR(f.before->level, 2.5, 0.1);
  f.step = 1990;
  f.Steps({.loss = 9}, 15);
  EXPECT_EQ(f.now, Severity::kNone);
  EXPECT_EQ(f.Steps({.loss = 9}, 1), Severity::kWarning);
  EXPECT_EQ(f.Described().opened_step, 1991);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Steps({.loss = 9}, 48), Severity::kCritical);
}

TEST(LossHighPlateau, ARestartOfAFineTuningThatLearnedLittleIsAWarning) {
  StepFeed<LossHighPlateau> f(NoScaler());
  f.before = LossReached{.first = 2.9,
                         .best = 2.7,
                         .level = 2.8,
                         .noise = 0.05,
                         .records = 320,
                         .level_step = 5000,
                         .last_step = 5000};
  f.step = 4900;
  f.Steps({.loss = 9}, 1000);
  EXPECT_EQ(f.worst, Severity::kWarning);
}

TEST(LossHighPlateau, HealthyRestartsAreLeftInPeace) {
  Noise noise;
  const auto worst = [&](int64_t from, const std::function<double(int)>& loss) {
    StepFeed<LossHighPlateau> f(NoScaler());
    f.before = AfterLearning();
    f.step = from;
    for (int i = 0; i < 2000; ++i) f.Step({.loss = loss(i)});
    return f.worst;
  };
  const auto learned = [&](int i) { return Learning(2000 + i, &noise); };
  const auto anew = [&](int i) { return Learning(i, &noise); };
  EXPECT_EQ(worst(1990, learned), Severity::kNone);
  EXPECT_EQ(worst(1000, learned), Severity::kNone);
  EXPECT_EQ(worst(0, anew), Severity::kNone) << "a job that begins anew";
  EXPECT_EQ(worst(500, anew), Severity::kNone) << "far back, logged seldom";
  EXPECT_EQ(worst(1990,
                  [&](int i) {  // without the optimizer's state
                    return learned(i) + 1.5 * std::exp(-i / 60.0);
                  }),
            Severity::kNone);
  EXPECT_EQ(worst(1990,
                  [&](int i) {  // twice as high at first
                    return learned(i) + 3 * std::exp(-i / 60.0);
                  }),
            Severity::kWarning);
  EXPECT_EQ(worst(2000, [&](int i) { return learned(i) + 1; }), Severity::kNone)
      << "the next stage of a curriculum";
}

// Of a critic whose level had risen before.
TEST(LossHighPlateau, AHighLevelThatARestartFindsAgainIsNotItsDoing) {
  StepFeed<LossHighPlateau> f(NoScaler());
  f.before = LossReached{.first = 1,
                         .best = 0.9,
                         .level = 4.5,
                         .noise = 0.05,
                         .records = 3200,
                         .level_step = 5000,
                         .last_step = 5000};
  f.step = 4900;
  f.Steps({.loss = 4.5}, 48);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Steps({.loss = 4.5}, 200);
  ExpectWords(f.Described().sentence);
}

// A job that crashes and begins anew without a checkpoint, again and again.
TEST(LossHighPlateau, EveryRestartWithoutACheckpointIsTold) {
  LossReached before = AfterLearning();
  for (int attempt = 0; attempt < 5; ++attempt) {
    StepFeed<LossHighPlateau> f(NoScaler());
    f.before = before;
    f.step = 1990 + 10 * attempt;
    f.Steps({.loss = 9}, 20);
    ASSERT_EQ(f.now, Severity::kWarning) << attempt;
    ExpectWords(f.Described().sentence);
    before = f.rule.Reached().value();
    EXPECT_TRUE(before.high);
  }
}

TEST(LossHighPlateau, WhatWasReachedOutlivesShortAttempts) {
  StepFeed<LossHighPlateau> f(NoScaler());
  EXPECT_EQ(f.rule.Reached(), std::nullopt);
  f.before = AfterLearning();
  f.step = 1990;
  f.Steps({.loss = 2.5}, 3);  // less than a block
  ASSERT_TRUE(f.rule.Reached().has_value());
  EXPECT_EQ(f.rule.Reached()->first, f.before->first);
  EXPECT_EQ(f.rule.Reached()->records, 2000);
  EXPECT_EQ(f.rule.Reached()->last_step, 1993);
}

TEST(LossHighPlateau, HealthyTrainingsAreLeftInPeace) {
  Noise noise;
  const auto quiet = [](const char* what,
                        const std::function<double(int)>& loss) {
    EXPECT_EQ(Worst(6000, loss), Severity::kNone) << what;
  };
  quiet("learning", [&](int i) { return Learning(i, &noise); });
  quiet("a spike that recovers", [&](int i) {
    const double spike = i > 3000 ? 6 * std::exp(-(i - 3000) / 30.0) : 0;
    return Learning(i, &noise) + spike;
  });
  quiet("harder data", [&](int i) {
    const auto stage = [](int since) {  // what is new is learned first
      return since < 0 ? 0 : 0.4 + 0.4 * std::exp(-since / 20.0);
    };
    return Learning(i, &noise) + stage(i - 2000) + stage(i - 4000);
  });
  quiet("a fine-tuning on its plateau",
        [&](int) { return 1.9 + 0.2 * noise.Normal(); });
  quiet("a generator against its critic", [&](int i) {
    return 1.4 + 0.8 * std::sin(i / 300.0) + 0.3 * noise.Normal();
  });
  quiet("a critic as rewards grow", [&](int i) {
    const double level = i < 1000 ? 2.0 : i < 2000 ? 0.4 : 1.5 + i / 3000.0;
    return level * std::exp(0.8 * noise.Normal());
  });
  quiet("a policy around 0", [&](int) { return 0.05 * noise.Normal(); });
  quiet("a policy that improves and worsens",
        [&](int i) { return -3 * std::sin(i / 900.0) + 0.1 * noise.Normal(); });
  quiet("tiny", [&](int i) { return 1e-6 * Learning(i, &noise); });
  quiet("two losses in turn",
        [&](int i) { return i % 2 == 0 ? Learning(i, &noise) : 0.4; });
}

// A block of 16 may end with the first high losses, among them too few to be
// high itself.
TEST(LossHighPlateau, BeginsWithTheFirstHighLossOfABlockThatIsNot) {
  for (int late = 1; late < 8; ++late) {
    StepFeed<LossHighPlateau> f(NoScaler());
    for (int i = 0; i < 160 - late; ++i) {
      f.Step({.loss = 0.3 + 4 * std::exp(-i / 20.0), .unseen = 3});
    }
    f.Steps({.loss = 4.5, .unseen = 3}, 100);
    ASSERT_GE(f.now, Severity::kWarning);
    EXPECT_EQ(f.Described().opened_step, 4 * (161 - late));
  }
}

TEST(LossHighPlateau, ALossThatStaysAboveItsBestIsSaidAtTheEnd) {
  for (const bool jumps : {true, false}) {
    StepFeed<LossHighPlateau> f;
    Noise noise;
    for (int i = 0; i < 600; ++i) {
      const double share =
          std::clamp((i - 300) / (jumps ? 1.0 : 250.0), 0.0, 1.0);
      f.Step({.loss = (1.7 + 3 * std::exp(-i / 40.0)) * (1 + 0.17 * share) *
                      std::exp(0.02 * noise.Normal())});
    }
    EXPECT_EQ(f.worst, Severity::kNone);
    EXPECT_EQ(f.End(), jumps ? Severity::kInfo : Severity::kWarning);
    EXPECT_NEAR(f.Described().opened_step, 280, 60);
  }
}

// It learned a fifth, beyond all noise, and half of that is gone.
TEST(LossHighPlateau, ALittleThatWasLearnedIsLostAsWell) {
  StepFeed<LossHighPlateau> f;
  Noise noise;
  for (int i = 0; i < 600; ++i) {
    const double learned = 0.2 * (1 - std::exp(-i / 50.0));
    const double lost = 0.16 * std::clamp((i - 270) / 250.0, 0.0, 1.0);
    f.Step({.loss = 10.8 * (1 - learned + lost) * noise.Factor(0.006)});
  }
  EXPECT_EQ(f.End(), Severity::kWarning);
}

}  // namespace
}  // namespace nanwatch
