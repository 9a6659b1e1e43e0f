// Rule 36: what says beside the loss that nothing is learned, or that it may
// stand.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "detect/clamped_log.h"
#include "detect/loss_not_decreasing.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/noise.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

using Feed = StepFeed<LossNotDecreasing>;

// A steep fall, and a level that is some degenerate solution's.
Feed FallsAndStands(const char* scores, double falls = 0, int records = 21) {
  Feed f(NoScaler());
  f.run.settings["scores_worst"] = scores;
  Noise noise;
  for (const double loss : {6.4, 4.1, 3.2}) f.Step({.loss = loss});
  for (int i = 0; i < records; ++i) {
    f.Step({.loss = 2.97 * (1 - falls * i) * noise.Factor(0.01)});
  }
  return f;
}

TEST(LossStands, ScoresThatStayTheWorstAreAWarning) {
  Feed f = FallsAndStands("16");
  EXPECT_EQ(f.now, Severity::kWarning);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(FallsAndStands("16", 0, 400).End(), Severity::kWarning);
  EXPECT_EQ(FallsAndStands("").now, Severity::kNone) << "no scores";
  EXPECT_EQ(FallsAndStands("12").now, Severity::kNone) << "few";
  EXPECT_EQ(FallsAndStands("16", 0.02).now, Severity::kNone) << "it falls";
}

TEST(LossStands, BesideALossThatNeverFellFewerWorstScoresAreEnough) {
  const auto stands = [](const char* scores, double falls) {
    Feed f(NoScaler());
    f.run.settings["scores_worst"] = scores;
    Noise noise;
    for (int i = 0; i < 12; ++i) {
      f.Step(
          {.loss = 4.9 * (1 - falls * i) * noise.Factor(0.004), .unseen = 19});
    }
    return f.now;
  };
  EXPECT_EQ(stands("8", 0), Severity::kWarning);
  EXPECT_EQ(stands("", 0), Severity::kNone) << "no scores";
  EXPECT_EQ(stands("8", 0.01), Severity::kNone) << "it falls";
}

// What it had learned and lost again is other rules' matter.
TEST(LossStands, ALossThatFellAndDivergedIsNoneThatStood) {
  const auto end = [](double low) {
    Feed f(NoScaler());
    Noise noise;
    for (int i = 0; i < 100; ++i) {
      const double course = low + (6.6 - low) * std::exp(-i / 10.0);
      f.Step({.loss = course * noise.Factor(0.005)});
    }
    for (int i = 0; i < 240; ++i) {
      f.Step({.loss = (7 + 1.9 * std::exp(-i / 40.0)) * noise.Factor(0.005)});
    }
    return f.End();
  };
  EXPECT_EQ(end(2.1), Severity::kNone);
  EXPECT_EQ(end(6.6), Severity::kWarning) << "it never fell";
}

// Of what an accuracy lacks 0 is the best that there is.
TEST(LossStands, AnAccuracyThatIsFullIsNoTrouble) {
  const auto full = [](const char* loss, const char* accuracy) {
    Feed f(NoScaler());
    f.run.settings["loss"] = loss;
    f.run.settings["accuracy"] = accuracy;
    f.Steps({.loss = 0}, 60);
    f.End();
    return f.now;
  };
  EXPECT_EQ(full("accuracy", "0.98"), Severity::kNone);
  EXPECT_GT(full("accuracy", "0.002"), Severity::kNone) << "of another name";
  EXPECT_GT(full("negative", ""), Severity::kNone);
}

TEST(LossStands, EvaluationsThatAreAllTheSameAreAWarning) {
  const auto stands = [](const char* evaluations, double falls) {
    Feed f(NoScaler());
    f.run.settings["evaluations_same"] = evaluations;
    Noise noise;
    for (int i = 0; i < 24; ++i) {
      f.Step({.loss = 2.3 * (1 - falls * i) * noise.Factor(0.02)});
    }
    return f;
  };
  Feed f = stands("5", 0);
  EXPECT_EQ(f.now, Severity::kWarning);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(stands("", 0).now, Severity::kNone);
  EXPECT_EQ(stands("5", 0.02).now, Severity::kNone) << "it falls";
}

TEST(LossStands, WhereNoMeanOfNormsIsFiniteIsAWarning) {
  const auto stands = [](const char* norms, double falls) {
    Feed f(NoScaler());
    f.run.settings["norms_not_finite"] = norms;
    Noise noise;
    for (int i = 0; i < 24; ++i) {
      f.Step({.loss = 21 * (1 - falls * i) * noise.Factor(0.02)});
    }
    return f;
  };
  Feed f = stands("16", 0);
  EXPECT_EQ(f.now, Severity::kWarning);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(stands("8", 0).now, Severity::kNone) << "few";
  EXPECT_EQ(stands("", 0).now, Severity::kNone);
  EXPECT_EQ(stands("16", 0.02).now, Severity::kNone) << "it falls";
}

