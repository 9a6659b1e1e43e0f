// Rules 24, 49, 51 and 56: what one rank alone does not show.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "detect/comm_nonfinite_origin.h"
#include "detect/replica_divergence.h"
#include "detect/replica_locator.h"
#include "detect/sdc_strikes.h"
#include "detect/step_rank_skew.h"
#include "tests/golden/words.h"
#include "tests/unit/detect/reference.h"

namespace nanwatch {
namespace {

Time At(double seconds) {
  return Time(std::chrono::seconds(1'700'000'000)) +
         Duration(static_cast<int64_t>(seconds * 1e6));
}

template <typename Rule>
class GroupFeed {
 public:
  explicit GroupFeed(int ranks = 4) : ranks_(ranks) { run.world_size = ranks; }
  Severity Step(AlignedStep s, double seconds = 0) {
    s.step = ++step;
    s.expected = ranks_;
    s.seen = ranks_;
    now = rule.OnAligned({run, s, At(seconds), op}, {thresholds.data()});
    worst = std::max(worst, now);
    return now;
  }
  Severity Steps(const AlignedStep& s, int times) {
    for (int i = 0; i < times; ++i) Step(s);
    return now;
  }
  Finding Described() const {
    Finding finding;
    rule.Describe(&finding);
    return finding;
  }

  Rule rule;
  std::vector<double> thresholds = DefaultsOf<Rule>();
  RunDescription run;
  std::string_view op;  // in which the digests differ
  int64_t step = 0;
  Severity now = Severity::kNone;
  Severity worst = Severity::kNone;

 private:
  int ranks_;
};

// --- 24 comm_nonfinite_origin ------------------------------------------------

AlignedStep Comm(int collected, int collective, int other, int nan = 0) {
  AlignedStep s;
  s.ops_collected = collected;
  s.collective_first = collective;
  s.collective_nan = nan;
  s.bad_first = other;
  s.collective_rank = collective > 0 ? 1 : -1;
  return s;
}

TEST(CommNonfiniteOrigin, FiresWhenEveryRanksInputIsClean) {
  GroupFeed<CommNonfiniteOrigin> f;
  EXPECT_EQ(f.Step(Comm(4, 0, 0)), Severity::kNone);
  EXPECT_EQ(f.Step(Comm(4, 4, 0, 4)), Severity::kCritical);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Steps(Comm(4, 0, 0), 49), Severity::kCritical);
  EXPECT_EQ(f.Step(Comm(4, 0, 0)), Severity::kNone);
}

TEST(CommNonfiniteOrigin, WhatAnotherRankBroughtInIsNotTheCommunications) {
  GroupFeed<CommNonfiniteOrigin> f;
  f.Steps(Comm(4, 3, 1, 3), 20);
  f.Steps(Comm(3, 3, 0, 3), 20);  // one rank's statuses were not collected
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(CommNonfiniteOrigin, ASkippedSumIsTheScalersAtFirst) {
  GroupFeed<CommNonfiniteOrigin> f;
  AlignedStep s = Comm(4, 4, 0, 4);
  s.skipped = 4;
  EXPECT_EQ(f.Steps(s, 9), Severity::kInfo);
  EXPECT_EQ(f.Step(s), Severity::kCritical);
}

TEST(CommNonfiniteOrigin, OtherGroupsThatWereNotComparedKeepItANote) {
  GroupFeed<CommNonfiniteOrigin> f;
  f.run.world_size = 8;
  f.Steps(Comm(4, 4, 0, 4), 30);
  EXPECT_EQ(f.worst, Severity::kInfo);
}

TEST(CommNonfiniteOrigin, AgreesWithTheWholeHistory) {
  std::mt19937 engine(1);
  GroupFeed<CommNonfiniteOrigin> f;
  std::vector<AlignedStep> all;
  int changes = 0;
  for (int i = 0; i < 3000; ++i) {
    AlignedStep s = Comm(4, 0, 0);
    if (engine() % 60 == 0) s = Comm(4, 2, static_cast<int>(engine() % 2));
    if (engine() % 10 == 0) s.ops_collected = 0;
    s.skipped = engine() % 2 == 0 ? 4 : 0;
    all.push_back(s);
    const Severity before = f.now;
    f.Step(s);
    std::vector<Mark> marks;
    int held = 0;
    for (const AlignedStep& a : all) {
      Mark m;
      m.silent = a.ops_collected == 0;
      if (!m.silent) {
        const bool found =
            a.collective_first > 0 && a.bad_first == 0 && a.ops_collected == 4;
        held = found ? held + 1 : 0;
        if (found) {
          m.trigger = a.skipped > 0 && held < 10 ? Severity::kInfo
                                                 : Severity::kCritical;
        }
        m.clean = a.collective_first == 0;
      }
      marks.push_back(m);
    }
    ASSERT_EQ(f.now, OpinionAfter(marks, 50)) << i;
    changes += f.now != before;
  }
  EXPECT_GT(changes, 10);
}

// --- 49 replica_divergence ---------------------------------------------------

// Digests of ranks 0, 1, ...
AlignedStep Digests(const std::vector<uint64_t>& digests) {
  AlignedStep s;
  s.digest.count = static_cast<int32_t>(digests.size());
  s.digest.min = *std::min_element(digests.begin(), digests.end());
  s.digest.max = *std::max_element(digests.begin(), digests.end());
  for (size_t i = 0; i < digests.size(); ++i) {
    const auto rank = static_cast<int32_t>(i);
    if (digests[i] == s.digest.min && s.digest.at_min++ == 0) {
      s.digest.min_rank = rank;
    }
    if (digests[i] == s.digest.max && s.digest.at_max++ == 0) {
      s.digest.max_rank = rank;
    }
  }
  return s;
}

AlignedStep Norms(double min, double max) {
  AlignedStep s;
  s.norm.count = s.judged_finite = 4;
  s.norm.min = min;
  s.norm.max = max;
  s.norm_second = min;
  s.norm.min_rank = 2;
  s.norm.max_rank = 3;
  return s;
}

TEST(ReplicaDivergence, OneDigestThatDiffersNamesTheRank) {
  GroupFeed<ReplicaDivergence> f;
  EXPECT_EQ(f.Step(Digests({7, 7, 7, 7})), Severity::kNone);
  EXPECT_EQ(f.Step(Digests({7, 7, 9, 7})), Severity::kCritical);
  const Finding found = f.Described();
  EXPECT_EQ(found.subject.rank, 2);
  ExpectWords(found.sentence);
  EXPECT_EQ(found.opened_step, 2);
  EXPECT_EQ(f.Steps(Digests({8, 8, 8, 8}), 9), Severity::kCritical);
  EXPECT_EQ(f.Step(Digests({8, 8, 8, 8})), Severity::kNone);
}

TEST(ReplicaDivergence, TwoRanksHaveNoOddOneOut) {
  GroupFeed<ReplicaDivergence> f(2);
  f.Step(Digests({7, 7}));
  EXPECT_EQ(f.Step(Digests({7, 9})), Severity::kCritical);
  EXPECT_EQ(f.Described().subject.rank, -1);
}

TEST(ReplicaDivergence, TheTensorThatAloneDifferedAtFirstIsNamed) {
  GroupFeed<ReplicaDivergence> f(2);
  f.Step(Digests({7, 7}));
  f.op = "norm.weight";
  f.Step(Digests({7, 9}));
  EXPECT_EQ(f.Described().subject.op, "norm.weight");
  EXPECT_EQ(f.Described().subject.slot, Slot::kParameter);
  ExpectWords(f.Described().sentence);
  f.op = {};  // others followed
  f.Steps(Digests({8, 9}), 5);
  EXPECT_EQ(f.Described().subject.op, "norm.weight");
  f.Steps(Digests({8, 8}), 10);
  EXPECT_EQ(f.now, Severity::kNone);
  f.Step(Digests({8, 9}));
  EXPECT_EQ(f.Described().subject.op, "") << "another time, of many";
  EXPECT_EQ(f.now, Severity::kCritical);
}

// As replica_locator.h says: of tensors' numbers by op index.
uint64_t DigestOf(const std::vector<uint64_t>& numbers) {
  uint64_t sums[3] = {};
  for (uint64_t i = 0; i < numbers.size(); ++i) {
    uint64_t term = numbers[i] % kReplicaModulus;
    for (uint64_t& sum : sums) {
      sum = (sum + term) % kReplicaModulus;
      term = term * (i + 1) % kReplicaModulus;
    }
  }
  return sums[0] | sums[1] << 21 | sums[2] << 42;
}

TEST(ReplicaLocator, FindsTheOneTensorThatDiffers) {
  std::mt19937_64 engine(1);
  for (const size_t size : {1u, 2u, 300u, 65536u}) {
    std::vector<uint64_t> numbers(size);
    for (uint64_t& number : numbers) number = engine();
    const uint64_t digest = DigestOf(numbers);
    EXPECT_FALSE(TensorThatDiffers(digest, digest, size));
    for (int i = 0; i < 20; ++i) {
      std::vector<uint64_t> other = numbers;
      const size_t at = engine() % size;
      other[at] = engine();
      if (other[at] % kReplicaModulus == numbers[at] % kReplicaModulus)
        continue;
      const uint64_t its = DigestOf(other);
      EXPECT_EQ(TensorThatDiffers(digest, its, size), at);
      EXPECT_EQ(TensorThatDiffers(its, digest, size), at);
      EXPECT_FALSE(TensorThatDiffers(digest, its, at)) << "there is none such";
    }
  }
}

TEST(ReplicaLocator, SeveralTensorsAndOtherDigestsNameNone) {
  std::mt19937_64 engine(2);
  std::vector<uint64_t> numbers(100);
  for (uint64_t& number : numbers) number = engine();
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint64_t> other = numbers;
    const size_t first = engine() % 50;
    other[first] = engine();
    other[50 + engine() % 50] = engine();
    EXPECT_FALSE(TensorThatDiffers(DigestOf(numbers), DigestOf(other), 100));
    EXPECT_FALSE(TensorThatDiffers(engine(), engine(), 65536));
    EXPECT_FALSE(TensorThatDiffers(1000 + i, 1001 + i, 65536));
  }
}

TEST(ReplicaDivergence, WhatWasNeverEqualIsAWarning) {
  GroupFeed<ReplicaDivergence> f;
  EXPECT_EQ(f.Steps(Digests({1, 2, 3, 4}), 9), Severity::kNone);
  EXPECT_EQ(f.Steps(Digests({1, 2, 3, 4}), 100), Severity::kWarning);
  ExpectWords(f.Described().sentence);
}

TEST(ReplicaDivergence, NormsCountOnlyWhereTheyAgreedBefore) {
  GroupFeed<ReplicaDivergence> local;
  local.Steps(Norms(0.9, 1.1), 500);  // of before the reduction
  EXPECT_EQ(local.worst, Severity::kNone);
  GroupFeed<ReplicaDivergence> f;
  f.Steps(Norms(1, 1 + 1e-7), 60);
  EXPECT_EQ(f.Steps(Norms(1, 1.01), 2), Severity::kNone);
  EXPECT_EQ(f.Step(Norms(1, 1.01)), Severity::kWarning);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Steps(Norms(1, 1), 10), Severity::kNone);
}

TEST(ReplicaDivergence, AbsentIsNeitherEqualNorDifferent) {
  GroupFeed<ReplicaDivergence> f;
  f.Step(Digests({7, 7, 7, 7}));
  f.Steps(AlignedStep(), 100);
  f.Steps(Digests({9}), 100);
  EXPECT_EQ(f.worst, Severity::kNone);
  f.Step(Digests({7, 8, 7, 7}));
  EXPECT_EQ(f.Steps(AlignedStep(), 100), Severity::kCritical);
}

TEST(ReplicaDivergence, DigestsAgreeWithTheWholeHistory) {
  int changes = 0;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 engine(seed);
    GroupFeed<ReplicaDivergence> f;
    std::vector<std::vector<uint64_t>> all;
    bool apart = seed % 3 == 0;
    for (int i = 0; i < 300; ++i) {
      if (engine() % 40 == 0) apart = !apart;
      std::vector<uint64_t> d(4, engine());
      if (apart) d[engine() % 4] ^= 1;
      all.push_back(d);
      const Severity before = f.now;
      f.Step(Digests(d));
      std::vector<Mark> marks;
      bool equal_once = false;
      int unequal = 0;
      for (const auto& a : all) {
        const bool equal = std::equal(a.begin() + 1, a.end(), a.begin());
        equal_once |= equal;
        unequal = equal ? 0 : unequal + 1;
        Mark m;
        m.clean = equal;
        if (!equal && equal_once) m.trigger = Severity::kCritical;
        if (!equal && !equal_once && unequal >= 10) {
          m.trigger = Severity::kWarning;
        }
        marks.push_back(m);
      }
      ASSERT_EQ(f.now, OpinionAfter(marks, 10)) << i;
      changes += f.now != before;
    }
  }
  EXPECT_GT(changes, 10);
}

// --- 51 sdc_strikes ----------------------------------------------------------

AlignedStep Alone(int rank, int ranks) {
  AlignedStep s;
  s.norm.count = s.judged_finite = ranks;
  s.norm.min = 0.8;
  s.norm_second = 1.2;
  s.norm.max = 300;
  s.norm.max_rank = rank;
  return s;
}
AlignedStep LoneNan(int rank, int ranks) {
  AlignedStep s;
  s.judged_finite = ranks;
  s.nonfinite = 1;
  s.nonfinite_rank = rank;
  return s;
}

TEST(SdcStrikes, TheSameRankThriceOfManyIsSuspected) {
  GroupFeed<SdcStrikes> f(64);
  EXPECT_EQ(f.Step(Alone(17, 64), 0), Severity::kNone);
  EXPECT_EQ(f.Step(LoneNan(17, 64), 400), Severity::kNone);
  EXPECT_EQ(f.Step(Alone(17, 64), 500), Severity::kNone)
      << "within 5 minutes it is the same incident";
  EXPECT_EQ(f.Step(Alone(17, 64), 900), Severity::kWarning);
  EXPECT_EQ(f.Described().subject.rank, 17);
  ExpectWords(f.Described().sentence);
  EXPECT_EQ(f.Step(Norms(1, 1.1), 900 + 28800), Severity::kWarning);
  EXPECT_EQ(f.Step(Norms(1, 1.1), 901 + 28800), Severity::kNone);
}

TEST(SdcStrikes, OfFewRanksChanceHitsTheSameOne) {
  GroupFeed<SdcStrikes> f(2);
  for (int i = 0; i < 10; ++i) f.Step(Alone(1, 2), 400.0 * i);
  EXPECT_EQ(f.worst, Severity::kNone);
  EXPECT_EQ(f.Step(Alone(1, 2), 4000), Severity::kWarning) << "1 in 1024";
}

TEST(SdcStrikes, RandomRanksGlobalNormsAndSkippedUpdatesAreNone) {
  GroupFeed<SdcStrikes> f(8);
  std::mt19937 engine(2);
  for (int i = 0; i < 500; ++i) {
    f.Step(Alone(static_cast<int>(engine() % 8), 8), 400.0 * i);
  }
  EXPECT_EQ(f.worst, Severity::kNone);
  GroupFeed<SdcStrikes> g(8);
  for (int i = 0; i < 50; ++i) {
    AlignedStep everyone = Alone(3, 8);
    everyone.norm_second = everyone.norm.max;  // reduced: all see it
    g.Step(everyone, 400.0 * i);
    AlignedStep skipped = LoneNan(3, 8);
    skipped.skipped = 8;
    g.Step(skipped, 400.0 * i + 200);
    AlignedStep few = Alone(3, 8);
    few.norm.count = few.judged_finite = 5;  // three ranks said nothing
    g.Step(few, 400.0 * i + 300);
  }
  EXPECT_EQ(g.worst, Severity::kNone);
}

TEST(SdcStrikes, AgreesWithTheWholeHistory) {
  int fired = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 engine(seed);
    const int ranks = 8;
    GroupFeed<SdcStrikes> f(ranks);
    struct Hit {
      double time;
      int rank;
    };
    std::vector<Hit> strikes;  // an incident each; its newest moment
    Severity expected = Severity::kNone;
    int accused = -1;
    double now = 0;
    const unsigned biased = engine() % 6;
    for (int i = 0; i < 60; ++i) {
      now += static_cast<double>(engine() % 3000);
      const int rank =
          engine() % 6 < biased ? 5 : static_cast<int>(engine() % ranks);
      f.Step(Alone(rank, ranks), now);
      bool same = false;
      // Only the newest 12 are remembered.
      for (size_t k = strikes.size(); k-- > 0 && k + 12 >= strikes.size();) {
        if (strikes[k].rank == rank && now - strikes[k].time < 300) {
          strikes[k].time = now;
          same = true;
          break;
        }
      }
      if (!same) {
        strikes.push_back({now, rank});
        int mine = 0;
        int all = 0;
        for (size_t k = strikes.size() > 12 ? strikes.size() - 12 : 0;
             k < strikes.size(); ++k) {
          if (now - strikes[k].time > 28800) continue;
          ++all;
          mine += strikes[k].rank == rank;
        }
        // 1/8 ^ 4 is below 1 in 1000: five.
        if (mine >= 5 && mine >= 0.8 * all) {
          expected = Severity::kWarning;
          accused = rank;
        }
      }
      if (expected != Severity::kNone) {
        double newest = -1e9;
        for (size_t k = strikes.size() > 12 ? strikes.size() - 12 : 0;
             k < strikes.size(); ++k) {
          if (strikes[k].rank == accused) {
            newest = std::max(newest, strikes[k].time);
          }
        }
        if (now - newest > 28800) expected = Severity::kNone;
      }
      ASSERT_EQ(f.now, expected) << i;
      fired += f.now != Severity::kNone;
    }
  }
  EXPECT_GT(fired, 10);
}

