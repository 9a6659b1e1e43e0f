#include "detect/rank_apart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "tests/golden/words.h"
#include "tests/unit/detect/reference.h"

namespace nanwatch {
namespace {

class Feed {
 public:
  Severity Step(const std::vector<double>& losses,
                const std::vector<double>& norms = {}) {
    AlignedStep s;
    s.step = ++step;
    s.expected = s.seen =
        static_cast<int32_t>(std::max(losses.size(), norms.size()));
    int32_t rank = 0;
    for (const double loss : losses) s.loss.Add(rank++, loss);
    rank = 0;
    for (const double norm : norms) s.norm.Add(rank++, norm);
    now = rule.OnAligned({run, s, {}, {}}, {thresholds.data()});
    worst = std::max(worst, now);
    return now;
  }
  Finding Described() const {
    Finding finding;
    rule.Describe(&finding);
    return finding;
  }

  RankApart rule;
  std::vector<double> thresholds = DefaultsOf<RankApart>();
  RunDescription run;
  int64_t step = 0;
  Severity now = Severity::kNone;
  Severity worst = Severity::kNone;
};

class Noise {
 public:
  explicit Noise(uint32_t seed) : bits_(seed) {}
  double Normal() { return normal_(bits_); }
  double Tailed() { return tailed_(bits_); }
  double Uniform() { return uniform_(bits_); }

