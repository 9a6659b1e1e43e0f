#include "metrics/exposition.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "metrics/run_families.h"

namespace nanwatch {
namespace {

using RunViews = std::vector<const RunView*>;

RunViews NewestAttempts(const RunTable& table) {
  RunViews runs;
  std::unordered_map<std::string_view, size_t> place;
  place.reserve(table.size());
  table.ForEach([&](const RunView& run) {
    const auto [it, is_new] = place.try_emplace(run.key.run_id, runs.size());
    if (is_new) {
      runs.push_back(&run);
    } else if (run.key.attempt > runs[it->second]->key.attempt) {
      runs[it->second] = &run;
    }
  });
  // What is cut off at the limit comes last.
  std::stable_sort(runs.begin(), runs.end(),
                   [](const RunView* a, const RunView* b) {
                     return a->severity > b->severity;
                   });
  return runs;
}

const MetricSpec& Find(std::string_view name) {
  const auto it =
      std::find_if(kMetricTable.begin(), kMetricTable.end(),
                   [&](const MetricSpec& spec) { return spec.name == name; });
  CHECK(it != kMetricTable.end());
  return *it;
}

void AddSelf(std::vector<SelfSample> samples, FamilySet* set) {
  for (SelfSample& sample : samples) {
    std::vector<prometheus::ClientMetric::Label> labels;
    labels.reserve(sample.labels.size());
    for (auto& [name, value] : sample.labels) {
      labels.push_back({std::move(name), std::move(value)});
    }
    set->Add(Find(sample.name).id, std::move(labels), sample.value);
  }
}

}  // namespace

Exposition::Exposition(MetricsOptions options, SnapshotSource snapshot,
                       SelfSource self)
    : options_(options),
      snapshot_(std::move(snapshot)),
      self_(std::move(self)) {}

MetricSet Exposition::Gather() const {
  constexpr size_t kOwnSeries = 3;  // added at the end, always
  const std::shared_ptr<const Snapshot> snapshot = snapshot_();
  FamilySet set;
  AddSelf(self_(), &set);
  size_t left_out = 0;
  for (const RunView* run : NewestAttempts(snapshot->runs)) {
    const FamilySet::Mark mark = set.mark();
    const size_t before = set.series();
    AddRun(*run, &set);
    AddRanks(*run, options_.cardinality, &set);
    AddOps(*run, options_.cardinality, &set);
    if (set.series() + kOwnSeries <= options_.series_max) continue;
    left_out += set.series() - before;
    set.ResetTo(mark);
  }
  set.Add(Metric::kSeries, {}, static_cast<double>(set.series() + kOwnSeries));
  set.Add(Metric::kSeriesLimit, {}, static_cast<double>(options_.series_max));
  set.Add(Metric::kSeriesLeftOut, {}, static_cast<double>(left_out));
  return set.Take();
}

std::vector<prometheus::MetricFamily> Exposition::Collect() const {
  return Gather().families;
}

}  // namespace nanwatch
