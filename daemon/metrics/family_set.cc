#include "metrics/family_set.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nanwatch {
namespace {

prometheus::MetricType TypeOf(MetricKind kind) {
  // The text format knows no info; render.cc tells it by its name.
  return kind == MetricKind::kCounter ? prometheus::MetricType::Counter
                                      : prometheus::MetricType::Gauge;
}

}  // namespace

FamilySet::FamilySet() : families_(kMetrics) {
  for (const MetricSpec& spec : kMetricTable) {
    auto& family = families_[static_cast<size_t>(spec.id)];
    family.name = spec.name;
    family.help = spec.help;
    family.type = TypeOf(spec.kind);
  }
}

void FamilySet::Add(Metric metric, std::initializer_list<LabelRef> labels,
                    double value) {
  if (!std::isfinite(value)) return;
  auto& series = families_[static_cast<size_t>(metric)].metric.emplace_back();
  series.label.reserve(labels.size());
  for (const LabelRef& label : labels) {
    auto& made = series.label.emplace_back();
    made.name.assign(label.name);
    made.value.assign(label.value);
  }
  (Spec(metric).kind == MetricKind::kCounter ? series.counter.value
                                             : series.gauge.value) = value;
  ++series_;
}

void FamilySet::Add(Metric metric,
                    std::vector<prometheus::ClientMetric::Label> labels,
                    double value) {
  if (!std::isfinite(value)) return;
  Add(metric, {}, value);
  families_[static_cast<size_t>(metric)].metric.back().label =
      std::move(labels);
}

void FamilySet::AddExemplar(Metric metric, int64_t step, int32_t rank) {
  const auto family = static_cast<size_t>(metric);
  exemplars_.push_back(
      {family, families_[family].metric.size() - 1, step, rank});
}

FamilySet::Mark FamilySet::mark() const {
  Mark mark;
  for (size_t i = 0; i < families_.size(); ++i) {
    mark[i] = families_[i].metric.size();
  }
  mark[kMetrics] = exemplars_.size();
  return mark;
}

void FamilySet::ResetTo(const Mark& mark) {
  for (size_t i = 0; i < families_.size(); ++i) {
    series_ -= families_[i].metric.size() - mark[i];
    families_[i].metric.resize(mark[i]);
  }
  exemplars_.resize(mark[kMetrics]);
}

MetricSet FamilySet::Take() {
  MetricSet set;
  std::array<size_t, kMetrics> place{};
  for (size_t i = 0; i < families_.size(); ++i) {
    if (families_[i].metric.empty()) continue;
    place[i] = set.families.size();
    set.families.push_back(std::move(families_[i]));
  }
  set.exemplars = std::move(exemplars_);
  for (Exemplar& e : set.exemplars) e.family = place[e.family];
  std::sort(set.exemplars.begin(), set.exemplars.end(),
            [](const Exemplar& a, const Exemplar& b) {
              return std::pair(a.family, a.metric) <
                     std::pair(b.family, b.metric);
            });
  *this = FamilySet();
  return set;
}

}  // namespace nanwatch
