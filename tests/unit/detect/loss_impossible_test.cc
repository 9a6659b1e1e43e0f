// Rule 64: a cross-entropy below 0, and losses that are huge.

#include "detect/loss_impossible.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

using Feed = StepFeed<LossImpossible>;

// Falls from 2.3 through 0, a tenth a record.
void Fall(Feed* feed, int records) {
  for (int i = 0; i < records; ++i) feed->Step({.loss = 2.3 - 0.1 * i});
}

Feed Of(const std::string& setting, const std::string& framework = "") {
  Feed feed;
  if (!setting.empty()) feed.run.settings["loss"] = setting;
  feed.run.framework = framework;
  return feed;
}

TEST(LossImpossible, ACrossEntropyBelow0IsAWarning) {
  for (Feed feed : {Of("cross_entropy"), Of("", "megatron+deepspeed"),
                    Of("", "nanogpt"), Of("cross_entropy", "pytorch")}) {
    Fall(&feed, 26);  // the last but one is the first that is below
    EXPECT_EQ(feed.worst, Severity::kNone);
    feed.Step({.loss = -0.3});
    EXPECT_EQ(feed.now, Severity::kWarning);
    EXPECT_EQ(feed.Described().opened_step, 25);
    EXPECT_DOUBLE_EQ(NumberOf(feed.Described(), "loss").value_or(0), -0.3);
    feed.Steps({.loss = 0.1}, 19);
    EXPECT_EQ(feed.now, Severity::kWarning);
    feed.Step({.loss = 0.1});
    EXPECT_EQ(feed.now, Severity::kNone);
  }
}

// A rate that is far too high for inputs that nobody scaled.
TEST(LossImpossible, ALossThatIsHugeFromTheFirstRecordOnIsAWarning) {
  Feed feed;
  feed.Steps({.loss = 7.3e27}, 2);
  EXPECT_EQ(feed.worst, Severity::kNone);
  feed.Step({.loss = 8.1e27});
  EXPECT_EQ(feed.now, Severity::kWarning);
  EXPECT_EQ(feed.Described().opened_step, 1);
  ExpectWords(feed.Described().sentence);
  ExpectWords(feed.Described().sentence_over);
  feed.Steps({.loss = 4e10}, 20);
  EXPECT_EQ(feed.now, Severity::kNone);
  feed.Steps({.loss = 7.3e27}, 50);
  EXPECT_EQ(feed.now, Severity::kNone) << "loss_spike's";
}

TEST(LossImpossible, DoublesHoldTheSquareOfAHugeLoss) {
  Feed feed;
  feed.run.precision = "fp64";
  feed.Steps({.loss = 7.3e27}, 50);
  EXPECT_EQ(feed.worst, Severity::kNone);
}

TEST(LossImpossible, PricesThatNobodyScaledAreHealthy) {
  Feed feed;
  for (int i = 0; i < 100; ++i) feed.Step({.loss = 4e14 * std::exp(-i / 20.0)});
  EXPECT_EQ(feed.worst, Severity::kNone);
}

TEST(LossImpossible, SpeaksOfWhatIsAndOfWhatWas) {
  Feed feed = Of("cross_entropy");
  feed.Steps({.loss = -1.25}, 3);
  ExpectWords(feed.Described().sentence);
  ExpectWords(feed.Described().sentence_over);
}

TEST(LossImpossible, AnyOtherLossMayBeBelow0) {
  Feed silent = Of("");
  Fall(&silent, 100);
  EXPECT_EQ(silent.worst, Severity::kNone);
  // A run that says what else it is; what trains on rewards.
  for (Feed feed : {Of("other", "megatron"), Of("nll"), Of("", "trl"),
                    Of("", "verl"), Of("", "pytorch")}) {
    Fall(&feed, 100);
    EXPECT_EQ(feed.worst, Severity::kNone) << feed.run.framework;
  }
}

// The first of `records` losses -of(i) of which there is a note; 0: none.
template <typename Of>
int NotesAt(int records, Of of, LevelKind level = LevelKind::kKept) {
  Feed feed;
  feed.level = level;
  for (int i = 0; i < records; ++i) {
    feed.Step({.loss = -of(i)});
    if (feed.now == Severity::kInfo) return i + 1;
  }
  return 0;
}