 private:
  std::mt19937 bits_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> tailed_{3};
  std::uniform_real_distribution<double> uniform_;
};

double Level(int64_t step) {
  return 3 + 7 * std::exp(-static_cast<double>(step) / 60);
}

// Losses of ranks that are alike, but for `factor` of one of them.
std::vector<double> Losses(int ranks, double level, double noise, Noise* random,
                           int odd = -1, double factor = 1) {
  std::vector<double> losses;
  for (int rank = 0; rank < ranks; ++rank) {
    losses.push_back(level * std::exp(noise * random->Normal()) *
                     (rank == odd ? factor : 1));
  }
  return losses;
}

TEST(RankApartTest, ALossThatRisesAboveTheOthers) {
  for (const int ranks : {3, 4, 8, 64}) {
    Noise random(7);
    Feed f;
    for (int i = 0; i < 300; ++i) {
      f.Step(Losses(ranks, Level(i), 0.01, &random));
    }
    ASSERT_EQ(f.worst, Severity::kNone) << ranks;
    for (int i = 300; i < 400; ++i) {
      f.Step(Losses(ranks, Level(i), 0.01, &random, 2, 1.2));
    }
    EXPECT_EQ(f.now, Severity::kWarning) << ranks;
    const Finding finding = f.Described();
    EXPECT_EQ(finding.subject.rank, 2);
    EXPECT_NEAR(static_cast<double>(finding.opened_step), 301, 3) << ranks;
    if (ranks == 4) ExpectWords(finding.sentence);
    // It comes back.
    for (int i = 400; i < 500; ++i) {
      f.Step(Losses(ranks, Level(i), 0.01, &random));
    }
    EXPECT_EQ(f.now, Severity::kNone) << ranks;
    if (ranks == 4) ExpectWords(f.Described().sentence_over);
  }
}

TEST(RankApartTest, ALossThatFallsBelowTheOthers) {
  Noise random(8);
  Feed f;
  for (int i = 0; i < 200; ++i) f.Step(Losses(4, Level(i), 0.02, &random));
  for (int i = 200; i < 260; ++i) {
    f.Step(Losses(4, Level(i), 0.02, &random, 3, 0.001));
  }
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Described().subject.rank, 3);
  ExpectWords(f.Described().sentence);
}

TEST(RankApartTest, OfTwoRanksEitherMayHaveLeft) {
  Noise random(9);
  Feed f;
  for (int i = 0; i < 200; ++i) f.Step(Losses(2, Level(i), 0.02, &random));
  for (int i = 200; i < 300; ++i) {
    f.Step(Losses(2, Level(i), 0.02, &random, 0, 1.5));
  }
  EXPECT_EQ(f.now, Severity::kWarning);
}

TEST(RankApartTest, ANormThatLeavesTheOthers) {
  for (const double factor : {0.05, 30.0}) {
    Noise random(10);
    Feed f;
    for (int i = 0; i < 200; ++i) f.Step({}, Losses(8, 1, 0.3, &random));
    ASSERT_EQ(f.worst, Severity::kNone);
    for (int i = 200; i < 260; ++i) {
      f.Step({}, Losses(8, 1, 0.3, &random, 5, factor));
    }
    EXPECT_EQ(f.now, Severity::kWarning) << factor;
    EXPECT_EQ(f.Described().subject.rank, 5);
    if (factor > 1) ExpectWords(f.Described().sentence);
  }
}

TEST(RankApartTest, LossesThatWereEqualNeedNoNoise) {
  Feed f;
  for (int i = 0; i < 100; ++i) f.Step({2, 2, 2, 2});
  for (int i = 0; i < 40; ++i) f.Step({2, 2, 2.5, 2});
  EXPECT_EQ(f.now, Severity::kWarning);
  EXPECT_EQ(f.Described().opened_step, 101);
}

// The worst that is said of ranks in health. A million steps of ranks that are
// alike, or that differ as they do in trainings.
using Healthy = std::function<double(int rank, int step, Noise* random)>;
Severity WorstOf(int ranks, int steps, uint32_t seed, const Healthy& loss) {
  Noise random(seed);
  Feed f;
  std::vector<double> losses(static_cast<size_t>(ranks));
  std::vector<double> norms(static_cast<size_t>(ranks));
  for (int step = 0; step < steps; ++step) {
    for (int rank = 0; rank < ranks; ++rank) {
      losses[static_cast<size_t>(rank)] = loss(rank, step, &random);
      norms[static_cast<size_t>(rank)] = std::exp(0.4 * random.Tailed());
    }
    f.Step(losses, norms);
  }
  return f.worst;
}

TEST(RankApartTest, RanksThatAreAlikeAreLeftInPeace) {
  uint32_t seed = 0;
  for (const int ranks : {2, 3, 4, 8, 16}) {
    for (const double noise : {0.001, 0.02, 0.3}) {
      ++seed;
      EXPECT_EQ(WorstOf(ranks, 10000, seed,
                        [noise](int, int step, Noise* random) {
                          return Level(step) *
                                 std::exp(noise * random->Tailed());
                        }),
                Severity::kNone)
          << ranks << " ranks, noise " << noise;
    }
  }
}

TEST(RankApartTest, RanksOfOtherDataAreLeftInPeace) {
  for (const int ranks : {2, 4, 8}) {
    // Each has a level of its own from the beginning.
    EXPECT_EQ(WorstOf(ranks, 5000, 1,
                      [](int rank, int step, Noise* random) {
                        return Level(step) * (1 + 0.1 * rank) *
                               std::exp(0.01 * random->Normal());
                      }),
              Severity::kNone)
        << ranks;
    // All begin alike and stand for long; what is learned parts them.
    for (const double share : {-0.5, 0.5}) {
      EXPECT_EQ(
          WorstOf(ranks, 5000, 2,
                  [share](int rank, int step, Noise* random) {
                    const double learned =
                        step < 200 ? 0 : 1 - std::exp((200 - step) / 300.0);
                    const double hard = rank == 1 ? 1 + share * learned : 1;
                    return (10 - 8 * learned) * hard *
                           std::exp(0.003 * random->Normal());
                  }),
          Severity::kNone)
          << ranks << " " << share;
    }
    // Shards of hard and of easy samples, for a while each.
    for (const int shard : {20, 100, 500}) {
      std::vector<double> hard(static_cast<size_t>(ranks));
      EXPECT_EQ(WorstOf(ranks, 5000, 3,
                        [&](int rank, int step, Noise* random) {
                          double& own = hard[static_cast<size_t>(rank)];
                          if (step == 0 || random->Uniform() < 1.0 / shard) {
                            own = 0.08 * random->Normal();
                          }
                          return Level(step) *
                                 std::exp(own + 0.02 * random->Normal());
                        }),
                Severity::kNone)
          << ranks << " ranks, shards of " << shard;
    }
  }
}

// A loss that goes to 0 is noise alone in the end.
TEST(RankApartTest, LossesNextToNothingAreLeftInPeace) {
  EXPECT_EQ(WorstOf(8, 10000, 4,
                    [](int, int step, Noise* random) {
                      return 2 * std::exp(-step / 100.0) +
                             1e-4 * std::exp(2 * random->Normal());
                    }),
            Severity::kNone);
  EXPECT_EQ(
      WorstOf(8, 10000, 5,
              [](int, int, Noise* random) { return 0.02 * random->Tailed(); }),
      Severity::kNone);
}

TEST(RankApartTest, StepsWithoutARankOrWithNanAreNotCompared) {
  Noise random(11);
  Feed f;
  for (int i = 0; i < 200; ++i) f.Step(Losses(4, 3, 0.01, &random));
  for (int i = 0; i < 100; ++i) f.Step(Losses(3, 3, 0.01, &random, 2, 2));
  EXPECT_EQ(f.worst, Severity::kNone);
}

}  // namespace
}  // namespace nanwatch
