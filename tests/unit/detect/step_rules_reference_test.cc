// Rules 10, 11, 35, 36, 38, 39, 40, 55 and 57 against references that recompute
// everything from the full history at every record.

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "detect/loss_high_plateau.h"
#include "detect/loss_not_decreasing.h"
#include "detect/lr_skip_desync.h"
#include "detect/metric_absent_as_zero.h"
#include "detect/scale_runaway.h"
#include "detect/scale_stuck.h"
#include "detect/update_norm_spike.h"
#include "detect/update_ratio.h"
#include "detect/weight_unchanged.h"
#include "tests/unit/detect/reference.h"

namespace nanwatch {
namespace {

constexpr uint32_t kSeeds = 12;

// RandomRun with weights, updates and a learning rate.
class RandomTraining {
 public:
  explicit RandomTraining(uint32_t seed) : run_(seed), engine_(seed * 7919u) {}

  Update Next() {
    if (left_-- <= 0) NewMood();
    Update a = run_.Next();
    rate_ *= 0.999;
    weights_ = weights_ > 1e6 ? 100 : weights_ * grows_;
    if (Chance(moves_)) ++digest_;
    const double noise = 0.9 + 0.2 * Uniform();
    if (!Chance(gone_)) a.learning_rate = rate_;
    if (!Chance(0.02)) a.update_norm = ratio_ * noise * weights_;
    if (!Chance(0.02)) a.param_norm = weights_;
    if (!Chance(gone_)) a.digest = digest_;
    if (Chance(0.002)) a.unseen = static_cast<int64_t>(30 * Uniform());
    return a;
  }

 private:
  double Uniform() { return static_cast<double>(engine_()) / 2147483647.0; }
  bool Chance(double p) { return Uniform() < p; }
  void NewMood() {
    static constexpr double kRatio[] = {1e-3, 1e-3, 0.004, 0.03, 0.5,
                                        4,    1e-9, 0,     0};
    static constexpr double kGrows[] = {1, 1.00001, 1.004, 1.3};
    static constexpr double kRate[] = {1e-3, 1e-3, 1e-4, 1e-9, 0};
    static constexpr double kMoves[] = {0, 0, 0.01, 0.9};
    static constexpr double kGone[] = {0, 0, 0.01, 0.2};
    const auto pick = [&](const auto& list) {
      return list[engine_() % std::size(list)];
    };
    ratio_ = pick(kRatio);
    grows_ = pick(kGrows);
    rate_ = pick(kRate);
    moves_ = pick(kMoves);
    gone_ = pick(kGone);
    left_ = static_cast<int>(Uniform() * 400);
  }