// --- 56 step_rank_skew -------------------------------------------------------

class SkewFeed {
 public:
  SkewFeed() {
    for (int i = 0; i < 3; ++i) ranks.push_back({.rank = i, .connected = true});
  }
  // Every rank's newest record is of a step that ended `lag` before `now`.
  Severity Tick(double now, double offset_of_2, double lag_of_1 = 0) {
    for (RankPulse& r : ranks) {
      const double lag = r.rank == 1 ? lag_of_1 : 0;
      const double steps = std::floor((now - lag) / mean);
      r.last_step =
          static_cast<int64_t>(steps + (r.rank == 2 ? offset_of_2 : 0));
      r.last_record = At(steps * mean);
    }
    last = rule.OnTime(
        {run, At(now), At(0), ranks, ranks[0].last_step, mean, mean, 3},
        {thresholds.data()});
    worst = std::max(worst, last);
    return last;
  }

  StepRankSkew rule;
  std::vector<double> thresholds = DefaultsOf<StepRankSkew>();
  RunDescription run;
  std::vector<RankPulse> ranks;
  double mean = 0.25;
  Severity last = Severity::kNone;
  Severity worst = Severity::kNone;
};

TEST(StepRankSkew, ARankThatCountsOtherwiseWarnsAfterAMinute) {
  SkewFeed f;
  for (int s = 100; s < 160; ++s) EXPECT_EQ(f.Tick(s, 5), Severity::kNone);
  EXPECT_EQ(f.Tick(160, 5), Severity::kWarning);
  Finding found;
  f.rule.Describe(&found);
  EXPECT_EQ(found.subject.rank, 2);
  for (int s = 161; s < 171; ++s) EXPECT_EQ(f.Tick(s, 0), Severity::kWarning);
  EXPECT_EQ(f.Tick(171, 0), Severity::kNone);
}

