// What an aligned step says of replicas, against all of its records at once, in
// every order of arrival.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/aligned_ring.h"
#include "tests/unit/engine/driver.h"

namespace nanwatch {
namespace {

struct Said {
  int32_t rank = 0;
  std::optional<double> norm;
  std::optional<double> loss;
  std::optional<uint64_t> digest;
  StepOps ops;
};

Said RandomOf(int32_t rank, std::mt19937* engine) {
  const auto one_in = [&](unsigned n) { return (*engine)() % n == 0; };
  Said s{.rank = rank};
  if (!one_in(4)) s.norm = one_in(8) ? NAN : 0.5 * ((*engine)() % 4);
  if (!one_in(4)) s.loss = one_in(8) ? INFINITY : 2;
  if (!one_in(4)) s.digest = 7 + (*engine)() % 3;
  s.ops.collected = !one_in(3);
  if (s.ops.collected && one_in(2)) {
    s.ops.bad_ops = 1;
    s.ops.collective_first = one_in(2);
    s.ops.collective_nan = s.ops.collective_first && one_in(2);
  }
  return s;
}

AlignedStep Align(const std::vector<Said>& all) {
  AlignedRing ring;
  std::vector<Place> places(all.size());
  for (const Said& s : all) {
    StepRecord r;
    r.step = 1;
    r.time = kStart;
    const auto set = [&](StepField f, std::optional<double> v) {
      if (!v) return;
      r.present |= 1u << static_cast<int>(f);
      r.value[static_cast<int>(f)] = *v;
    };
    set(StepField::kGradNorm, s.norm);
    set(StepField::kLoss, s.loss);
    r.replica_digest = s.digest;
    const Place was = places[s.rank];
    places[s.rank] = was.Next(1);
    ring.Add(
        was, places[s.rank], s.rank, r, Fate::kApplied, [&] { return places; },
        s.ops);
  }
  const auto judged = ring.Next(static_cast<int32_t>(all.size()), kStart);
  EXPECT_TRUE(judged.has_value());
  return judged->step;
}

// The lowest rank of which `is` holds; -1: none.
template <typename Is>
int32_t LowestRank(const std::vector<Said>& all, Is is) {
  int32_t lowest = -1;
  for (const Said& s : all) {
    if (is(s) && (lowest < 0 || s.rank < lowest)) lowest = s.rank;
  }
  return lowest;
}

void CheckNorms(const AlignedStep& s, const std::vector<Said>& all) {
  std::vector<double> norms;
  for (const Said& one : all) {
    if (one.norm && std::isfinite(*one.norm) && *one.norm > 0) {
      norms.push_back(*one.norm);
    }
  }
  std::sort(norms.begin(), norms.end());
  ASSERT_EQ(s.norm.count, static_cast<int32_t>(norms.size()));
  if (norms.empty()) return;
  EXPECT_EQ(s.norm.min, norms.front());
  EXPECT_EQ(s.norm.max, norms.back());
  EXPECT_EQ(s.norm_second, norms.size() > 1 ? norms[norms.size() - 2] : 0);
  EXPECT_EQ(s.norm.min_rank, LowestRank(all, [&](const Said& one) {
              return one.norm == norms.front();
            }));
  EXPECT_EQ(s.norm.max_rank, LowestRank(all, [&](const Said& one) {
              return one.norm == norms.back();
            }));
}

void CheckDigests(const AlignedStep& s, const std::vector<Said>& all) {
  std::vector<uint64_t> digests;
  for (const Said& one : all) {
    if (one.digest) digests.push_back(*one.digest);
  }
  ASSERT_EQ(s.digest.count, static_cast<int32_t>(digests.size()));
  if (digests.empty()) return;
  std::sort(digests.begin(), digests.end());
  EXPECT_EQ(s.digest.min, digests.front());
  EXPECT_EQ(s.digest.max, digests.back());
  EXPECT_EQ(s.digest.at_min,
            std::count(digests.begin(), digests.end(), digests.front()));
  EXPECT_EQ(s.digest.at_max,
            std::count(digests.begin(), digests.end(), digests.back()));
  EXPECT_EQ(s.digest.min_rank, LowestRank(all, [&](const Said& one) {
              return one.digest == digests.front();
            }));
  EXPECT_EQ(s.digest.max_rank, LowestRank(all, [&](const Said& one) {
              return one.digest == digests.back();
            }));
}

TEST(AlignedReplica, IsWhatAllRecordsSayInAnyOrder) {
  std::mt19937 engine(1);
  for (int round = 0; round < 400; ++round) {
    std::vector<Said> all;
    for (int32_t rank = 0; rank < 6; ++rank) {
      all.push_back(RandomOf(rank, &engine));
    }
    std::shuffle(all.begin(), all.end(), engine);
    const AlignedStep s = Align(all);
    CheckNorms(s, all);
    CheckDigests(s, all);
    const auto bad = [](const Said& one) {
      return (one.norm && !std::isfinite(*one.norm)) ||
             (one.loss && !std::isfinite(*one.loss));
    };
    EXPECT_EQ(s.nonfinite, std::count_if(all.begin(), all.end(), bad));
    EXPECT_EQ(s.nonfinite_rank, LowestRank(all, bad));
    const auto count = [&](auto is) {
      return std::count_if(all.begin(), all.end(), is);
    };
    EXPECT_EQ(s.judged_finite, count([](const Said& one) {
                return one.norm.has_value() || one.loss.has_value();
              }));
    EXPECT_EQ(s.ops_collected,
              count([](const Said& one) { return one.ops.collected; }));
    const auto comm = [](const Said& one) { return one.ops.collective_first; };
    EXPECT_EQ(s.collective_first, count(comm));
    EXPECT_EQ(s.collective_rank, LowestRank(all, comm));
    EXPECT_EQ(s.collective_nan,
              count([](const Said& one) { return one.ops.collective_nan; }));
    EXPECT_EQ(s.bad_first, count([](const Said& one) {
                return one.ops.bad_ops > 0 && !one.ops.collective_first;
              }));
  }
}

}  // namespace
}  // namespace nanwatch