  RandomRun run_;
  std::minstd_rand engine_;
  double ratio_ = 1e-3;
  double weights_ = 100;
  double grows_ = 1;
  double rate_ = 1e-3;
  double moves_ = 1;
  double gone_ = 0;
  uint64_t digest_ = 1;
  int left_ = 300;
};

// `mark_of(history)` says what the newest record of the history means.
template <typename Rule, typename MarkOf>
void Compare(StepFeed<Rule> feed, int records, int clear_after,
             const MarkOf& mark_of) {
  int changes = 0;
  const StepFeed<Rule> fresh = feed;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomTraining random(seed);
    feed = fresh;
    std::vector<Fact> history;
    std::vector<Mark> marks;
    Severity before = Severity::kNone;
    for (int i = 0; i < records; ++i) {
      const Update update = random.Next();
      const Severity opinion = feed.Step(update);
      const ScalerTracker& t = feed.tracker;
      history.push_back({update, t.scale().value_or(0), t.overflowed(),
                         t.in_grace(), t.fate(), t.last_transition(),
                         t.overflows_per_growth(), feed.step});
      marks.push_back(mark_of(History(history)));
      ASSERT_EQ(opinion, OpinionAfter(marks, clear_after)) << "record " << i;
      changes += opinion != before;
      before = opinion;
    }
  }
  EXPECT_GE(changes, 8) << "the random runs say too little of this rule";
}

template <typename Rule>
StepFeed<Rule> Feed(std::vector<double> thresholds = {}) {
  StepFeed<Rule> feed(Scaler("pytorch"));
  if (!thresholds.empty()) feed.thresholds = thresholds;
  return feed;
}

TEST(ScaleStuckReference, AgreesOnRandomRuns) {
  ScalerDeclaration scaler = Scaler("pytorch");
  scaler.growth_interval = 8;
  const auto quiet = [](History h, size_t i) {
    const bool told = h[i].update.scale ? h[i].transition == Transition::kHeld
                                        : h[i].update.overflow == false;
    return told && !h[i].overflowed && i > 0 && h[i].step == h[i - 1].step + 1;
  };
  Compare(StepFeed<ScaleStuck>(scaler), 1500, 1, [&](History h) {
    int series = 0;
    for (size_t i = h.size(); i > 0 && quiet(h, i - 1); --i) ++series;
    const double before = h.size() > 1 ? h[h.size() - 2].scale : 0;
    Mark mark{.clean = h.back().scale != before};
    if (series >= 32 && h.back().scale > 0) mark.trigger = Severity::kInfo;
    return mark;
  });
}

TEST(ScaleRunawayReference, AgreesOnRandomRuns) {
  Compare(
      Feed<ScaleRunaway>({0x1p18, 0x1p22, 0x1p28, 20}), 1500, 1, [](History h) {
        const double scale = h.back().scale;
        Mark mark{.clean = scale <= 0x1p18};
        double first = 0;
        for (size_t i = h.size(); i > 0; --i) {
          if (h[i - 1].scale > 0) first = h[i - 1].scale;
        }
        if (mark.clean || scale <= first) return mark;
        int64_t records = 0;
        int64_t since = 0;
        for (size_t i = h.size(); i > 0 && h[i - 1].scale > 0x1p18; --i) {
          if (h[i - 1].scale <= first) continue;
          ++records;
          since = h[i - 1].step;
        }
        if (scale >= 0x1p28) {
          mark.trigger = Severity::kCritical;
        } else if (std::max(records, h.back().step - since) >= 20) {
          mark.trigger = scale >= 0x1p22 ? Severity::kWarning : Severity::kInfo;
        }
        return mark;
      });
}

TEST(UpdateRatioReference, AgreesOnRandomRuns) {
  const auto told = [](const Fact& f) {
    const Update& a = f.update;
    return a.update_norm && a.param_norm && f.fate != Fate::kLost;
  };
  Compare(Feed<UpdateRatio>(), 1500, 50, [&](History h) {
    if (!told(h.back())) return Mark{.silent = true};
    std::vector<Fact> seen;
    for (const Fact& f : h) {
      if (told(f)) seen.push_back(f);
    }
    if (seen.size() <= 100) return Mark{.silent = true};
    const auto ratio = [&](size_t i) {
      return *seen[i].update.update_norm / *seen[i].update.param_norm;
    };
    const auto run_of = [&](auto holds) {
      int length = 0;
      for (size_t i = seen.size(); i > 100 && holds(i - 1); --i) ++length;
      return length;
    };
    const int high = run_of([&](size_t i) { return ratio(i) > 0.1; });
    const int very = run_of([&](size_t i) { return ratio(i) > 1; });
    const int small = run_of([&](size_t i) {
      if (ratio(i) <= 0 || ratio(i) >= 1e-8) return false;
      double highest = 0;
      for (size_t k = 0; k <= i; ++k) {
        highest = std::max(highest, seen[k].update.learning_rate.value_or(0));
      }
      const double rate = seen[i].update.learning_rate.value_or(0);
      return rate > 0 && rate >= 0.01 * highest;
    });
    Mark mark{.clean = high == 0 && small == 0};
    if (small >= 50) mark.trigger = Severity::kWarning;
    if (high > 0 && high % 10 == 0) {
      const double before = *seen[seen.size() - 11].update.param_norm;
      const double now = *seen.back().update.param_norm;
      if (std::fabs(now / before - 1) >= 0.02) {
        mark.trigger = very >= 10 ? Severity::kCritical : Severity::kWarning;
      }
    }
    return mark;
  });
}

TEST(WeightUnchangedReference, AgreesOnRandomRuns) {
  Compare(Feed<WeightUnchanged>({30}), 1500, 1, [](History h) {
    std::vector<Update> seen;
    double highest = 0;
    bool newest = false;
    for (const Fact& f : h) {
      const Update& a = f.update;
      newest = false;
      if ((!a.digest && !a.update_norm) || f.fate == Fate::kLost) continue;
      highest = std::max(highest, a.learning_rate.value_or(0));
      const double rate = a.learning_rate.value_or(1);
      if (a.learning_rate && (rate <= 0 || rate < 0.01 * highest)) continue;
      if (!std::isfinite(a.loss.value_or(0) + a.grad_norm.value_or(0))) {
        continue;
      }
      seen.push_back(a);
      newest = true;
    }
    if (!newest) return Mark{.silent = true};
    std::vector<uint64_t> digests;
    std::vector<double> updates;
    for (const Update& a : seen) {
      if (a.digest) digests.push_back(*a.digest);
      if (a.update_norm) updates.push_back(*a.update_norm);
    }
    const auto same_at_end = [](const auto& list, auto value) {
      int length = 0;
      for (size_t i = list.size(); i > 0 && list[i - 1] == value; --i) {
        ++length;
      }
      return length;
    };
    const Update& a = seen.back();
    const double hold = a.learning_rate ? 30 : 300;
    const int same = digests.empty() ? 0 : same_at_end(digests, digests.back());
    const int zero = same_at_end(updates, 0.0);
    const bool digest_moved = static_cast<int>(digests.size()) > same;
    const bool updated = static_cast<int>(updates.size()) > zero;
    Mark mark;
    mark.clean = (a.digest && digest_moved && same == 1) ||
                 (!a.digest && a.update_norm && *a.update_norm != 0);
    const int repeats = same - 1;
    if (repeats >= hold || zero >= hold) {
      const bool ever = repeats >= hold ? digest_moved : updated;
      mark.trigger = ever ? Severity::kWarning : Severity::kInfo;
    }
    return mark;
  });
}

TEST(MetricAbsentAsZeroReference, AgreesOnRandomRuns) {
  // The norms of the random run, all 0 up to a record that differs by seed.
  int changes = 0;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    RandomRun random(seed);
    StepFeed<MetricAbsentAsZero> feed;
    int moved = 0;
    double loss = 0;
    bool collected = false;
    Severity before = Severity::kNone;
    for (uint32_t i = 0; i < 600; ++i) {
      Update a = random.Next();
      if (a.grad_norm && i < 90 + 40 * seed) a.grad_norm = 0;
      collected = collected || (a.grad_norm && *a.grad_norm != 0);
      if (a.grad_norm && a.loss) {
        moved += std::isfinite(*a.loss) && *a.loss != loss;
        loss = *a.loss;
      }
      const Severity now = feed.Step(a);
      ASSERT_EQ(now,
                !collected && moved >= 100 ? Severity::kInfo : Severity::kNone)
          << seed << " at " << i;
      changes += now != before;
      before = now;
    }
  }
  EXPECT_GE(changes, 8);
}