// Of few epochs, too.
TEST(LossStands, OneThatLeavesItsFirstEpochsIsOver) {
  Feed f(NoScaler());
  f.run.settings["records"] = "epochs";
  Noise noise;
  for (int i = 0; i < 20; ++i) f.Step({.loss = 1 * noise.Factor(0.003)});
  EXPECT_EQ(f.now, Severity::kWarning);
  for (int i = 0; i < 40; ++i) {
    f.Step({.loss = (0.05 + std::exp(-0.15 * i)) * noise.Factor(0.003)});
  }
  f.End();
  EXPECT_TRUE(NumberOf(f.Described(), "stood"));
}

TEST(LossStands, AScoreThatComesEndsIt) {
  Feed f = FallsAndStands("16");
  f.run.settings["scores_worst"] = "";
  Noise noise;
  for (int i = 0; i < 400; ++i) {
    f.Step({.loss = 2.97 * std::exp(-0.01 * i) * noise.Factor(0.01)});
  }
  EXPECT_EQ(f.now, Severity::kNone);
}

// Dead units in the middle of a run: no batch moves the loss any more.
TEST(LossStands, OneThatStopsAfterFewRecordsIsAWarning) {
  const auto stops = [](int before, int records) {
    Feed f(NoScaler());
    Noise noise;
    for (int i = 0; i < before; ++i) {
      f.Step({.loss = 2.42 * noise.Factor(0.02)});
    }
    f.Steps({.loss = 2.302585}, records);
    return f.now;
  };
  EXPECT_EQ(stops(6, 32), Severity::kWarning);
  EXPECT_EQ(stops(20, 32), Severity::kWarning);
  EXPECT_EQ(stops(6, 12), Severity::kNone) << "a bar may show one again";
}

