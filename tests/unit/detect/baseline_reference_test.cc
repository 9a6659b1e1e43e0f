// RobustBaseline, BlockMaximum, BitWindow, Log2, and the rules 27, 28 and 34
// that stand on them, against references with full history.

#include <gmock/gmock.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "detect/bit_window.h"
#include "detect/block_maximum.h"
#include "detect/early_losses.h"
#include "detect/float_log2.h"
#include "detect/gnorm_explosion.h"
#include "detect/gnorm_spike.h"
#include "detect/loss_spike.h"
#include "detect/robust_baseline.h"
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

TEST(RobustBaseline, AgreesWithItsDefinition) {
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    std::minstd_rand engine(seed);
    RobustBaseline baseline;
    std::vector<float> added;
    int rejected = 0;
    for (int i = 0; i < 2000; ++i) {
      // Long rejections now and then.
      if (engine() % 997 == 0 || (rejected > 0 && engine() % 300 != 0)) {
        baseline.Reject();
        if (++rejected == 256) {
          added.clear();
          rejected = 0;
        }
      } else {
        const auto value = static_cast<float>(engine() % 1000) / 7;
        baseline.Add(value);
        added.push_back(value);
        rejected = 0;
      }
      const Baseline expected = BaselineOf(added);
      ASSERT_EQ(baseline.samples(), expected.samples) << seed << " at " << i;
      if (expected.samples == 0) continue;
      ASSERT_EQ(baseline.center(), expected.center) << seed << " at " << i;
      ASSERT_EQ(baseline.spread(), expected.spread) << seed << " at " << i;
    }
  }
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

// The smallest step from one value to the next, at most 0.01.
float Digit(const std::vector<float>& values) {
  float smallest = 0.01f;
  for (size_t i = 1; i < values.size(); ++i) {
    const float step = std::fabs(values[i] - values[i - 1]);
    if (step > 0) smallest = std::min(smallest, step);
  }
  return smallest;
}

