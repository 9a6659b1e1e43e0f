// Rule 34: rises that come by a clock, batches that are wild, and what a first
// record alone may tell.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "detect/loss_spike.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/noise.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

using Feed = StepFeed<LossSpike>;

// A loss of 0.1 that rises to `peak` at some records, and comes down from there
// by a third a record.
class Spikes {
 public:
  explicit Spikes(double peak) : peak_(peak) {}
  // Feeds records up to the next rise and `after` more.
  void Rise(int distance, int after = 12) {
    while (feed.step < at_ + distance) Step();
    at_ += distance;
    over_ = peak_;
    for (int i = 0; i < after; ++i) Step();
  }
  void Grow(double times) { peak_ *= times; }
  double Told(const char* number) {
    return feed.now == Severity::kNone
               ? -1
               : NumberOf(feed.Described(), number).value_or(0);
  }

  Feed feed;

 private:
  void Step() {
    feed.Step({.loss = (0.1 + over_) * noise_.Factor(0.05)});
    over_ *= 0.67;
  }

  Noise noise_;
  double peak_;
  double over_ = 0;
  int64_t at_ = 0;
};

// Opacities that are reset each 3,000 steps.
TEST(LossRecurs, WhatRisesAtEqualDistancesIsDoneByAClock) {
  Spikes s(0.5);
  s.Rise(300);
  EXPECT_EQ(s.Told("every"), 0);
  s.Rise(300);
  EXPECT_EQ(s.Told("every"), 0) << "two are no rhythm";
  s.Rise(300);
  EXPECT_NEAR(s.Told("every"), 300, 2);
  EXPECT_EQ(s.feed.now, Severity::kWarning) << "its cause makes it a note";
  ExpectWords(s.feed.Described().sentence);
  s.Rise(301, 40);
  EXPECT_EQ(s.feed.now, Severity::kNone);
  s.Rise(299);
  EXPECT_NEAR(s.Told("every"), 301, 2);
  s.Rise(150);
  EXPECT_EQ(s.Told("every"), 0) << "not on time";
}

TEST(LossRecurs, WhatComesByChanceIsNotByAClock) {
  Spikes chance(0.5);
  for (const int distance : {300, 410, 120, 333, 290, 505, 480, 77}) {
    chance.Rise(distance);
    EXPECT_EQ(chance.Told("every"), 0) << distance;
  }
  Spikes often(0.5);
  for (int i = 0; i < 6; ++i) often.Rise(20, 6);
  EXPECT_EQ(often.Told("every"), 0) << "so near, chance does it";
}

TEST(LossRecurs, WhatRisesHigherOrForLongerIsNews) {
  Spikes grows(0.5);
  for (int i = 0; i < 3; ++i) grows.Rise(300);
  grows.Grow(4);
  grows.Rise(300);
  EXPECT_EQ(grows.Told("every"), 0);
  Spikes stays(0.5);
  for (int i = 0; i < 4; ++i) stays.Rise(300, 3);
  EXPECT_GT(stays.Told("every"), 0);
  stays.feed.Steps({.loss = 0.5}, 40);
  EXPECT_EQ(stays.Told("every"), 0);
}

// A sample of the data whose target is broken, in three steps of a thousand.
TEST(LossRecurs, ThreeBatchesThatAreWildAreAWarning) {
  const auto worst = [](double wild, int batches) {
    Feed f(NoScaler());
    Noise noise;
    for (int i = 0; i < 1000; ++i) {
      const bool is_wild = i % 311 == 200 && i / 311 < batches;
      f.Step({.loss = is_wild ? wild : 1.5 * noise.Factor(0.1)});
      if (f.now > Severity::kNone) {
        EXPECT_TRUE(f.rule.IsOftenWild());
        ExpectWords(f.Described().sentence);
      }
    }
    return f.worst;
  };
  EXPECT_EQ(worst(4e5, 3), Severity::kWarning);
  EXPECT_EQ(worst(4e5, 2), Severity::kNone);
  EXPECT_EQ(worst(400, 3), Severity::kNone) << "tails of healthy data";
}

TEST(LossRecurs, OfALossThatIsNextToNothingABatchIsNotWild) {
  Feed f(NoScaler());
  Noise noise;
  for (int i = 0; i < 2000; ++i) {
    const double learned = 0.7 * std::exp(-i / 30.0) + 1e-5;
    f.Step({.loss = i % 150 == 149 ? 2 : learned * noise.Factor(0.3)});
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

// A mean over what was left of an interval, as a run is resumed.
TEST(LossRecurs, AFirstRecordAloneIsNoLevelOfARunThatGoesOn) {
  const auto worst = [](int64_t first, const std::function<double(int)>& loss) {
    Feed f(NoScaler());
    f.first_step = first;
    f.step = first - 1;
    Noise noise;
    for (int i = 0; i < 300; ++i) {
      f.Step({.loss = loss(i) * noise.Factor(0.02), .unseen = i == 0 ? 0 : 9});
    }
    f.End();
    return f.worst;
  };
  const auto stands = [](int i) { return i == 0 ? 1.5 : 14; };
  EXPECT_EQ(worst(48000, stands), Severity::kWarning);
  EXPECT_EQ(worst(1, stands), Severity::kCritical) << "a fresh run";
  EXPECT_EQ(worst(48000, [](int i) { return i < 2 ? 1.5 : 14; }),
            Severity::kCritical)
      << "two are a level";
  EXPECT_EQ(worst(48000, [](int i) { return i == 0 ? 1.5 : 4 + 0.1 * i; }),
            Severity::kCritical)
      << "it climbs";
}

}  // namespace
}  // namespace nanwatch