// A cross-entropy that is not named and has the wrong sign; an objective
// without a bound.
TEST(LossImpossible, ALossThatFallsBelow0EverFasterIsANote) {
  EXPECT_EQ(NotesAt(15, [](int i) { return 2.4 * std::exp(0.25 * i); }), 15);
  EXPECT_GT(NotesAt(61, [](int i) { return std::pow(i, 4) / 1000; }), 0);
  EXPECT_GT(NotesAt(61, [](int i) { return std::pow(i, 4) - 2000; }), 0)
      << "from above 0";
  Feed feed;
  for (int i = 0; i < 30; ++i) feed.Step({.loss = -2.4 * std::exp(0.2 * i)});
  EXPECT_EQ(feed.now, Severity::kInfo);
  EXPECT_EQ(feed.Described().opened_step, 1);
  ExpectWords(feed.Described().sentence);
  ExpectWords(feed.Described().sentence_over);
  for (int i = 0; i < 60; ++i) feed.Step({.loss = -800 - 0.1 * i});
  EXPECT_EQ(feed.now, Severity::kNone) << "it came to rest";
}

TEST(LossImpossible, OneThatFallsBelowAnyDensityIsAWarning) {
  Feed feed;
  for (int i = 0; i < 30; ++i) feed.Step({.loss = 2.4 - std::exp(0.3 * i)});
  EXPECT_EQ(feed.now, Severity::kWarning);
  ExpectWords(feed.Described().sentence);
}

TEST(LossImpossible, HealthyLossesBelow0SlowDown) {
  const auto gentle = [](int i) { return 500 * (1 - std::exp(-i / 30.0)); };
  EXPECT_EQ(NotesAt(300, gentle), 0);
  EXPECT_EQ(NotesAt(300, [](int i) { return 3.0 * i - 5; }), 0) << "steadily";
  EXPECT_EQ(NotesAt(300, [](int i) { return 0.01 * i * i; }), 0);
  // A rate that warms up; then it learns.
  EXPECT_EQ(NotesAt(300, [](int i) { return 9 * std::tanh(i * i / 4e3) - 2; }),
            0);
  const auto doubles = [](int i) { return 2.4 * std::exp(0.2 * i); };
  for (const LevelKind level : {LevelKind::kOfRewards, LevelKind::kOfRivals}) {
    EXPECT_EQ(NotesAt(60, doubles, level), 0) << "it keeps no level";
  }
  const auto torn = [](int i) { return i == 20 ? 1e9 : 5.0 + i; };
  EXPECT_EQ(NotesAt(60, torn), 0);
}

TEST(LossImpossible, RoundingAndSingleRecordsAreNone) {
  Feed feed = Of("cross_entropy");
  feed.Steps({.loss = -0.005}, 100);
  for (int i = 0; i < 50; ++i) {
    feed.Steps({.loss = -1.0}, 2);
    feed.Step({.loss = 0.5});
  }
  feed.Steps({.loss = kNan}, 10);
  EXPECT_EQ(feed.worst, Severity::kNone);
}

// Two in a row, a NaN, and one more are a row of three.
TEST(LossImpossible, ALossThatIsNoNumberSaysNothing) {
  Feed feed = Of("cross_entropy");
  feed.Steps({.loss = -1.0}, 2);
  feed.Step({.loss = kNan});
  EXPECT_EQ(feed.now, Severity::kNone);
  feed.Step({.loss = -1.0});
  EXPECT_EQ(feed.now, Severity::kWarning);
  feed.Steps({.loss = kNan}, 100);
  EXPECT_EQ(feed.now, Severity::kWarning);
}

// 2.3 is what guessing among ten classes costs: it may be chance.
TEST(LossImpossible, AFirstLossThatLooksLikeOneIsANote) {
  Feed feed;
  feed.run.settings["last_layer"] = "10";
  Fall(&feed, 100);
  EXPECT_EQ(feed.worst, Severity::kInfo);
  EXPECT_EQ(feed.Described().opened_step, 25);
  ExpectWords(feed.Described().sentence);

  Feed other;
  other.run.settings["last_layer"] = "64";
  Fall(&other, 100);
  EXPECT_EQ(other.worst, Severity::kNone);

  Feed named = Of("other");
  named.run.settings["last_layer"] = "10";
  Fall(&named, 100);
  EXPECT_EQ(named.worst, Severity::kNone);

  Feed resumed;
  resumed.run.settings["last_layer"] = "10";
  resumed.before = LossReached{.first = 2.3, .best = 1, .level = 1};
  Fall(&resumed, 100);
  EXPECT_EQ(resumed.worst, Severity::kNone);
}

// A log says so in a later line.
TEST(LossImpossible, WhatTheRunSaysLaterCounts) {
  Feed feed = Of("");
  feed.Steps({.loss = -1.5}, 10);
  EXPECT_EQ(feed.worst, Severity::kNone);
  feed.run.settings["loss"] = "cross_entropy";
  feed.Step({.loss = -1.5});
  EXPECT_EQ(feed.now, Severity::kWarning);
  EXPECT_EQ(feed.Described().opened_step, 1);
}

}  // namespace
}  // namespace nanwatch
