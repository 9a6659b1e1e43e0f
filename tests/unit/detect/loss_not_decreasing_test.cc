// Rule 36: a loss that stands where it began, or guesses.

#include "detect/loss_not_decreasing.h"

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
  StepFeed<LossNotDecreasing> f(NoScaler());
  for (int i = 0; i < records; ++i) f.Step({.loss = loss(i)});
  return f.worst;
}

TEST(LossNotDecreasing, IsAWarningAfterTwoThousandStepsUntilItFalls) {
  StepFeed<LossNotDecreasing> f(NoScaler());
  Noise noise;
  const auto stand = [&](int records) {
    for (int i = 0; i < records; ++i) {
      f.Step({.loss = 17.6 + 0.1 * noise.Normal()});
    }
  };
  stand(2000);
  EXPECT_EQ(f.now, Severity::kNone);
  stand(16);
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Described().opened_step, 1);
  for (int i = 0; i < 400; ++i) f.Step({.loss = 17.0 + 0.1 * noise.Normal()});
  EXPECT_EQ(f.now, Severity::kNone);
  stand(5000);
  EXPECT_EQ(f.now, Severity::kNone) << "it is asked once";
}

TEST(LossNotDecreasing, ALossThatStandsStillToTheLastDigitIsAWarning) {
  const auto worst = [](int records, double noise_of_it, int again) {
    StepFeed<LossNotDecreasing> f(NoScaler());
    Noise noise;
    double loss = 3;
    for (int i = 0; i < 400; ++i) {
      if (i % again == 0) loss = 4 - 0.004 * i + noise_of_it * noise.Normal();
      f.Step({.loss = loss});
    }
    f.Steps({.loss = 2.31}, records);
    return f.now;
  };
  EXPECT_EQ(worst(19, 0.1, 1), Severity::kNone);
  EXPECT_EQ(worst(20, 0.1, 1), Severity::kWarning);
  EXPECT_EQ(worst(70, 0.1, 20), Severity::kNone) << "each is shown 20 times";
}

TEST(LossNotDecreasing, OneThatMovesAgainIsWell) {
  StepFeed<LossNotDecreasing> f(NoScaler());
  Noise noise;
  const auto learn = [&](double from) {
    for (int i = 0; i < 200; ++i) {
      f.Step({.loss = from - 0.004 * i + 0.05 * noise.Normal()});
    }
  };
  learn(4);
  f.Steps({.loss = 3.2}, 60);
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Described().opened_step, 201);
  ExpectWords(f.Described().sentence);
  learn(3.2);
  EXPECT_EQ(f.now, Severity::kNone);
}

TEST(LossNotDecreasing, ALanguageModelThatOnlyGuessesIsAWarning) {
  const auto after = [](const char* framework, double loss, int lines) {
    StepFeed<LossNotDecreasing> f(NoScaler());
    f.run.framework = framework;
    Noise noise;
    for (int i = 0; i < lines; ++i) {
      f.Step({.loss = loss + 0.05 * noise.Normal(), .unseen = 9});
    }
    return f.now;
  };
  EXPECT_EQ(after("megatron", 11.9, 100), Severity::kNone);
  EXPECT_EQ(after("megatron", 11.9, 112), Severity::kWarning);
  EXPECT_EQ(after("megatron", 2.1, 112), Severity::kNone) << "a fine-tuning";
  EXPECT_EQ(after("mmcv", 11.5, 112), Severity::kNone) << "of other units";
  EXPECT_EQ(after("mmcv", 6.908, 112), Severity::kWarning) << "ln 1000";
}

// An accuracy is spoken of where one was told.
TEST(LossNotDecreasing, FarAboveGuessingNoAccuracyIsClaimed) {
  StepFeed<LossNotDecreasing> words(NoScaler());
  words.run.framework = "nanogpt";
  Noise noise;
  for (int i = 0; i < 112; ++i) {
    words.Step({.loss = 212 + 0.05 * noise.Normal(), .unseen = 9});
  }
  EXPECT_EQ(words.now, Severity::kWarning);
  ExpectWords(words.Described().sentence);
}

