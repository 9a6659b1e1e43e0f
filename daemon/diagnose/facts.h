// Facts: what causes ask of a run, found out once, in one pass. No sentence is
// made here, and none is read.

#ifndef NANWATCH_DIAGNOSE_FACTS_H_
#define NANWATCH_DIAGNOSE_FACTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "diagnose/case.h"
#include "diagnose/finding_index.h"
#include "diagnose/nan_births.h"
#include "diagnose/padding.h"
#include "model/finding.h"
#include "model/rule_id.h"

namespace nanwatch {

// More than a scaler's probing.
inline constexpr RuleSet kBurst = {
    RuleId::kScaleCollapse, RuleId::kOverflowStreak, RuleId::kOverflowRate};

// A training that ran away. What opens meanwhile is its doing.
struct RanAway {
  int64_t from = 0;
  int64_t until = INT64_MAX;
};

struct Facts : Case {
  Facts(const Case& c, std::span<const Finding> findings);

  FindingIndex found;

  // --- The scale.
  // Something tells of a loss scaler, or the format may need one.
  bool scaled = false;
  // Updates are skipped and no scale is reported: a log's counter shows that a
  // scaler is there, and not what it does. Ops would tell more.
  bool unseen = false;
  // Overflows follow one another at the floor, or most updates overflow there:
  // the scaler has no answer left, and hardly an update goes through. A scale
  // that is not seen has come there by as many overflows in a row as none
  // survives.
  bool stuck = false;
  // Ordinary overflows cannot have brought the scale where it is: they go on at
  // the floor, or it is so low that no gradient overflows there.
  bool beyond_probing = false;
  // Overflows are those of batches that stand out, and nothing more.
  bool of_outliers = false;

  // --- The loss.
  // The finding of a loss that grew, record by record, before it was not
  // finite, or is on its way there; null: it did not.
  const Finding* grown = nullptr;
  // The incident of a loss that left its way goes on, though that is back.
  bool of_earlier_loss = false;
  // Rules on the scale that a jump of the loss brought; they may outlast it.
  RuleSet with_the_loss;
  // The loss or the gradient norm left its level for a warning, now or in the
  // incident before; absent: neither did.
  std::optional<RanAway> ran_away;
  RuleSet after_the_loss;  // rules on what came of that
  // Of loss_nonfinite: losses are not finite one after another; null: no.
  const Finding* lasting_nan = nullptr;

  // That the run, or the program of a rank, did not end in order; null: no.
  const Finding* broken_off = nullptr;

  // --- NaN and infinities.
  std::optional<BackwardNan> backward;
  std::optional<ForwardNan> forward;
  PaddingFacts padding;

  bool IsHarmless(const OpEvidence& op) const {
    return harmless_[static_cast<size_t>(&op - evidence.ops.data())];
  }
  bool IsBadAtEveryScale(const OpEvidence& op) const;
  // Returns the one of `rules` that the first of the worst findings of the
  // scale has; kNone where there is no finding of them.
  RuleId HeadOfScale(const RuleSet& rules) const;

 private:
  void FindLoss();
  void FindScale();

  std::vector<bool> harmless_;  // by op of the evidence
};

}  // namespace nanwatch

#endif  // NANWATCH_DIAGNOSE_FACTS_H_