// Full batches come to rest: each move is smaller than the one before.
TEST(LossStands, OneThatComesToRestHasConverged) {
  Feed f(NoScaler());
  for (int i = 0; i < 400; ++i) {
    const double loss = 0.5 + 2 * std::exp(-i / 20.0);
    f.Step({.loss = std::round(loss * 1e4) / 1e4});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
  // By other ways: fast, in ever fewer leaps, and with a last wobble.
  Feed fast(NoScaler());
  for (int i = 0; i < 60; ++i) {
    const double loss = 0.2731 + 0.42 * std::exp(-i / 5.0);
    fast.Step({.loss = std::round(loss * 1e4) / 1e4});
  }
  EXPECT_EQ(fast.worst, Severity::kNone);
  Feed leaps(NoScaler());
  for (const double loss : {1834.2517, 912.0713, 640.1139, 603.5551}) {
    leaps.Step({.loss = loss});
  }
  leaps.Steps({.loss = 598.2217}, 60);
  EXPECT_EQ(leaps.worst, Severity::kNone);
}

// Weights that are not updated any more, while the loss still fell.
TEST(LossStands, OneThatStopsOnItsWayDownIsAWarning) {
  const auto stops = [](double noise_of, double digits) {
    Feed f(NoScaler());
    Noise noise;
    double loss = 0;
    for (int i = 0; i < 30; ++i) {
      loss = (0.3 + 4 * std::exp(-i / 15.0)) * noise.Factor(noise_of);
      loss = std::round(loss * digits) / digits;
      f.Step({.loss = loss});
    }
    f.Steps({.loss = loss}, 25);
    return f;
  };
  EXPECT_EQ(stops(0.05, 1e3).now, Severity::kWarning);
  EXPECT_EQ(stops(0, 1e6).now, Severity::kNone) << "as boosters do";
  EXPECT_TRUE(stops(0.05, 1e3).rule.IsAbsurd()) << "of rivals, too";
}

// A rival's loss may be printed a hundred times before it is new.
TEST(LossStands, OneThatIsShownAgainIsNotSaidToStopOfRivals) {
  Feed f(NoScaler());
  Noise noise;
  for (int i = 0; i < 12; ++i) {
    f.Steps({.loss = std::round(6931 * noise.Factor(0.1)) / 1e4}, 100);
    EXPECT_TRUE(i == 0 ? !f.rule.IsAbsurd() : f.now == Severity::kNone) << i;
  }
}

// 0 of 0 is no move.
TEST(LossStands, TwoZerosInARowHideNothing) {
  Feed f(NoScaler());
  Noise noise;
  for (int i = 0; i < 40; ++i) f.Step({.loss = 2.42 * noise.Factor(0.02)});
  f.Steps({.loss = 0}, 2);
  for (int i = 0; i < 40; ++i) f.Step({.loss = 2.42 * noise.Factor(0.02)});
  f.Steps({.loss = 2.302585}, 60);
  EXPECT_EQ(f.now, Severity::kWarning);
}

TEST(LossStands, AtTheEndTwelveRecordsAlikeAreEnough) {
  const auto at_end = [](double loss, int records) {
    Feed f(NoScaler());
    f.Steps({.loss = loss}, records);
    return f.End();
  };
  EXPECT_EQ(at_end(0.6931472, 12), Severity::kWarning);
  EXPECT_EQ(at_end(0.6931472, 11), Severity::kNone);
  EXPECT_EQ(at_end(0.693, 14), Severity::kNone) << "it may be rounded";
  EXPECT_EQ(at_end(0.693, 32), Severity::kWarning);
  EXPECT_EQ(at_end(2500.1234, 32), Severity::kWarning);
  EXPECT_EQ(at_end(0.69, 30), Severity::kNone);
  EXPECT_EQ(at_end(0, 14), Severity::kWarning);
}

TEST(LossStands, ALossOfZeroAloneMayBeSomePolicys) {
  Feed f(NoScaler());
  f.run.settings = {{"trains_on", "rewards"}};
  f.Steps({.loss = 0}, 14);
  EXPECT_EQ(f.End(), Severity::kInfo);
}

TEST(LossStands, ALossOfZeroWithGradientsIsSomePolicys) {
  Feed f(NoScaler());
  f.Steps({.loss = 0, .grad_norm = 0.3}, 30);
  EXPECT_EQ(f.End(), Severity::kNone);
}

TEST(LossStands, APolicyWithoutAGradientIsLostAtItsLowestScores) {
  const Update with = {.loss = 0, .grad_norm = 0.3, .learning_rate = 1e-6};
  const Update without = {.loss = 0, .grad_norm = 0, .learning_rate = 1e-6};
  const auto fed = [&](bool lost) {
    Feed f(NoScaler());
    if (lost) f.run.settings["scores_lowest"] = "32";
    f.Steps(with, 6);
    f.Steps(without, 47);
    EXPECT_EQ(f.worst, Severity::kNone);
    f.Steps(without, 1);
    return f;
  };
  EXPECT_EQ(fed(true).now, Severity::kWarning);
  EXPECT_EQ(fed(true).Described().opened_step, 7);
  EXPECT_EQ(fed(false).now, Severity::kNone) << "it has solved its task";
  Feed seldom(NoScaler());
  seldom.run.settings = fed(true).run.settings;
  for (const int gone : {12, 20, 48}) {
    seldom.Steps(without, gone);
    seldom.Steps(with, 1);
  }
  EXPECT_EQ(seldom.worst, Severity::kNone) << "rewards are seldom";
}

// Of few epochs, whatever stands beside them.
TEST(LossStands, MeansThatAreWhatGuessingCostsToTheDigitAreEvidence) {
  const auto at_end = [](double cost, int epochs) {
    StepFeed<LossNotDecreasing> f(NoScaler());
    Noise noise;
    for (int i = 0; i < epochs; ++i) {
      const double above = 0.025 * std::exp(-2.0 * i);
      const double loss = cost * noise.Factor(2e-5) + above;
      f.Step({.loss = loss, .learning_rate = i < 4 ? 5e-4 * (i + 1) : 2e-3});
    }
    return f.End();
  };
  EXPECT_EQ(at_end(0.693147, 27), Severity::kWarning);
  EXPECT_EQ(at_end(2.302585, 27), Severity::kWarning);
  EXPECT_EQ(at_end(0.693147, 15), Severity::kNone) << "too few";
  EXPECT_EQ(at_end(0.6914, 27), Severity::kNone) << "it knows more";
}

TEST(LossStands, WhatBeginsTrainedMayStand) {
  const auto at_end = [](const char* setting, const char* value) {
    Feed f(NoScaler());
    f.run.settings[setting] = value;
    Noise noise;
    for (int i = 0; i < 1000; ++i) f.Step({.loss = 3 * noise.Factor(0.005)});
    return f.End();
  };
  EXPECT_EQ(at_end("", ""), Severity::kWarning);
  EXPECT_EQ(at_end("begins", "trained"), Severity::kNone);
  EXPECT_EQ(at_end("loss", "denoising"), Severity::kNone);
}

TEST(LossStands, LossesOfClampedLogarithmsAreNamed) {
  EXPECT_EQ(ClampedLogOf(87.3365f), "1.2e-38");
  EXPECT_EQ(ClampedLogOf(16.1181f), "1e-7");
  EXPECT_EQ(ClampedLogOf(87.34f), "");
  EXPECT_EQ(ClampedLogOf(2.3026f), "");
  Feed f(NoScaler());
  f.Steps({.loss = 87.3365}, 60);
  ExpectWords(f.Described().sentence);
}

}  // namespace
}  // namespace nanwatch
