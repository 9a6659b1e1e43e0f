// The series of one run, from its view.

#ifndef NANWATCH_METRICS_RUN_FAMILIES_H_
#define NANWATCH_METRICS_RUN_FAMILIES_H_

#include "metrics/family_set.h"
#include "metrics/options.h"
#include "model/snapshot.h"

namespace nanwatch {

// Everything that stays the same however many ranks and ops the run has: at
// most 80 series. Condition families are there from the start, at 0.
void AddRun(const RunView& run, FamilySet* set);

// Series a rank up to limits::kRankSeries ranks; above that the spread over all
// ranks and the series of the kWorstRanks that are worst.
inline constexpr size_t kWorstRanks = 8;
void AddRanks(const RunView& run, Cardinality cardinality, FamilySet* set);

// The worst ops by name, the rest as one sum.
inline constexpr size_t kRecommendedOps = 10;
void AddOps(const RunView& run, Cardinality cardinality, FamilySet* set);

}  // namespace nanwatch

#endif  // NANWATCH_METRICS_RUN_FAMILIES_H_
