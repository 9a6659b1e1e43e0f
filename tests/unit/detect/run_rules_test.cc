// Rules 12, 13, 53 and 54: what ranks say together, and what they do not say.

#include <gmock/gmock.h>

#include <vector>

#include "detect/scale_rank_mismatch.h"
#include "detect/skip_rank_mismatch.h"
#include "detect/stalled.h"
#include "detect/telemetry_gap.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {
namespace {

template <typename Rule>
class AlignedFeed {
 public:
  Severity Step(AlignedStep s) {
    s.step = ++step;
    return rule.OnAligned({run, s}, {thresholds.data()});
  }
  Severity Scales(double min, double max) {
    AlignedStep s;
    s.scale.count = 4;
    s.scale.min = min;
    s.scale.max = max;
    s.scale.min_rank = 2;
    s.scale.max_rank = 0;
    return Step(s);
  }
  Severity Skips(int skipped, int applied) {
    AlignedStep s;
    s.skipped = skipped;
    s.applied = applied;
    s.first_skipped_rank = skipped > 0 ? 3 : -1;
    s.first_applied_rank = applied > 0 ? 0 : -1;
    return Step(s);
  }
  Finding Described() const {
    Finding finding;
    rule.Describe(&finding);
    return finding;
  }

  Rule rule;
  std::vector<double> thresholds = DefaultsOf<Rule>();
  RunDescription run;
  int64_t step = 0;
};

// --- 12 scale_rank_mismatch --------------------------------------------------

TEST(ScaleRankMismatch, TwoStepsFireFiftyEqualClear) {
  AlignedFeed<ScaleRankMismatch> f;
  EXPECT_EQ(f.Scales(1024, 1024), Severity::kNone);
  EXPECT_EQ(f.Scales(512, 1024), Severity::kNone);
  EXPECT_EQ(f.Scales(512, 1024), Severity::kCritical);
  EXPECT_EQ(f.Described().opened_step, 2);
  ExpectWords(f.Described().sentence);
  for (int i = 0; i < 49; ++i) f.Scales(512, 512);
  EXPECT_EQ(f.Scales(512, 1024), Severity::kCritical) << "not yet equal";
  for (int i = 0; i < 49; ++i) f.Scales(512, 512);
  EXPECT_EQ(f.Scales(512, 512), Severity::kNone);
}

TEST(ScaleRankMismatch, NotCollectedIsNeitherEqualNorDifferent) {
  AlignedFeed<ScaleRankMismatch> f;
  AlignedStep alone;
  alone.scale.count = 1;
  alone.scale.min = alone.scale.max = 1024;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(f.Step(alone), Severity::kNone);
  EXPECT_EQ(f.Scales(512, 1024), Severity::kNone);
  EXPECT_EQ(f.Step(alone), Severity::kNone);
  EXPECT_EQ(f.Scales(512, 1024), Severity::kCritical);
}

TEST(ScaleRankMismatch, NamesTheOddRankAsItOpened) {
  const auto odd = [](int32_t at_min, int32_t at_max) {
    AlignedFeed<ScaleRankMismatch> f;
    AlignedStep step;
    step.scale.count = at_min + at_max;
    step.scale.min = 512;
    step.scale.max = 1024;
    step.scale.min_rank = 2;
    step.scale.max_rank = 5;
    step.scale.at_min = at_min;
    step.scale.at_max = at_max;
    f.Step(step);
    f.Step(step);
    step.scale.min_rank = 7;
    step.scale.max_rank = 8;
    f.Step(step);
    return f.Described().subject.rank;
  };
  EXPECT_EQ(odd(1, 3), 2);
  EXPECT_EQ(odd(3, 1), 5);
  EXPECT_EQ(odd(1, 1), 2);  // the one that fell alone
}

TEST(ScaleRankMismatch, OneTornStepIsForgiven) {
  AlignedFeed<ScaleRankMismatch> f;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(f.Scales(512, 1024), Severity::kNone);
    EXPECT_EQ(f.Scales(1024, 1024), Severity::kNone);
  }
}

// --- 13 skip_rank_mismatch ---------------------------------------------------

TEST(SkipRankMismatch, OneStepFires200AgreeingClear) {
  AlignedFeed<SkipRankMismatch> f;
  EXPECT_EQ(f.Skips(4, 0), Severity::kNone);
  EXPECT_EQ(f.Skips(0, 4), Severity::kNone);
  EXPECT_EQ(f.Skips(1, 3), Severity::kCritical);
  ExpectWords(f.Described().sentence);
  for (int i = 0; i < 199; ++i) f.Skips(0, 4);
  EXPECT_EQ(f.Skips(1, 0), Severity::kCritical) << "one rank cannot disagree";
  EXPECT_EQ(f.Skips(4, 0), Severity::kNone);
}

// --- 53 stalled, 54 telemetry_gap --------------------------------------------