TEST(StepRankSkew, BatchesThatArriveLateAreNoSkew) {
  for (const double mean : {0.001, 0.05, 1.0, 20.0}) {
    SkewFeed f;
    f.mean = mean;
    std::mt19937 engine(4);
    for (int s = 100; s < 600; ++s) {
      f.Tick(s, 0, static_cast<double>(engine() % 400) / 100);
    }
    EXPECT_EQ(f.worst, Severity::kNone) << mean;
  }
}

TEST(StepRankSkew, OneStepApartIsTheMomentsDoing) {
  SkewFeed f;
  for (int s = 100; s < 400; ++s) f.Tick(s, 1);
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(StepRankSkew, SilentAndLostRanksAreOthersBusiness) {
  SkewFeed f;
  for (int s = 100; s < 400; ++s) {
    f.Tick(s, 0, s - 90);  // rank 1 sent nothing since
    f.ranks[2].connected = false;
  }
  EXPECT_EQ(f.worst, Severity::kNone);
}

TEST(StepRankSkew, AgreesWithTheWholeHistory) {
  int changes = 0;
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 engine(seed);
    SkewFeed f;
    std::vector<bool> skewed;
    Severity expected = Severity::kNone;
    double offset = 0;
    for (int i = 0; i < 1500; ++i) {
      if (engine() % 100 == 0) offset = engine() % 2 == 0 ? 0 : 9;
      const Severity before = f.last;
      f.Tick(100 + i, offset);
      skewed.push_back(offset > 0);
      // How long it has been as it is now.
      int alike = 0;
      while (alike < static_cast<int>(skewed.size()) &&
             skewed[skewed.size() - 1 - alike] == skewed.back()) {
        ++alike;
      }
      if (skewed.back() && alike - 1 >= 60) expected = Severity::kWarning;
      if (!skewed.back() && alike - 1 >= 10) expected = Severity::kNone;
      ASSERT_EQ(f.last, expected) << i;
      changes += f.last != before;
    }
  }
  EXPECT_GT(changes, 10);
}

}  // namespace
}  // namespace nanwatch
