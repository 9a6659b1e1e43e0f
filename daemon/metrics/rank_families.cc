#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "metrics/run_families.h"
#include "model/limits.h"

namespace nanwatch {
namespace {

using RankViews = std::vector<const RankView*>;

std::optional<double> Finite(const RankView& rank, StepField field) {
  return rank.latest.last_finite[static_cast<int>(field)];
}

// The series that every level above low has, and their spread.
struct RankSeries {
  Metric metric;
  Metric spread;
  std::optional<double> (*value)(const RankView&);
};
constexpr RankSeries kMain[] = {
    {Metric::kRankLastStep, Metric::kRankLastStepSpread,
     [](const RankView& r) -> std::optional<double> {
       if (r.totals.steps == 0) return std::nullopt;
       return static_cast<double>(r.last_step);
     }},
    {Metric::kRankLoss, Metric::kRankLossSpread,
     [](const RankView& r) { return Finite(r, StepField::kLoss); }},
    {Metric::kRankLossScale, Metric::kRankLossScaleSpread,
     [](const RankView& r) { return Finite(r, StepField::kLossScale); }},
    {Metric::kRankGradNorm, Metric::kRankGradNormSpread,
     [](const RankView& r) { return Finite(r, StepField::kGradNorm); }},
    {Metric::kRankOverflows, Metric::kRankOverflowsSpread,
     [](const RankView& r) -> std::optional<double> {
       if (!Collected(r.totals.steps, r.totals.overflow_unknown)) {
         return std::nullopt;
       }
       return static_cast<double>(r.totals.overflows);
     }},
};

void AddRank(std::string_view id, const RankView& rank, Cardinality cardinality,
             FamilySet* set) {
  const std::string number = std::to_string(rank.description.rank);
  const std::initializer_list<LabelRef> labels = {{"run_id", id},
                                                  {"rank", number}};
  set->Add(Metric::kRankSeverity, labels, static_cast<double>(rank.severity));
  for (const RankSeries& series : kMain) {
    if (const auto value = series.value(rank)) {
      set->Add(series.metric, labels, *value);
    }
  }
  if (cardinality != Cardinality::kFull) return;
  set->Add(Metric::kRankInfo,
           {{"run_id", id},
            {"rank", number},
            {"host", rank.description.host},
            {"device", rank.description.device},
            {"device_id", rank.description.device_id},
            {"pod_namespace", rank.description.pod.name_space},
            {"pod_name", rank.description.pod.name},
            {"node_name", rank.description.pod.node}},
           1);
  if (Collected(rank.totals.steps, rank.totals.fate_unknown)) {
    set->Add(Metric::kRankSkipped, labels,
             static_cast<double>(rank.totals.skipped));
  }
  set->Add(Metric::kRankClockSkew, labels, ToSeconds(rank.clock_skew));
  if (rank.totals.steps == 0) return;
  set->Add(Metric::kRankLastRecord, labels,
           ToSeconds(rank.last_record.time_since_epoch()));
}

// Worst first: severity, then overflows, then how far behind.
void KeepWorst(RankViews* ranks) {
  const auto order = [](const RankView* r) {
    return std::tuple(-static_cast<int>(r->severity),
                      -static_cast<double>(r->totals.overflows), r->last_step,
                      r->description.rank);
  };
  const size_t keep = std::min(kWorstRanks, ranks->size());
  std::partial_sort(ranks->begin(), ranks->begin() + keep, ranks->end(),
                    [&](const RankView* a, const RankView* b) {
                      return order(a) < order(b);
                    });
  ranks->resize(keep);
}

void AddSpread(std::string_view id, const RankViews& ranks, FamilySet* set) {
  std::vector<double> values;
  for (const RankSeries& series : kMain) {
    values.clear();
    for (const RankView* rank : ranks) {
      if (const auto value = series.value(*rank)) values.push_back(*value);
    }
    if (values.empty()) continue;
    const auto middle = values.begin() + (values.size() - 1) / 2;
    std::nth_element(values.begin(), middle, values.end());
    set->Add(series.spread, {{"run_id", id}, {"stat", "min"}},
             *std::min_element(values.begin(), middle + 1));
    set->Add(series.spread, {{"run_id", id}, {"stat", "median"}}, *middle);
    set->Add(series.spread, {{"run_id", id}, {"stat", "max"}},
             *std::max_element(middle, values.end()));
  }
}

}  // namespace

void AddRanks(const RunView& run, Cardinality cardinality, FamilySet* set) {
  if (cardinality == Cardinality::kLow) return;
  RankViews ranks;
  for (const auto& block : run.ranks) {
    if (!block) continue;
    for (const RankView& rank : *block) ranks.push_back(&rank);
  }
  if (ranks.size() > limits::kRankSeries) {
    AddSpread(run.key.run_id, ranks, set);
    KeepWorst(&ranks);
  }
  for (const RankView* rank : ranks) {
    AddRank(run.key.run_id, *rank, cardinality, set);
  }
}

}  // namespace nanwatch