template <typename Rule>
class TimeFeed {
 public:
  TimeFeed() {
    for (int i = 0; i < 3; ++i) {
      ranks.push_back({.rank = i, .connected = true, .last_record = At(0)});
    }
  }
  static Time At(int64_t seconds) {
    return Time(std::chrono::seconds(1'700'000'000 + seconds));
  }
  Severity Tick(int64_t seconds) {
    return rule.OnTime(
        {run, At(seconds), At(0), ranks, last_step, p99, 1, ranks_opened},
        {thresholds.data()});
  }
  Finding Described() const {
    Finding finding;
    rule.Describe(&finding);
    return finding;
  }

  Rule rule;
  std::vector<double> thresholds = DefaultsOf<Rule>();
  RunDescription run;
  std::vector<RankPulse> ranks;
  int64_t last_step = 100;
  double p99 = 1;
  int32_t ranks_opened = 3;
};

TEST(Stalled, HalfAnHourOfSilenceThenThreeSteps) {
  TimeFeed<Stalled> f;
  EXPECT_EQ(f.Tick(1799), Severity::kNone);
  EXPECT_EQ(f.Tick(1800), Severity::kCritical);
  ExpectWords(f.Described().sentence);
  for (RankPulse& r : f.ranks) r.last_record = f.At(1900);
  f.last_step = 102;
  EXPECT_EQ(f.Tick(1901), Severity::kCritical);
  f.last_step = 103;
  EXPECT_EQ(f.Tick(1902), Severity::kNone);
}

TEST(Stalled, SlowStepsAndEvaluationsHaveTheirTime) {
  TimeFeed<Stalled> f;
  f.p99 = 600;
  EXPECT_EQ(f.Tick(5999), Severity::kNone);
  EXPECT_EQ(f.Tick(6000), Severity::kCritical);
}

TEST(Stalled, NamesTheSilentRankWhileOthersGoOn) {
  TimeFeed<Stalled> f;
  f.ranks[1].connected = false;
  for (const int i : {0, 2}) f.ranks[i].last_record = f.At(1900);
  EXPECT_EQ(f.Tick(1900), Severity::kCritical);
  ExpectWords(f.Described().sentence);
}

TEST(Stalled, LostRunsAreNotStalled) {
  TimeFeed<Stalled> f;
  for (RankPulse& r : f.ranks) r.connected = false;
  EXPECT_EQ(f.Tick(100000), Severity::kNone);
}

TEST(Stalled, BeforeTheFirstStepItOnlyWarns) {
  TimeFeed<Stalled> f;
  for (RankPulse& r : f.ranks) r.last_record = Time{};
  EXPECT_EQ(f.Tick(1800), Severity::kWarning);
}

TEST(TelemetryGap, DropsWarnAndClearAfterAMinute) {
  TimeFeed<TelemetryGap> f;
  EXPECT_EQ(f.Tick(1), Severity::kNone);
  f.ranks[2].dropped_steps = 40;
  EXPECT_EQ(f.Tick(2), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Tick(61), Severity::kWarning);
  EXPECT_EQ(f.Tick(62), Severity::kNone);
  f.ranks[2].dropped_ops = 3;
  EXPECT_EQ(f.Tick(63), Severity::kWarning);
  ExpectWords(f.Described().sentence);
}

TEST(TelemetryGap, LostRanksCountWhileOthersGoOn) {
  TimeFeed<TelemetryGap> f;
  f.ranks[1].connected = false;
  EXPECT_EQ(f.Tick(59), Severity::kNone);
  f.ranks[0].last_record = f.At(59);
  EXPECT_EQ(f.Tick(59), Severity::kNone);
  f.ranks[0].last_record = f.At(60);
  EXPECT_EQ(f.Tick(60), Severity::kWarning);
  ExpectWords(f.Described().sentence);
}

TEST(TelemetryGap, RanksThatNeverOpenedAreMissingAfterAMinuteOfSteps) {
  TimeFeed<TelemetryGap> f;
  f.run.world_size = 8;
  EXPECT_EQ(f.Tick(10000), Severity::kNone) << "nobody makes steps";
  f.ranks[0].last_record = f.At(59);
  EXPECT_EQ(f.Tick(10001), Severity::kNone);
  f.ranks[0].last_record = f.At(60);
  EXPECT_EQ(f.Tick(10002), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  f.ranks_opened = 8;  // some of them closed again
  EXPECT_EQ(f.Tick(10061), Severity::kWarning);
  EXPECT_EQ(f.Tick(10062), Severity::kNone);
}

TEST(TelemetryGap, AGuessedRunIdIsANoteOnly) {
  TimeFeed<TelemetryGap> f;
  f.run.world_size = 8;
  f.run.run_id_guessed = true;
  f.ranks[0].last_record = f.At(59);
  EXPECT_EQ(f.Tick(59), Severity::kNone);
  f.ranks[0].last_record = f.At(60);
  EXPECT_EQ(f.Tick(60), Severity::kInfo);
  ExpectWords(f.Described().sentence);
  f.ranks[0].dropped_steps = 3;
  EXPECT_EQ(f.Tick(61), Severity::kWarning) << "this is of the run itself";
}
}  // namespace
}  // namespace nanwatch