TEST(LrSkipDesyncReference, AgreesOnRandomRuns) {
  const auto steps_ahead = [](History h) {
    const auto linked = [&](size_t i) {  // to the record before
      const int64_t gap = h[i].step - h[i - 1].step;
      return h[i].update.learning_rate && h[i - 1].update.learning_rate &&
             gap >= 0 && gap <= 1;
    };
    const auto lost = [&](size_t i) { return h[i].fate == Fate::kLost; };
    int64_t ahead = 0;
    for (size_t i = 1; i < h.size(); ++i) {
      if (lost(i) || !lost(i - 1) || !linked(i)) continue;
      int64_t moves = 0;  // from the last good record before the streak to here
      for (size_t k = i; k > 0 && linked(k); --k) {
        moves += *h[k].update.learning_rate != *h[k - 1].update.learning_rate;
        if (!lost(k - 1)) break;
      }
      ahead += std::max<int64_t>(0, moves - 1);
    }
    return ahead;
  };
  Compare(Feed<LrSkipDesync>({5, 0.08}), 600, 1, [&](History h) {
    if (!h.back().update.learning_rate) return Mark{.silent = true};
    int64_t updates = 0;
    for (const Fact& f : h) updates += f.update.learning_rate.has_value();
    const auto ahead = static_cast<double>(steps_ahead(h));
    const bool much = ahead > 0.08 * static_cast<double>(updates);
    Mark mark{.clean = !much};
    if (much && ahead >= 5) mark.trigger = Severity::kInfo;
    return mark;
  });
}

}  // namespace
}  // namespace nanwatch
