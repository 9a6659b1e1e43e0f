// /metrics at so many series: ours, from a snapshot, against a prometheus-cpp
// registry that holds as many gauges under the same names and labels.

#include <benchmark/benchmark.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <memory>
#include <string>

#include "metrics/exposition.h"
#include "metrics/render.h"
#include "model/snapshot.h"

namespace nanwatch {
namespace {

std::shared_ptr<const RunView> Run(int number) {
  auto run = std::make_shared<RunView>();
  run->key = {"run-" + std::to_string(number), 0};
  run->description.framework = "pytorch";
  run->last_step = 1000;
  for (int f = 0; f < kStepFields; ++f) {
    run->latest.last[f] = run->latest.last_finite[f] = 1.5 * f + 0.1;
  }
  run->totals.steps = 1000;
  auto block = std::make_shared<RankBlock>();
  RankView rank;
  rank.latest = run->latest;
  rank.totals = run->totals;
  block->push_back(rank);
  run->ranks.push_back(std::move(block));
  run->ranks_open = 1;
  return run;
}

size_t SeriesOf(const MetricSet& set) {
  size_t series = 0;
  for (const auto& family : set.families) series += family.metric.size();
  return series;
}

Exposition Expose(std::shared_ptr<const Snapshot> snapshot) {
  MetricsOptions options;
  options.series_max = 1000000;
  return Exposition(
      options, [snapshot] { return snapshot; },
      [] { return std::vector<SelfSample>(); });
}

// As many runs as have about `series` series.
std::shared_ptr<const Snapshot> SnapshotOf(int64_t series) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->runs.Set(0, Run(0));
  const size_t each = SeriesOf(Expose(snapshot).Gather());
  for (size_t r = 1; r < series / each; ++r) {
    snapshot->runs.Set(r, Run(static_cast<int>(r)));
  }
  return snapshot;
}

void BM_Render(benchmark::State& state) {
  const auto snapshot = SnapshotOf(state.range(0));
  const Exposition exposition = Expose(snapshot);
  std::string text;
  for (auto _ : state) {
    text.clear();
    Render(MetricsFormat::kText004, exposition.Gather(), &text);
    benchmark::DoNotOptimize(text.data());
  }
  state.counters["series"] = static_cast<double>(SeriesOf(exposition.Gather()));
}
BENCHMARK(BM_Render)->Arg(10000);

void BM_Registry(benchmark::State& state) {
  const MetricSet set = Expose(SnapshotOf(state.range(0))).Gather();
  prometheus::Registry registry;
  for (const auto& family : set.families) {
    auto& ours = prometheus::BuildGauge()
                     .Name(family.name)
                     .Help(family.help)
                     .Register(registry);
    for (const auto& metric : family.metric) {
      std::map<std::string, std::string> labels;
      for (const auto& label : metric.label) labels[label.name] = label.value;
      ours.Add(labels).Set(1.5);
    }
  }
  const prometheus::TextSerializer serializer;
  for (auto _ : state) {
    const std::string text = serializer.Serialize(registry.Collect());
    benchmark::DoNotOptimize(text.data());
  }
  state.counters["series"] = static_cast<double>(SeriesOf(set));
}
BENCHMARK(BM_Registry)->Arg(10000);

}  // namespace
}  // namespace nanwatch
