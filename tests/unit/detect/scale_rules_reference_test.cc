// Rules 4, 5, 6 and 9 against references that recompute everything from the
// full history at every record.

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "detect/overflow_rate.h"
#include "detect/overflow_streak.h"
#include "detect/scale_collapse.h"
#include "detect/scale_limit_cycle.h"
#include "tests/unit/detect/reference.h"

namespace nanwatch {
namespace {

constexpr int kRecords = 1500;
constexpr uint32_t kSeeds = 12;

// `mark_of(history)` says what the newest record of the history means.
template <typename Rule, typename MarkOf>
void Compare(const ScalerDeclaration& scaler, int clear_after, MarkOf mark_of) {
  int changes = 0;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomRun random(seed);
    StepFeed<Rule> feed(scaler);
    std::vector<Fact> history;
    std::vector<Mark> marks;
    Severity before = Severity::kNone;
    for (int i = 0; i < kRecords; ++i) {
      const Update update = random.Next();
      const Severity opinion = feed.Step(update);
      const ScalerTracker& t = feed.tracker;
      history.push_back({update, t.scale().value_or(0), t.overflowed(),
                         t.in_grace(), t.fate(), t.last_transition(),
                         t.overflows_per_growth(), feed.step,
                         t.since_start() <= t.grace_updates()});
      marks.push_back(mark_of(History(history)));
      ASSERT_EQ(opinion, OpinionAfter(marks, clear_after)) << "record " << i;
      changes += opinion != before;
      before = opinion;
    }
  }
  EXPECT_GE(changes, 8) << "the random runs say too little of this rule";
}

TEST(ScaleCollapseReference, AgreesOnRandomRuns) {
  const auto worked = [](History h, int blocks) {
    std::vector<float> values;
    int64_t step = 0;
    for (const Fact& f : h) {
      if (f.scale == 0) continue;
      const auto unseen = std::clamp<int64_t>(f.step - step - 1, 0, 9);
      values.insert(values.end(), static_cast<size_t>(unseen), 0.0f);
      const bool worked = !f.overflowed && f.update.scale;
      values.push_back(worked ? static_cast<float>(f.scale) : 0.0f);
      step = f.step;
    }
    return BlockMaximumOf(values, 10, blocks);
  };
  Compare<ScaleCollapse>(Scaler("pytorch"), 500, [&](History h) {
    const double scale = h.back().scale;
    if (scale == 0) return Mark{.silent = true};
    Mark mark;
    const bool fell = worked(h, 20) >= 256 * scale;
    if (fell && scale <= 16) {
      mark.trigger = Severity::kCritical;
    } else if (fell || worked(h, 5) >= 16 * scale) {
      mark.trigger = Severity::kWarning;
    }
    mark.clean = worked(h, 20) < 4 * scale && scale >= 1;
    const int64_t before = h.size() > 1 ? h[h.size() - 2].step : 0;
    mark.updates = static_cast<int>(
        1 + std::clamp<int64_t>(h.back().step - before - 1, 0, 9));
    return mark;
  });
}

TEST(OverflowStreakReference, AgreesOnRandomRuns) {
  Compare<OverflowStreak>(Scaler("pytorch"), 50, [](History h) {
    int streak = 0;
    for (size_t i = h.size(); i > 0 && h[i - 1].overflowed; --i) {
      ++streak;
      // Told by the fall of the scale alone, over several steps.
      const Update& a = h[i - 1].update;
      if (!a.overflow && !a.skipped && a.unseen > 0) break;
    }
    Mark mark{.clean = streak == 0};
    const bool enough = streak >= (h.back().starting ? 16 : 5);
    if (enough && !h.back().in_grace) {
      mark.trigger = streak >= 16 ? Severity::kCritical : Severity::kWarning;
      if (h.back().fate == Fate::kApplied) mark.trigger = Severity::kInfo;
    }
    return mark;
  });
}

TEST(OverflowRateReference, AgreesOnRandomRuns) {
  const auto excess = [](History h) {
    std::vector<std::optional<Fate>> list;  // of those in excess
    int64_t credit = 0;
    int quiet = 0;
    int64_t step = h.front().step - 1;
    for (const Fact& f : h) {
      const bool flags = f.update.overflow || f.update.skipped;
      const int64_t unseen = std::min<int64_t>(f.step - step - 1, 1000);
      if (!flags) {
        list.insert(list.end(), static_cast<size_t>(unseen), std::nullopt);
      }
      step = f.step;
      if (f.transition == Transition::kGrew) {
        credit = std::min(credit + f.earned, 4 * f.earned);
      }
      if (f.overflowed && !f.update.scale && quiet >= 50) {
        credit = std::max(credit, f.earned);
      }
      const bool excess = f.overflowed && !f.in_grace && credit == 0;
      list.push_back(excess ? std::optional(f.fate) : std::nullopt);
      if (f.overflowed && credit > 0) --credit;
      quiet = f.overflowed ? 0 : quiet + 1;
    }
    return list;
  };
  Compare<OverflowRate>(Scaler("pytorch"), 1, [&](History h) {
    const std::vector<std::optional<Fate>> list = excess(h);
    int count = 0;
    Fate fate = Fate::kUnknown;
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i] && i + 1000 >= list.size()) ++count;
      if (list[i]) fate = *list[i];
    }
    Mark mark{.clean = count < 5};
    if (list.back() && count > 10) {
      mark.trigger = count > 100 ? Severity::kCritical : Severity::kWarning;
      if (fate == Fate::kApplied) mark.trigger = Severity::kInfo;
    }
    return mark;
  });
}

TEST(ScaleLimitCycleReference, AgreesOnRandomRuns) {
  const auto turns = [](History h, int64_t window) {
    int count = 0;
    int direction = 0;
    for (size_t i = 1; i < h.size(); ++i) {
      if (h[i - 1].scale == 0 || h[i].scale == h[i - 1].scale) continue;
      const int now = h[i].scale > h[i - 1].scale ? 1 : -1;
      int64_t updates = 1;  // from here to the newest, with those not recorded
      for (size_t k = i + 1; k < h.size(); ++k) {
        updates += std::min<int64_t>(h[k].step - h[k - 1].step, 10);
      }
      if (direction == -now && updates <= window) ++count;
      direction = now;
    }
    return count;
  };
  Compare<ScaleLimitCycle>({}, 1, [&](History h) {
    Mark mark{.clean = turns(h, 200) <= 1};
    if (turns(h, 20) >= 6) mark.trigger = Severity::kWarning;
    return mark;
  });
}

}  // namespace
}  // namespace nanwatch
