// Rule 15, loss_nonfinite: the loss is NaN or infinite, or on its way there.
// That began where the loss left what it had moved in before. In saturation
// mode a finite loss proves nothing, so this rule says nothing there.

#ifndef NANWATCH_DETECT_LOSS_NONFINITE_H_
#define NANWATCH_DETECT_LOSS_NONFINITE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "detect/context.h"
#include "detect/episode.h"
#include "detect/streak.h"
#include "detect/survival.h"
#include "model/finding.h"
#include "model/rule.h"

namespace nanwatch {

class LossNonfinite {
 public:
  static const RuleSpec kSpec;
  static constexpr uint32_t kNeeds = kOddLossBit;
  enum Threshold { kCriticalStreak, kClear, kZeros };

  Severity OnStep(const StepContext& c, Thresholds t);
  Severity OnEnd(Thresholds t);
  void Describe(Finding* finding) const;
  // For the first losses, for one to come back, and whether it outlives one.
  bool Waits() const {
    return growth_.IsYoung() || growth_.reached > 0 || row_.records() > 0 ||
           (row_.newest() > 0 && !survival_.IsSure()) ||
           zeros_.episode.held() > 0 || zeros_.last_loss < kSizable;
  }

 private:
  // No training loses so much of its loss in one record.
  static constexpr double kSizable = 0.1;  // of a loss; ours
  // What is usual of any loss must not change it.
  static_assert(kSizable <= kLeastUsualLoss);

  Severity LookAtLoss(const StepContext& c, Thresholds t);
  Severity LookAtZeros(const StepContext& c, Thresholds t);
  Severity WeighZeros(const RunDescription& run) const;
  void DescribeZeros(Finding* finding) const;

  // How far a loss is from its first ones.
  struct Growth {
    // Fourfold each, up to what has grown; ours.
    static constexpr size_t kLevels = 10;
    static constexpr float kTimes = 4;      // from level to level; ours
    static constexpr int kFirsts = 4;       // losses; ours
    static constexpr float kLeastBase = 1;  // of a loss; ours
    static_assert(kMostUsualLoss <= kTimes * kLeastBase);

    bool IsYoung() const { return firsts < kFirsts; }
    void Add(double loss, int64_t step);
    bool grown() const;
    // Returns the step of the first loss that left its level. REQUIRES: it has
    // grown.
    int64_t Began() const;

    float most = 0;       // the largest of the first losses
    float base = 0;       // the same, and kLeastBase at least
    float to = 0;         // the newest finite one
    int8_t firsts = 0;    // losses that base stands on
    int8_t above = 0;     // finite losses in a row far above it; held by NaN
    uint8_t reached = 0;  // levels
    // Steps since which the loss is above each level that it has reached.
    std::array<int64_t, kLevels> since{};
  };

  // Losses that became exactly 0.
  struct Zeros {
    HeldEpisode episode;
    double last_loss = 0;  // the newest finite one that was not nearly 0
  };

  // How losses that are not finite follow each other: those of one rank among
  // others that print alike do so regularly, those of odd batches do not.
  struct Rhythm {
    static constexpr int8_t kBeats = 4;  // in a row; ours

    void Count() { ++since; }
    void Beat() {
      same =
          since == gap ? static_cast<int8_t>(std::min(same + 1, +kBeats)) : 0;
      gap = since;
      since = 0;
    }
    bool IsRegular() const { return same >= kBeats; }

    int32_t since = 0;  // records since the newest
    int32_t gap = 0;    // the same, at the newest
    int8_t same = 0;    // gaps in a row that were as long
  };

  Growth growth_;
  Rhythm rhythm_;
  Zeros zeros_;
  Episode episode_;
  double loss_ = 0;
  Streak row_;
  int64_t newest_step_ = 0;  // of that row
  Survival survival_;        // of that row
  int32_t often_ = 0;        // losses of the episode; saturates
  bool survived_ = false;    // one before
  Severity zeros_weigh_ = Severity::kNone;
  Fate fate_ = Fate::kUnknown;       // of the newest, as is to be feared
  Fate told_fate_ = Fate::kUnknown;  // as its record says
};

}  // namespace nanwatch

#endif  // NANWATCH_DETECT_LOSS_NONFINITE_H_
