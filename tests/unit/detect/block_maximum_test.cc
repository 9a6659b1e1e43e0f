// BlockMaximum, BitWindow, Log2, and rule 28 that stands on them, against
// references with full history.

#include "detect/block_maximum.h"

#include <gmock/gmock.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "detect/bit_window.h"
#include "detect/float_log2.h"
#include "detect/gnorm_explosion.h"
#include "tests/unit/detect/reference.h"

namespace nanwatch {
namespace {

constexpr int kRecords = 1500;
constexpr uint32_t kSeeds = 12;

TEST(Log2, IsWithinOneMillionth) {
  for (double x = 1e-37; x < 1e38; x *= 1.0173) {
    const auto f = static_cast<float>(x);
    const double exact = std::log2(static_cast<double>(f));
    ASSERT_NEAR(Log2(f), exact, 1e-6 * std::max(8.0, std::fabs(exact))) << x;
  }
  EXPECT_EQ(Log2(1), 0);
}

TEST(BlockMaximum, AgreesWithItsDefinition) {
  std::minstd_rand engine(7);
  BlockMaximum<10, 5> maximum;
  std::vector<float> pushed;
  for (int i = 0; i < 1000; ++i) {
    pushed.push_back(static_cast<float>(engine() % 10000));
    maximum.Push(pushed.back());
    ASSERT_EQ(maximum.maximum(), BlockMaximumOf(pushed, 10, 5)) << i;
  }
}

TEST(BitWindow, CountsTheLastN) {
  std::minstd_rand engine(7);
  BitWindow<70> window;
  std::vector<bool> bits;
  for (int i = 0; i < 1000; ++i) {
    const auto action = engine() % 10;
    if (action == 0 && !bits.empty()) {
      window.SetNewest();
      bits.back() = true;
    } else if (action == 1) {
      const auto skipped = static_cast<int>(engine() % 90);
      window.Skip(skipped);
      bits.insert(bits.end(), skipped, false);
    } else {
      bits.push_back(engine() % 3 == 0);
      window.Push(bits.back());
    }
    const size_t size = std::min<size_t>(70, bits.size());
    ASSERT_EQ(window.size(), static_cast<int>(size)) << i;
    ASSERT_EQ(window.ones(), std::count(bits.end() - size, bits.end(), true))
        << i;
  }
}

// What the rule thinks of each value, told from the values and thoughts before.
struct Seen {
  float value;
  bool rejected;
};
// Healthy values since the baseline last began anew.
std::vector<float> Added(const std::vector<Seen>& seen) {
  std::vector<float> added;
  int rejected = 0;
  for (const Seen& s : seen) {
    if (!s.rejected) {
      added.push_back(s.value);
      rejected = 0;
    } else if (++rejected == 256) {
      added.clear();
      rejected = 0;
    }
  }
  return added;
}

// `next(update, fate, in_grace)` gives the newest record's mark.
template <typename Rule, typename MakeNext>
void Compare(const ScalerDeclaration& scaler, int clear_after,
             MakeNext make_next) {
  int changes = 0;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomRun random(seed);
    StepFeed<Rule> feed(scaler);
    auto next = make_next();
    std::vector<Mark> marks;
    Severity before = Severity::kNone;
    for (int i = 0; i < kRecords; ++i) {
      const Update update = random.Next();
      const Severity opinion = feed.Step(update);
      marks.push_back(
          next(update, feed.tracker.fate(), feed.tracker.in_grace()));
      ASSERT_EQ(opinion, OpinionAfter(marks, clear_after)) << "record " << i;
      changes += opinion != before;
      before = opinion;
    }
  }
  EXPECT_GE(changes, 8) << "the random runs say too little of this rule";
}

TEST(GnormExplosionReference, AgreesOnRandomRuns) {
  Compare<GnormExplosion>(Scaler("pytorch"), 50, [] {
    return [seen = std::vector<Seen>(), nonfinite = 0,
            steps = std::vector<int64_t>(), step = int64_t{0}](
               const Update& a, Fate fate, bool in_grace) mutable -> Mark {
      step += 1 + a.unseen;
      if (!a.grad_norm || fate == Fate::kLost || in_grace) {
        return {.silent = true};
      }
      const double norm = *a.grad_norm;
      if (!std::isfinite(norm)) {
        const bool bad = fate == Fate::kApplied || ++nonfinite >= 3;
        if (fate == Fate::kApplied) ++nonfinite;
        return {.trigger = bad ? Severity::kCritical : Severity::kNone};
      }
      nonfinite = 0;
      const auto average = [](const std::vector<float>& added) {
        double sum = 0;
        double weights = 0;
        double weight = 1;
        for (size_t i = added.size(); i > 0; --i, weight *= 0.99) {
          sum += weight * added[i - 1];
          weights += weight;
        }
        return weights > 0 ? sum / weights : 0;
      };
      const std::vector<float> added = Added(seen);
      const bool explodes =
          (added.size() >= 64 && norm >= 10 * BlockMaximumOf(added, 16, 8)) ||
          (added.size() >= 10 && norm > 1e6 * average(added));
      seen.push_back({static_cast<float>(norm), explodes});
      steps.push_back(step);
      int held = 0;
      for (size_t i = seen.size(); i > 0 && seen[i - 1].rejected; --i) ++held;
      Mark mark;
      if (explodes) {
        const int cycle = (held - 1) % 256 + 1;
        const int64_t since =
            step - steps[steps.size() - static_cast<size_t>(cycle)];
        const bool vast = norm >= 1000.0 * BlockMaximumOf(added, 16, 8);
        float largest = 0;
        for (const Seen& one : seen) {
          if (!one.rejected) largest = std::max(largest, one.value);
        }
        const bool known = cycle < 3 && norm <= largest;
        mark.trigger = cycle >= 10 && (since >= 250 || vast)
                           ? Severity::kCritical
                       : known ? Severity::kInfo
                               : Severity::kWarning;
      }
      mark.clean = norm < 2 * average(Added(seen));
      return mark;
    };
  });
}

}  // namespace
}  // namespace nanwatch
