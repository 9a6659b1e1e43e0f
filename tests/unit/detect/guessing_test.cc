// Rule 35 of losses worse than guessing.

#include "detect/guessing.h"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "detect/loss_high_plateau.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

StepFeed<LossHighPlateau> Language() {
  StepFeed<LossHighPlateau> f;
  f.run.framework = "megatron";
  return f;
}

// BigScience's tr8-104B, three step lines of ten steps each.
TEST(Guessing, ALanguageModelWorseThanGuessingIsLostIfItIsNotBack) {
  StepFeed<LossHighPlateau> f = Language();
  f.Step({.loss = 6.444662, .unseen = 6999});
  EXPECT_EQ(f.Step({.loss = 11.42026, .unseen = 9}), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Described().opened_step, 7010);
  StepFeed<LossHighPlateau> there = f;
  EXPECT_EQ(there.End(), Severity::kCritical);
  f.Step({.loss = 7.155109, .unseen = 209});
  StepFeed<LossHighPlateau> away = f;
  EXPECT_EQ(away.End(), Severity::kCritical);
  ExpectWords(away.Described().sentence);
  EXPECT_EQ(away.Described().opened_step, 7010);
  f.Step({.loss = 6.5, .unseen = 9});
  EXPECT_EQ(f.End(), Severity::kWarning) << "it is back";
  EXPECT_EQ(f.Steps({.loss = 6.5, .unseen = 9}, 62), Severity::kNone);
}

TEST(Guessing, ASpikeAboveGuessingThatComesBackIsAWarning) {
  for (const int every : {1, 10, 100}) {
    for (const double peak : {10.9, 12.0, 14.0}) {
      StepFeed<LossHighPlateau> f = Language();
      f.Steps({.loss = 2.77, .unseen = every - 1}, 200);
      for (int i = 0; i < 2000 / every; ++i) {
        const double back = std::exp(-i * every / 160.0);
        f.Step({.loss = 2.77 + (peak - 2.77) * back, .unseen = every - 1});
      }
      f.End();
      EXPECT_EQ(f.worst, Severity::kWarning) << every << " " << peak;
    }
  }
}

TEST(Guessing, WorseThanGuessingForLongIsCritical) {
  for (const int every : {1, 10, 100}) {
    StepFeed<LossHighPlateau> f = Language();
    f.Steps({.loss = 2.77, .unseen = every - 1}, 100);
    const int64_t from = f.step + every;
    while (f.now < Severity::kCritical && f.step < from + 2000) {
      f.Step({.loss = 10.9, .unseen = every - 1});
    }
    EXPECT_EQ(f.now, Severity::kCritical) << every;
    EXPECT_GE(f.step - from, 250) << every;
    EXPECT_LE(f.step - from, 400) << every;
  }
}

TEST(Guessing, ASpikeBelowGuessingIsNot) {
  // BigScience's tr1-13B; and others that it must not accuse.
  StepFeed<LossHighPlateau> f = Language();
  for (const double loss :
       {2.776, 2.773, 2.768, 7.344, 8.716, 7.654, 7.192, 6.849}) {
    f.Step({.loss = loss, .unseen = 9});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
  StepFeed<LossHighPlateau> start = Language();
  for (const double loss : {12.44, 11.9, 10.8, 10.4, 9.9, 8.1, 7.75, 7.7}) {
    start.Step({.loss = loss, .unseen = 9});
  }
  EXPECT_EQ(start.worst, Severity::kNone);
  StepFeed<LossHighPlateau> other;  // detection, regression: 11 is a number
  for (const double loss : {6.4, 11.4, 30.0, 49.0, 5.0, 17.6}) {
    other.Step({.loss = loss, .unseen = 9});
  }
  EXPECT_EQ(other.worst, Severity::kNone);
  StepFeed<LossHighPlateau> large = Language();  // it tells its vocabulary
  large.run.settings["untrained_loss"] = "12.4";
  large.Step({.loss = 6.4, .unseen = 6999});
  EXPECT_EQ(large.Step({.loss = 11.4, .unseen = 9}), Severity::kNone);
  EXPECT_EQ(large.Step({.loss = 12.5, .unseen = 9}), Severity::kWarning);
}

TEST(Guessing, OneStrangeBatchIsNotGuessing) {
  StepFeed<LossHighPlateau> f;
  f.run.settings["untrained_loss"] = "10.8";
  f.Steps({.loss = 3}, 100);
  f.Steps({.loss = 12}, 4);
  f.Steps({.loss = 3}, 100);
  EXPECT_EQ(f.worst, Severity::kNone);
  f.Steps({.loss = 12}, 5);
  EXPECT_EQ(f.now, Severity::kWarning);
}

// nanoGPT on 65 characters, whose rate is 3,000 times too high.
TEST(Guessing, AFreshClassifierThatIsFarWorseIsCriticalByTheTwentiethRecord) {
  const auto feed = [](std::vector<double> losses) {
    StepFeed<LossHighPlateau> f(NoScaler());
    f.run.settings["last_layer"] = "65";
    for (const double loss : losses) f.Step({.loss = loss});
    return f;
  };
  const std::vector<double> rises = {4.2,  3.5, 5.9, 8.0,  11,  12, 15,
                                     13,   11,  7.5, 4.8,  9.9, 11, 9.0,
                                     12.5, 8.8, 14,  11.2, 7.8, 16};
  EXPECT_EQ(feed(rises).now, Severity::kCritical);
  EXPECT_EQ(feed(rises).Described().opened_step, 3);
  ExpectWords(feed(rises).Described().sentence);
  std::vector<double> comes_down = {4.2, 7.6, 11.2, 17.9, 20.4};
  for (int i = 0; i < 30; ++i)
    comes_down.push_back(3.5 + 17 * std::exp(-i / 4.0));
  EXPECT_EQ(feed(comes_down).worst, Severity::kWarning);
  EXPECT_EQ(feed({27, 30, 45, 40, 42, 44, 43}).worst, Severity::kNone)
      << "its first loss is none of a fresh classifier";
  EXPECT_EQ(feed({4.3, 4.6, 5.0, 4.8, 4.4, 4.2, 4.0}).worst, Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