// The first epoch is none of where it stands.
TEST(LossNotDecreasing, WhereAGuessStandsIsToldOfTheNewest) {
  StepFeed<LossNotDecreasing> f(NoScaler());
  f.run.settings = {{"accuracy", "0.1003"}, {"records", "epochs"}};
  Noise noise;
  for (int i = 0; i < 30; ++i) {
    f.Step({.loss = i == 0 ? 2.884 : 2.303 * noise.Factor(0.0005)});
  }
  EXPECT_EQ(f.End(), Severity::kWarning);
  EXPECT_NEAR(*NumberOf(f.Described(), "loss"), 2.303, 5e-4);
}

// A classifier of ten whose units died: what guessing costs is ln 10.
TEST(LossNotDecreasing, AClassifierThatGuessesIsAWarningAfterItsWarmUp) {
  const auto feed = [](double fall, int warm_up, int records) {
    StepFeed<LossNotDecreasing> f(NoScaler());
    f.run.settings["last_layer"] = "10";
    Noise noise;
    for (int i = 0; i < records; ++i) {
      const double learned = std::max(0, i - warm_up) * fall;
      f.Step({.loss = 2.303 - learned + 0.01 * noise.Normal(),
              .learning_rate = std::min(1.0, (i + 1.0) / (warm_up + 1))});
    }
    return f;
  };
  EXPECT_EQ(feed(0, 0, 199).worst, Severity::kNone);
  EXPECT_EQ(feed(0, 0, 202).now, Severity::kWarning);
  ExpectWords(feed(0, 0, 202).Described().sentence);
  EXPECT_EQ(feed(0, 300, 400).worst, Severity::kNone) << "the rate rises yet";
  EXPECT_EQ(feed(0, 300, 502).now, Severity::kWarning);
  EXPECT_EQ(feed(1e-4, 0, 2000).worst, Severity::kNone) << "it learns, slowly";
  StepFeed<LossNotDecreasing> other(NoScaler());  // its loss is no such one
  other.run.settings["last_layer"] = "10";
  other.Steps({.loss = 1.5, .learning_rate = 1}, 400);
  EXPECT_EQ(other.worst, Severity::kNone);
}

// DPO whose reference is the policy itself: ln 2 for ever.
TEST(LossNotDecreasing, TheSameToTheLastDigitWithoutAGradientIsAWarning) {
  const Update same = {.loss = 0.6931, .grad_norm = 0};
  StepFeed<LossNotDecreasing> f(NoScaler());
  EXPECT_EQ(f.Steps(same, 49), Severity::kNone);
  EXPECT_EQ(f.Step(same), Severity::kWarning);
  EXPECT_EQ(f.Steps(same, 100), Severity::kWarning);
  f.Steps({.loss = 0.5, .grad_norm = 1}, 400);
  EXPECT_EQ(f.now, Severity::kNone) << "it moved";
  StepFeed<LossNotDecreasing> learned(NoScaler());
  EXPECT_EQ(learned.Steps({.loss = 0.0001, .grad_norm = 0}, 200),
            Severity::kNone);
  StepFeed<LossNotDecreasing> bare(NoScaler());
  EXPECT_EQ(bare.Steps({.loss = 0.6931}, 50), Severity::kWarning);
  StepFeed<LossNotDecreasing> rounded(NoScaler());
  EXPECT_EQ(rounded.Steps({.loss = 0.69}, 200), Severity::kNone);
}