TEST(GnormSpikeReference, AgreesOnRandomRuns) {
  Compare<GnormSpike>(Scaler("pytorch"), 20, [] {
    return
        [seen = std::vector<Seen>(), above = std::vector<bool>(),
         norms = std::vector<float>(), steps = std::vector<int64_t>(),
         step = int64_t{0}](const Update& a, Fate fate, bool) mutable -> Mark {
          step += 1 + a.unseen;
          const auto norm = static_cast<float>(a.grad_norm.value_or(0));
          if (fate == Fate::kLost || !(norm > 0) || !std::isfinite(norm)) {
            return {.silent = true};
          }
          norms.push_back(norm);
          const float x = Log2(norm);
          const Baseline b = BaselineOf(Added(seen));
          if (b.samples < 128) {
            seen.push_back({x, false});
            above.push_back(false);
            steps.push_back(step);
            return {.clean = true};
          }
          float z = (x - b.center) / std::max(b.spread, 0.05f);
          if (z >= 6) {
            const float digit = Log2(1 + Digit(norms) / std::exp2(b.center));
            z = std::min(z, (x - b.center) / std::max(digit, 0.05f));
          }
          const bool spike = z >= 6 && std::exp2(x - b.center) >= 2;
          seen.push_back({x, spike});
          above.push_back(spike && z >= 8);
          steps.push_back(step);
          Mark mark{.clean = z < 3};
          if (!spike) return mark;
          int held = 0;
          for (size_t i = above.size(); i > 0 && above[i - 1]; --i) ++held;
          int spiked = 0;
          for (size_t i = seen.size(); i > 0 && seen[i - 1].rejected; --i)
            ++spiked;
          float mean = 0;  // of those in a row, and of about the last eight
          float smooth = 0;
          for (int i = 0; i < spiked; ++i) {
            const float rise =
                seen[seen.size() - static_cast<size_t>(spiked - i)].value -
                b.center;
            if (i == 0) mean = smooth = rise;
            mean += (rise - mean) / static_cast<float>(i + 1);
            smooth += (rise - smooth) / 8;
          }
          const bool stays =
              held >= 20 && smooth >= mean &&
              step - steps[steps.size() - static_cast<size_t>(held)] >= 250;
          mark.trigger = stays         ? Severity::kCritical
                         : spiked >= 3 ? Severity::kWarning
                                       : Severity::kInfo;
          return mark;
        };
  });
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

// LossSpike's view of a loss: the last that are healthy, all that are finite.
struct LossView {
  std::vector<Seen> seen;
  std::vector<bool> exploded;
  std::vector<float> series;  // high ones in a row
  std::vector<bool> stays;    // which of them are where a critical one is
  std::vector<bool> climbs;   // which are well above the first
  float z_start = 0;          // deviations of the first of them
  float largest = 0;          // of healthy ones, and of a new level's first
  float smallest = 0;
  std::vector<int64_t> steps;    // of those in a row
  size_t begun = 0;              // index in seen of the baseline's first
  std::vector<size_t> accepted;  // indices of those that were the level then
  EarlyLosses few;               // those of Added() that were early

  // Of those since the baseline last began.
  std::vector<float> Added() const {
    std::vector<float> added;
    for (size_t i = begun; i < seen.size(); ++i) {
      if (!seen[i].rejected) added.push_back(seen[i].value);
    }
    return added;
  }
  bool IsEarly(const Baseline& b) const {
    return b.samples < 64 || (few.judges() && few.level() < 0.5f * b.center);
  }
  void Clear() {
    series.clear();
    steps.clear();
    stays.clear();
    climbs.clear();
  }
  int Healthy() const {
    int healthy = 0;
    for (const Seen& s : seen) healthy += !s.rejected;
    return healthy;
  }
  // The smallest step from one finite loss to the next, `loss` included.
  float Rounding(float loss) const {
    std::vector<float> values;
    for (const Seen& s : seen) values.push_back(s.value);
    values.push_back(loss);
    return Digit(values);
  }
  // Share of the records that stood out for 8 or fewer in a row, of about the
  // last 256.
  float Often() const {
    float often = 0;
    int held = 0;
    for (size_t i = 0; i < seen.size(); ++i) {
      const Seen& s = seen[i];
      if (s.rejected) {
        held = std::count(accepted.begin(), accepted.end(), i) ? 0 : held + 1;
        continue;
      }
      often -= 1.0f / 256 * often;
      if (held <= 8) often += 1.0f / 256 * static_cast<float>(held);
      held = 0;
    }
    return often;
  }
  float Hold(float least) const {
    const float often = Often();
    if (often < 0.005f) return least;
    return often < 0.5f ? std::max(least, 20 / -Log2(often)) : 20;
  }
  // Of the first 100 in a row, the second 50 are lower.
  bool ComesDown(float usual) const {
    float early = 0;
    float late = 0;
    for (size_t i = 0; i < 50; ++i) early += series[i] / 50;
    for (size_t i = 50; i < 100; ++i) late += series[i] / 50;
    return late < early - 0.1f * (early - usual);
  }
  void Note(float loss) {
    largest = std::max(largest, std::fabs(loss));
    smallest = Healthy() == 0 ? loss : std::min(smallest, loss);
  }
};

struct Height {
  bool high = false;
  bool calm = false;
  float z = 0;
};

// Against the baseline `b`.
Height Compared(float loss, const Baseline& b, float rounding, bool wanders) {
  const float least = std::max({0.01f * std::fabs(b.center), rounding, 1e-6f});
  const float spread = std::max(b.spread, least);
  const float z = (loss - b.center) / spread;
  const bool calm = z < 3 || (b.center > 0 && loss < 1.2 * b.center);
  if (b.center <= 0 || wanders) return {z >= 12, calm, z};
  const bool far = z >= 8 || (loss >= 2 * b.center && z >= 6);
  if (!far) return {false, calm, z};
  const float rise = 0.6931472f * Log2(loss / b.center) * b.center;
  return {rise >= 4.0f * spread, calm, z};
}

// The last three.
bool IsFar(const std::vector<float>& series, float usual) {
  return series.size() >= 3 &&
         std::all_of(series.end() - 3, series.end(),
                     [&](float loss) { return loss >= 1.5 * usual; });
}

bool Climbs(const LossView& view, float z, float usual) {
  const float start = view.series.front();
  const float loss = view.series.back();
  return loss >= 1.3f * usual && z - view.z_start >= 12 &&
         loss - start >= 0.5f * (start - usual);
}

// It stays, and does not come down.
bool IsLost(const LossView& view, float usual, bool early) {
  const std::vector<float>& series = view.series;
  const bool for_three =
      series.size() >= 3 && std::all_of(view.stays.end() - 3, view.stays.end(),
                                        [](bool one) { return one; });
  float smooth = series[0];
  float peak = smooth;
  for (const float loss : series) {
    smooth += 0.25f * (loss - smooth);
    peak = std::max(peak, smooth);
  }
  if (!for_three || smooth < usual + 0.85f * (peak - usual)) return false;
  const int64_t steps = view.steps.back() - view.steps.front();
  if (series.size() >= 30 && steps >= 500) return true;
  if (series.size() < (early ? 16 : 24) || smooth <= view.largest) return false;
  return early || steps >= 250 || series.size() >= 56;
}

// The run began with the first of these records, and nothing overflowed.
Mark LossSpikeMark(LossView* view, float loss, int64_t step) {
  if (!std::isfinite(loss)) return {.silent = true};
  const int healthy = view->Healthy();
  const float size = std::fabs(loss);
  const bool start = healthy < 32;
  const bool explodes =
      healthy >= 2 && (!start || view->largest >= 0.1f) &&
      size > (start ? 100 : 10) * std::max(view->largest, 0.1f);
  const std::vector<float> added = view->Added();
  const Baseline b = BaselineOf(added);
  const bool early = view->IsEarly(b);
  const EarlyLosses few = view->few;
  bool high = false;
  bool stands_out = false;
  float z = 0;
  Mark mark{.clean = !explodes};
  if (!early) {
    const Height height =
        Compared(loss, b, view->Rounding(loss), view->smallest < 0);
    high = height.high;
    z = height.z;
    mark.clean = mark.clean && height.calm;
  } else {
    stands_out = healthy >= 3 && view->smallest > 0 && view->largest >= 0.1f &&
                 view->largest - view->smallest <= 0.05f * view->largest &&
                 loss >= 2 * view->largest &&
                 loss - view->largest >= 8 * (view->largest - view->smallest);
    const bool known = few.known() && view->smallest > 0 && loss > 0;
    if (known) z = few.Deviations(loss);
    high = stands_out || few.IsHigh(loss) ||
           (known && view->series.size() >= 3 && loss >= 1.5 * few.level());
    mark.clean = mark.clean && !high;
  }
  const bool rejected = high || explodes;
  if (!rejected) view->Note(loss);
  view->seen.push_back({loss, rejected});
  view->exploded.push_back(explodes);
  if (!rejected) {
    if (view->IsEarly(BaselineOf(view->Added()))) view->few.Add(loss);
    view->Clear();
    return mark;
  }
  if (view->series.empty()) view->z_start = z;
  view->series.push_back(loss);
  view->steps.push_back(step);
  const size_t held = view->series.size();
  const float peak =
      *std::max_element(view->series.begin(), view->series.end());
  const float usual = early && few.known() ? few.level()
                      : b.samples >= 16    ? b.center
                                           : std::max(0.0f, view->smallest);
  const bool stays =
      loss >= usual + (peak - usual) / 2 && (usual <= 0 || loss >= 1.5 * usual);
  view->stays.push_back(stays);
  view->climbs.push_back(Climbs(*view, z, usual));
  float smooth = view->series[0];
  for (const float one : view->series) smooth += 0.25f * (one - smooth);
  if (held >= 256 && (step - view->steps.front() > 503 ||
                      smooth < 1.5 * usual)) {  // the level now
    view->Note(loss);
    view->Clear();
    view->accepted.push_back(view->seen.size() - 1);
    view->begun = view->seen.size();
    view->few = EarlyLosses();
    return mark;
  }
  const auto& exploded = view->exploded;
  const bool twice =
      explodes && exploded.size() >= 2 && exploded[exploded.size() - 2];
  const bool climbs_on =
      held >= 2 && view->climbs[held - 1] && view->climbs[held - 2];
  float hold = 3;
  if (early && !stands_out) hold += static_cast<float>(few.MoreToHold());
  if (early && healthy < 32 && peak < 2.3f * usual)
    hold = std::max(hold, 14.0f);
  if (twice || IsLost(*view, usual, early)) {
    mark.trigger = Severity::kCritical;
  } else if (static_cast<float>(held) >= view->Hold(hold)) {
    const bool far = usual <= 0 || IsFar(view->series, usual) || climbs_on ||
                     (held >= 100 && !view->ComesDown(usual));
    mark.trigger = far ? Severity::kWarning : Severity::kInfo;
  }
  return mark;
}

TEST(LossSpikeReference, AgreesOnRandomRuns) {
  int changes = 0;
  for (uint32_t seed = 1; seed <= 2 * kSeeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomRun random(seed);
    StepFeed<LossSpike> feed;
    LossView view;
    std::vector<Mark> marks;
    Severity before = Severity::kNone;
    for (int i = 0; i < kRecords; ++i) {
      const Update all = random.Next();
      // Every other run as a log that tells one step in ten.
      const int64_t unseen = seed % 2 == 0 ? 9 : all.unseen;
      const Severity opinion = feed.Step({.loss = all.loss, .unseen = unseen});
      marks.push_back(LossSpikeMark(
          &view, static_cast<float>(all.loss.value_or(kNan)), feed.step));
      ASSERT_EQ(opinion, OpinionAfter(marks, 20)) << "record " << i;
      changes += opinion != before;
      before = opinion;
    }
  }
  EXPECT_GE(changes, 8) << "the random runs say too little of this rule";
}

}  // namespace
}  // namespace nanwatch
