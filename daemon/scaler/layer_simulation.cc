#include "scaler/layer_simulation.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace nanwatch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kAdaLossBound = 10;  // log2 of accum_upper_bound, core.py
constexpr size_t kHistory = 16;       // updates; ours, TE's default is 1024
// A scale is beyond what a layer bears with that bit used up.
constexpr double kSpare = 1;

// Returns a layer's scale in log2 at an update, before that is known.
using Policy = std::function<double(const RecordedLayer&)>;
// Hears what the layer's gradients were.
using Learn = std::function<void(const RecordedLayer&)>;

LayerOutcome Run(std::string name, std::span<const RecordedLayers> updates,
                 const Policy& scale_of, const Learn& learn) {
  LayerOutcome outcome;
  outcome.name = std::move(name);
  outcome.lowest = kInfinity;
  outcome.highest = -kInfinity;
  for (const RecordedLayers& update : updates) {
    bool overflow = false;
    for (const RecordedLayer& layer : update.layers) {
      const double scale = scale_of(layer);
      outcome.lowest = std::min(outcome.lowest, scale);
      outcome.highest = std::max(outcome.highest, scale);
      if (!std::isnan(layer.low)) {
        ++outcome.attempts;
        outcome.lost += scale < layer.low;
      }
      overflow |= scale > layer.high + kSpare;
    }
    for (const RecordedLayer& layer : update.layers) learn(layer);
    ++outcome.updates;
    outcome.overflows += overflow;
  }
  return outcome;
}

// Of all updates: what 9 of 10 need and bear.
std::map<uint32_t, ScaleInterval> IntervalsOf(
    std::span<const RecordedLayers> updates) {
  std::map<uint32_t, std::pair<std::vector<float>, std::vector<float>>> all;
  for (const RecordedLayers& update : updates) {
    for (const RecordedLayer& layer : update.layers) {
      if (std::isnan(layer.low) || std::isnan(layer.high)) continue;
      all[layer.layer].first.push_back(layer.low);
      all[layer.layer].second.push_back(layer.high);
    }
  }
  std::map<uint32_t, ScaleInterval> intervals;
  for (auto& [layer, bounds] : all) {
    auto& [lows, highs] = bounds;
    std::sort(lows.begin(), lows.end());
    std::sort(highs.begin(), highs.end());
    intervals[layer] = {.low = lows[lows.size() * 9 / 10],
                        .high = highs[highs.size() / 10]};
  }
  return intervals;
}

LayerOutcome Fixed(std::span<const RecordedLayers> updates,
                   std::string_view name, bool one) {
  const std::map<uint32_t, ScaleInterval> intervals = IntervalsOf(updates);
  std::vector<ScaleInterval> list;
  std::vector<uint32_t> layers;
  for (const auto& [layer, interval] : intervals) {
    layers.push_back(layer);
    list.push_back(interval);
  }
  std::map<uint32_t, double> scales;
  double common = 0;
  if (one) {
    // As much as all bear.
    common = kInfinity;
    for (const ScaleInterval& each : list) common = std::min(common, each.high);
    common = list.empty() ? 0 : std::floor(common);
  }
  const ScaleGroups groups = GroupScales(list);
  for (const ScaleGroup& group : groups.groups) {
    for (const size_t i : group.members) scales[layers[i]] = group.log2_scale;
  }
  for (const size_t i : groups.too_wide) scales[layers[i]] = list[i].high;
  std::string title(name);
  if (!one) {
    title = std::to_string(groups.groups.size()) +
            (groups.groups.size() == 1 ? " fixed scale" : " fixed scales");
  }
  return Run(
      std::move(title), updates,
      [&, one](const RecordedLayer& layer) {
        const auto found = scales.find(layer.layer);
        return one || found == scales.end() ? common : found->second;
      },
      [](const RecordedLayer&) {});
}

LayerOutcome Adaptive(std::span<const RecordedLayers> updates, std::string name,
                      double bound) {
  std::map<uint32_t, double> scales;
  return Run(
      std::move(name), updates,
      [&](const RecordedLayer& layer) { return scales[layer.layer]; },
      [&, bound](const RecordedLayer& layer) {
        if (std::isnan(layer.low)) return;
        const double most = std::isnan(layer.high) ? bound : layer.high;
        scales[layer.layer] = std::floor(
            std::min({std::max(0.0, double{layer.low} + 1), bound, most}));
      });
}

LayerOutcome Delayed(std::span<const RecordedLayers> updates) {
  std::map<uint32_t, std::deque<float>> history;
  return Run(
      "delayed scaling, a layer", updates,
      [&](const RecordedLayer& layer) {
        const std::deque<float>& past = history[layer.layer];
        return past.empty()
                   ? 0.0
                   : std::floor(*std::min_element(past.begin(), past.end()));
      },
      [&](const RecordedLayer& layer) {
        if (std::isnan(layer.high) || layer.all_lost) return;
        std::deque<float>& past = history[layer.layer];
        past.push_back(layer.high);
        if (past.size() > kHistory) past.pop_front();
      });
}

}  // namespace

std::vector<LayerOutcome> SimulateLayers(
    std::span<const RecordedLayers> updates) {
  std::vector<LayerOutcome> all;
  all.push_back(Run(
      "recorded", updates,
      [](const RecordedLayer& layer) { return double{layer.scale}; },
      [](const RecordedLayer&) {}));
  all.push_back(Fixed(updates, "the highest for all", true));
  all.push_back(Fixed(updates, "", false));
  all.push_back(Adaptive(updates, "AdaLoss, bound 1024", kAdaLossBound));
  all.push_back(Adaptive(updates, "AdaLoss, no bound", kInfinity));
  all.push_back(Delayed(updates));
  return all;
}

}  // namespace nanwatch