TEST(LossNotDecreasing, WhatFellOrCannotBeToldIsLeftInPeace) {
  Noise noise;
  const auto quiet = [](const char* what,
                        const std::function<double(int)>& loss) {
    EXPECT_EQ(Worst(20000, loss), Severity::kNone) << what;
  };
  quiet("learning", [&](int i) { return Learning(i, &noise); });
  quiet("slowly, in noise", [&](int i) {
    return 2.5 - 0.3 * std::min(1.0, i / 10000.0) + 0.5 * noise.Normal();
  });
  quiet("a fine-tuning on its plateau", [&](int i) {
    return 1.9 - 0.05 * std::min(1.0, i / 1000.0) + 0.02 * noise.Normal();
  });
  quiet("a critic", [&](int) { return std::exp(0.8 * noise.Normal()); });
  quiet("a policy", [&](int) { return -0.02 + 0.05 * noise.Normal(); });
  quiet("a loss of 0 by construction", [&](int) { return 0.0; });
}

// A fine-tuned diffusion model: what noise was drawn decides its loss.
TEST(LossNotDecreasing, ALossThatScattersWidelyMayStand) {
  Noise noise;
  EXPECT_EQ(
      Worst(6000, [&](int) { return 0.1 * std::exp(0.4 * noise.Normal()); }),
      Severity::kNone);
}

TEST(LossNotDecreasing, ALossThatMovedIsNotSaidToStand) {
  Noise noise;
  StepFeed<LossNotDecreasing> log(NoScaler());  // its fall is 20 lines long
  for (int i = 0; i < 600; ++i) {
    const double loss = 2.8 + 7 * std::exp(-i / 5.0);
    log.Step({.loss = loss + 0.003 * noise.Normal(), .unseen = 99});
  }
  EXPECT_EQ(log.worst, Severity::kNone);
  StepFeed<LossNotDecreasing> rose(NoScaler());
  for (int i = 0; i < 3000; ++i) {
    rose.Step({.loss = (i < 150 ? 4.5 : 11.5) + 0.01 * noise.Normal()});
  }
  EXPECT_EQ(rose.worst, Severity::kNone);
}

// Shuffled labels, an optimizer of other weights: at a loss that nobody knows
// for guessing.
TEST(LossNotDecreasing, AnyLevelThatNeverMovesIsAWarning) {
  const auto feed = [](double width, double falls, int records) {
    StepFeed<LossNotDecreasing> f(NoScaler());
    Noise noise;
    for (int i = 0; i < records; ++i) {
      f.Step({.loss = (1.7132 - falls * i) * noise.Factor(width),
              .learning_rate = 1e-3});
    }
    return f;
  };
  EXPECT_EQ(feed(0.01, 0, 199).worst, Severity::kNone);
  EXPECT_EQ(feed(0.01, 0, 300).now, Severity::kWarning);
  ExpectWords(feed(0.01, 0, 300).Described().sentence);
  EXPECT_EQ(feed(0.01, 1e-4, 300).worst, Severity::kNone) << "it falls, slowly";
  EXPECT_EQ(feed(0.2, 0, 1900).worst, Severity::kNone) << "noise may hide it";
  StepFeed<LossNotDecreasing> log(NoScaler());  // without its rate
  Noise noise;
  for (int i = 0; i < 160; ++i) {
    log.Step({.loss = 1.7132 * noise.Factor(0.01), .unseen = 9});
  }
  EXPECT_EQ(log.now, Severity::kNone);
  EXPECT_EQ(log.End(), Severity::kWarning) << "no more is to come";
}

// A net that says the same of all inputs: no batch moves its loss.
TEST(LossNotDecreasing, ALossThatNoBatchMovesIsToldFromFewRecords) {
  const auto feed = [](int records, double falls) {
    StepFeed<LossNotDecreasing> f(NoScaler());
    Noise noise;
    for (int i = 0; i < records; ++i) {
      const double first = 0.01 * std::exp(-i / 2.0);
      f.Step({.loss = 6.2364 * (1 + first - falls * i) * noise.Factor(3e-4)});
    }
    return f;
  };
  EXPECT_EQ(feed(90, 0).now, Severity::kNone);
  EXPECT_EQ(feed(90, 0).End(), Severity::kWarning);
  EXPECT_EQ(feed(300, 0).End(), Severity::kWarning);
  EXPECT_EQ(feed(90, 1e-4).End(), Severity::kNone) << "it falls";
  EXPECT_EQ(feed(300, 1e-4).End(), Severity::kNone);
  EXPECT_EQ(feed(30, 0).End(), Severity::kNone) << "too few";
}

