#include <string>
#include <unordered_set>

#include "metrics/run_families.h"
#include "model/limits.h"

namespace nanwatch {

void AddOps(const RunView& run, Cardinality cardinality, FamilySet* set) {
  if (cardinality == Cardinality::kLow || run.top_ops.empty()) return;
  const std::string_view id = run.key.run_id;
  const size_t named =
      cardinality == Cardinality::kFull ? limits::kTopOps : kRecommendedOps;
  // One name may stand in the view once a slot; the label is the name only, and
  // the worst one comes first.
  std::unordered_set<std::string_view> seen;
  double other = 0;
  for (const OpView& op : run.top_ops) {
    if (seen.size() >= named || !seen.insert(op.name).second) {
      other += static_cast<double>(op.bad_statuses);
      continue;
    }
    set->Add(Metric::kOpBadStatuses, {{"run_id", id}, {"op", op.name}},
             static_cast<double>(op.bad_statuses));
    if (cardinality != Cardinality::kFull) continue;
    set->Add(Metric::kOpBadElements, {{"run_id", id}, {"op", op.name}},
             static_cast<double>(op.bad_elements));
    set->Add(Metric::kOpLastBadStep, {{"run_id", id}, {"op", op.name}},
             static_cast<double>(op.last_bad_step));
  }
  set->Add(Metric::kOpOther, {{"run_id", id}}, other);
}

}  // namespace nanwatch
