// Slow, obviously right counterparts of what detectors keep as running state:
// each looks at the whole history again at every record.

#ifndef NANWATCH_TESTS_UNIT_DETECT_REFERENCE_H_
#define NANWATCH_TESTS_UNIT_DETECT_REFERENCE_H_

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "model/severity.h"
#include "tests/unit/detect/rule_feed.h"

namespace nanwatch {

// What a rule on steps may know of one record.
struct Fact {
  Update update;
  double scale = 0;  // of the tracker; 0: none
  bool overflowed = false;
  bool in_grace = false;
  Fate fate = Fate::kUnknown;
  Transition transition = Transition::kNone;
  int64_t earned = 0;  // overflows a growth
  int64_t step = 0;
  bool starting = false;  // within the updates of a calibration
};
using History = std::span<const Fact>;

// What one record means for an episode.
struct Mark {
  Severity trigger = Severity::kNone;
  bool clean = false;
  bool silent = false;  // the rule does not look at this record
  int updates = 1;      // that it stands for, if it is clean
};

// The opinion after all marks.
inline Severity OpinionAfter(std::span<const Mark> marks, int clear_after) {
  Severity opinion = Severity::kNone;
  int clean = 0;
  for (const Mark& mark : marks) {
    if (mark.silent) continue;
    if (mark.trigger != Severity::kNone) {
      opinion = std::max(opinion, mark.trigger);
      clean = 0;
    } else {
      clean = mark.clean ? clean + mark.updates : 0;
      if (clean >= clear_after) opinion = Severity::kNone;
    }
  }
  return opinion;
}

// BlockMaximum's definition over all values ever pushed.
inline float BlockMaximumOf(const std::vector<float>& pushed, int block,
                            int blocks) {
  const int complete = static_cast<int>(pushed.size()) / block;
  const int first = std::max(0, complete - blocks) * block;
  float maximum = 0;
  for (size_t i = first; i < pushed.size(); ++i) {
    maximum = std::max(maximum, pushed[i]);
  }
  return maximum;
}

// A run with everything in it: calibration, probes, bursts of overflow, level
// shifts, spikes, NaN, absent values.
class RandomRun {
 public:
  explicit RandomRun(uint32_t seed) : engine_(seed * 2654435761u + 1) {}

  Update Next() {
    if (left_-- <= 0) NewMood();
    Update a;
    const bool overflow = Chance(overflow_);
    if (overflow) scale_ = std::max(scale_ / 2, 0x1p-20);
    if (!overflow && Chance(growth_)) scale_ = std::min(scale_ * 2, 0x1p30);
    if (Chance(0.002)) scale_ *= 64;
    if (!Chance(0.02)) a.scale = scale_;
    if (!Chance(0.05)) a.overflow = overflow;
    if (Chance(0.5)) a.skipped = overflow;
    const double noise = 0.9 + 0.2 * Uniform();
    if (Chance(0.01)) a.unseen = static_cast<int64_t>(30 * Uniform());
    if (!Chance(0.05)) a.loss = Odd(loss_ * noise);
    if (!Chance(0.05)) a.grad_norm = overflow ? kInf : Odd(norm_ * noise);
    return a;
  }

 private:
  double Uniform() { return static_cast<double>(engine_()) / 2147483647.0; }
  bool Chance(double p) { return Uniform() < p; }
  double Odd(double value) {
    if (Chance(0.004)) return kNan;
    return Chance(0.01) ? value * 40 : value;
  }
  void NewMood() {
    static constexpr double kOverflow[] = {0, 0, 0.001, 0.02, 0.3, 0.5, 1};
    static constexpr double kGrowth[] = {0.0005, 0.01, 0.3, 0.9};
    static constexpr double kLevel[] = {1, 1, 1, 3, 30, 0.1};
    const auto pick = [&](const auto& list) {
      return list[engine_() % std::size(list)];
    };
    overflow_ = pick(kOverflow);
    growth_ = pick(kGrowth);
    loss_ = 2 * pick(kLevel);
    norm_ = 0.3 * pick(kLevel);
    left_ = overflow_ == 1 ? static_cast<int>(Uniform() * 30)
                           : static_cast<int>(Uniform() * 500);
  }

  std::minstd_rand engine_;
  double scale_ = 65536;
  double overflow_ = 1;  // begins with calibration
  double growth_ = 0;
  double loss_ = 2;
  double norm_ = 0.3;
  int left_ = 12;
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_DETECT_REFERENCE_H_
