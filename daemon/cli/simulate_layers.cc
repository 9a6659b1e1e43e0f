// simulate --layerwise: what scales a layer would have done.

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/layer_recorder.h"
#include "cli/recording.h"
#include "cli/simulate.h"
#include "json/value.h"

namespace nanwatch {
namespace {

using RecordedScales = LayerRecorder::Recorded;
using Json = nlohmann::ordered_json;

double ShareOf(uint64_t part, uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of);
}

std::string LayersText(const RecordedScales& run,
                       const std::vector<LayerOutcome>& all,
                       const Style& style) {
  std::string out = fmt::format(
      "{} attempt {}: {} updates with gradients of {} layers, steps {} to "
      "{}\n\n",
      style.Bold(Clean(run.key.run_id)), run.key.attempt,
      Grouped(run.updates.size()), run.layers, run.updates.front().step,
      run.updates.back().step);
  out += style.Dim(fmt::format("  {:<26}{:>12}{:>12}{:>20}", "scales", "lose",
                               "overflow", "scales from, to")) +
         '\n';
  for (const LayerOutcome& one : all) {
    out +=
        fmt::format("  {:<26}{:>10.1f} %{:>10.1f} %{:>20}\n", one.name,
                    100 * ShareOf(one.lost, one.attempts),
                    100 * ShareOf(one.overflows, one.updates),
                    fmt::format("2^{:.0f}, 2^{:.0f}", one.lowest, one.highest));
  }
  out += '\n' +
         Wrapped(
             "lose: of the layers' gradients, those that lose more than 1 in "
             "1000 elements; overflow: of the updates. The gradients are those "
             "recorded: that other scales make other weights is left out. What "
             "is wholly or partly lost at present is estimated.",
             0, style.columns);
  return out;
}

std::string AsJson(const RecordedScales& run,
                   const std::vector<LayerOutcome>& all) {
  Json json;
  json["run"] = run.key.run_id;
  json["attempt"] = run.key.attempt;
  json["updates"] = run.updates.size();
  json["layers"] = run.layers;
  Json& list = json["scales"] = Json::array();
  for (const LayerOutcome& one : all) {
    list.push_back({{"name", one.name},
                    {"layer_attempts", one.attempts},
                    {"lost", one.lost},
                    {"updates", one.updates},
                    {"overflows", one.overflows},
                    {"log2_lowest", one.lowest},
                    {"log2_highest", one.highest}});
  }
  return Dump(json, 2);
}

}  // namespace

int SimulateRunsLayers(const SimulateOptions& options, const Style& style) {
  LayerRecorder recorder;
  const Status read = ReadForSimulation(
      options, [&](const Event& event) { recorder.Take(event); });
  if (!read.ok()) return Fail(read.error());
  std::vector<RecordedScales> runs = recorder.Finish();
  std::erase_if(runs, [&](const RecordedScales& run) {
    return options.run.attempt && run.key.attempt != *options.run.attempt;
  });
  if (runs.empty()) {
    return Fail(
        "no gradients in fp16 or FP8 were recorded with a known scale: there "
        "is nothing to simulate");
  }
  const RecordedScales& run = runs.back();
  const std::vector<LayerOutcome> all = SimulateLayers(run.updates);
  const std::string text =
      options.json ? AsJson(run, all) : LayersText(run, all, style);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace nanwatch
