// Rule 69: one of two rivals always wins.

#include "detect/rival_gone.h"

#include <gtest/gtest.h>

#include "tests/golden/words.h"
#include "tests/unit/detect/noise.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

using Feed = StepFeed<RivalGone>;

Feed Rivals(double first) {
  Feed feed;
  feed.level = LevelKind::kOfRivals;
  Noise noise;
  for (int i = 0; i < 100; ++i) {
    feed.Step({.loss = first + 0.1 * noise.Normal()});
  }
  return feed;
}

TEST(RivalGone, ALossOfNextToNothingIsAWarningAfter32Records) {
  Feed feed = Rivals(1.4);
  feed.Steps({.loss = 0.0001}, 31);
  EXPECT_EQ(feed.worst, Severity::kNone);
  feed.Step({.loss = 0.0001});
  EXPECT_EQ(feed.now, Severity::kWarning);
  EXPECT_EQ(feed.Described().opened_step, 101);
  ExpectWords(feed.Described().sentence);
  feed.Steps({.loss = 0.5}, 22);
  EXPECT_EQ(feed.now, Severity::kNone);
}

TEST(RivalGone, OneThatLosesABatchNowAndThenIsGone) {
  const auto wins = [](int each) {
    Feed feed = Rivals(1.4);
    for (int i = 1; i <= 64; ++i) {
      feed.Step({.loss = i % each == 0 ? 0.02 : 0.0001});
    }
    return feed.worst;
  };
  EXPECT_EQ(wins(11), Severity::kWarning);
  EXPECT_EQ(wins(4), Severity::kNone);
}

// A discriminator that wins from its second record on.
TEST(RivalGone, OneThatWinsAtOnceIsAWarning) {
  Feed feed;
  feed.level = LevelKind::kOfRivals;
  feed.Step({.loss = 0.0608});
  feed.Steps({.loss = 0}, 32);
  EXPECT_EQ(feed.now, Severity::kWarning);
  EXPECT_EQ(feed.Described().opened_step, 2);
  ExpectWords(feed.Described().sentence);
}

// Of its first losses only one was any.
TEST(RivalGone, OneThatWinsAfterItsFirstRecordIsAWarning) {
  Feed feed;
  feed.level = LevelKind::kOfRivals;
  for (const double loss : {0.3997, 0.0008, 0.0015, 0.0003, 0.0001, 0.0001}) {
    feed.Step({.loss = loss});
  }
  feed.Steps({.loss = 0}, 31);
  EXPECT_EQ(feed.worst, Severity::kNone);
  feed.Step({.loss = 0});
  EXPECT_EQ(feed.now, Severity::kWarning);
  EXPECT_EQ(feed.Described().opened_step, 7);
  EXPECT_NEAR(NumberOf(feed.Described(), "first").value_or(0), 0.0805, 1e-4);
}

TEST(RivalGone, OneThatIsOnlyLowIsLeftInPeace) {
  Feed low = Rivals(1.4);
  low.Steps({.loss = 0.001}, 500);
  EXPECT_EQ(low.worst, Severity::kNone) << "as of healthy DCGANs";
  Feed tiny;
  tiny.level = LevelKind::kOfRivals;
  tiny.Steps({.loss = 0.005}, 100);
  tiny.Steps({.loss = 1e-6}, 500);
  EXPECT_EQ(tiny.worst, Severity::kNone) << "no loss of classes";
}

TEST(RivalGone, ALossWithoutARivalLearnsAllThereIs) {
  Feed feed;
  feed.Steps({.loss = 1.4}, 100);
  feed.Steps({.loss = 0.0001}, 500);
  EXPECT_EQ(feed.worst, Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