// Each of 4,096 samples is as likely as any other.
TEST(LossNotDecreasing, AContrastiveLossAtGuessingIsAWarningOfFewRecords) {
  const auto feed = [](int records, double level, double noise_of) {
    StepFeed<LossNotDecreasing> f(NoScaler());
    Noise noise;
    for (int i = 0; i < records; ++i) {
      const double first = 0.15 * std::exp(-i / 3.0);
      const double loss = level * (1 + first) * noise.Factor(noise_of);
      f.Step({.loss = loss, .unseen = 99});
    }
    return f;
  };
  const double guessing = std::log(4096);
  StepFeed<LossNotDecreasing> f = feed(120, guessing, 1e-4);
  EXPECT_EQ(f.End(), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(feed(12, guessing, 1e-4).End(), Severity::kNone) << "too few";
  EXPECT_EQ(feed(120, 8.25, 1e-4).End(), Severity::kNone) << "another level";
  EXPECT_EQ(feed(120, guessing, 0.01).End(), Severity::kNone)
      << "batches move it";
}

// Ten classes of deep sigmoids: 300 records at ln 10, then it learns.
TEST(LossNotDecreasing, OneThatLearnsAfterAllWasNoTrouble) {
  StepFeed<LossNotDecreasing> f(NoScaler());
  Noise noise;
  int learned = 0;
  const auto learn = [&](int records) {
    for (int i = 0; i < records; ++i) {
      const double left = std::max(0.3, std::exp(-0.02 * learned++));
      f.Step({.loss = 2.3026 * left * noise.Factor(0.003),
              .learning_rate = 0.001});
    }
  };
  for (int i = 0; i < 300; ++i) {
    f.Step({.loss = 2.3026 * noise.Factor(0.003), .learning_rate = 0.001});
  }
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_FALSE(NumberOf(f.Described(), "stood"));
  learn(40);
  EXPECT_EQ(f.now, Severity::kWarning) << "told a while longer";
  EXPECT_NEAR(NumberOf(f.Described(), "stood").value_or(0), 2.3026, 0.01);
  ExpectWords(f.Described().sentence);
  learn(300);
  EXPECT_EQ(f.now, Severity::kNone);
}

// However it began, and of few records, where the accuracies beside it are
// those of guessing.
TEST(LossNotDecreasing, AccuraciesOfGuessingAreEvidence) {
  const auto at_end = [](const char* accuracy, int records, bool epochs) {
    StepFeed<LossNotDecreasing> f(NoScaler());
    f.run.settings["accuracy"] = accuracy;
    if (epochs) f.run.settings["records"] = "epochs";
    Noise noise;
    for (int i = 0; i < records; ++i) {
      f.Step({.loss = i == 0 ? 5.9 : 2.3026 * noise.Factor(0.002)});
    }
    return f.End();
  };
  EXPECT_EQ(at_end("0.1003", 30, true), Severity::kWarning);
  EXPECT_EQ(at_end("10.03", 100, false), Severity::kWarning) << "percent";
  EXPECT_EQ(at_end("0.1003", 30, false), Severity::kNone) << "too few";
  EXPECT_EQ(at_end("0.35", 100, false), Severity::kNone) << "it knows more";
}

// All outputs are blanks: no batch moves the loss, and it is no learned one.
TEST(LossNotDecreasing, OneThatNoBatchMovesAboveItsStartIsAWarning) {
  const auto at_end = [](double level) {
    StepFeed<LossNotDecreasing> f(NoScaler());
    Noise noise;
    for (const double loss : {3.136, 2.912, 2.947}) f.Step({.loss = loss});
    for (int i = 0; i < 57; ++i) f.Step({.loss = level * noise.Factor(5e-4)});
    return f.End();
  };
  EXPECT_EQ(at_end(3.322), Severity::kWarning);
  EXPECT_EQ(at_end(2.5), Severity::kNone) << "it may have converged";
}

// At a rate that nobody fine-tunes with, batches hide less.
TEST(LossNotDecreasing, AHighRateMovesWhatLearns) {
  const auto at_end = [](double rate, double falls) {
    StepFeed<LossNotDecreasing> f(NoScaler());
    Noise noise;
    for (int i = 0; i < 100; ++i) {
      const double loss = 1.75 * (1 - falls * i) * noise.Factor(0.07);
      f.Step({.loss = loss, .learning_rate = rate, .unseen = 19});
    }
    return f.End();
  };
  EXPECT_EQ(at_end(0.1, 0), Severity::kWarning);
  EXPECT_EQ(at_end(1e-4, 0), Severity::kNone) << "noise hides it";
  EXPECT_EQ(at_end(0.1, 1.5e-3), Severity::kNone) << "it learns";
}

TEST(LossNotDecreasing, ResumedIdleAndShortRunsAreNotAsked) {
  StepFeed<LossNotDecreasing> resumed(NoScaler());
  resumed.Step({.loss = 2.5, .unseen = 31000});
  resumed.Steps({.loss = 2.5}, 5000);
  EXPECT_EQ(resumed.worst, Severity::kNone);
  StepFeed<LossNotDecreasing> idle(NoScaler());
  idle.Steps({.loss = 2.5, .learning_rate = 0}, 5000);
  EXPECT_EQ(idle.worst, Severity::kNone);
  StepFeed<LossNotDecreasing> skipped(Scaler("pytorch"));
  skipped.Steps({.overflow = true, .skipped = true, .loss = 2.5}, 5000);
  EXPECT_EQ(skipped.worst, Severity::kNone);
  StepFeed<LossNotDecreasing> log(NoScaler());  // 255 lines, every 100 steps
  log.Steps({.loss = 2.5, .unseen = 99}, 10);
  EXPECT_EQ(log.worst, Severity::kNone);
}

TEST(LossNotDecreasing, ALossOf0WithNextToNoGradientIsAWarning) {
  StepFeed<LossNotDecreasing> f(NoScaler());
  EXPECT_EQ(f.Steps({.loss = 0, .grad_norm = 3e-9, .learning_rate = 1e-5}, 40),
            Severity::kWarning);
  StepFeed<LossNotDecreasing> moves(NoScaler());
  EXPECT_EQ(
      moves.Steps({.loss = 0, .grad_norm = 0.1, .learning_rate = 1e-5}, 99),
      Severity::kNone);
}

// Above where it began, and below what loss_spike calls a rise.
TEST(LossNotDecreasing, WhatRisesByAFifthAndStaysIsANote) {
  StepFeed<LossNotDecreasing> f(NoScaler());
  Noise noise;
  for (int i = 0; i < 3000; ++i) {
    const double level = 3.02 + 0.6 * std::min(1.0, i / 300.0);
    f.Step({.loss = level * noise.Factor(0.01)});
  }
  EXPECT_EQ(f.now, Severity::kInfo);
  ExpectWords(f.Described().sentence);
}

// It was fine-tuned, and rose to what guessing costs.
TEST(LossNotDecreasing, WhatBeganBelowAGuessAndCameToItGoesOnGuessing) {
  StepFeed<LossNotDecreasing> f(NoScaler());
  Noise noise;
  for (int i = 0; i < 2400; ++i) {
    const double level = std::min(std::log(1000.0), 4.6 + 0.024 * i);
    f.Step({.loss = level * noise.Factor(2e-3)});
  }
  EXPECT_EQ(f.now, Severity::kWarning);
}

}  // namespace
}  // namespace nanwatch
