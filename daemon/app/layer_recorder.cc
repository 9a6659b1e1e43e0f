#include "app/layer_recorder.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "scaler/log2.h"

namespace nanwatch {

void LayerRecorder::Take(const Event& event) {
  if (const auto* opened = std::get_if<RunOpened>(&event.body)) {
    runs_[event.run].description = opened->description;
  } else if (const auto* names = std::get_if<OpNamesAdded>(&event.body)) {
    std::vector<OpName>& known = names_[event.session];
    const OpNames& added = names->names;
    known.resize(
        std::max<size_t>(known.size(), added.first_index + added.ops.size()));
    std::copy(added.ops.begin(), added.ops.end(),
              known.begin() + added.first_index);
  } else if (const auto* ops = std::get_if<OpBatch>(&event.body)) {
    TakeOps(event, ops->columns);
  } else if (const auto* steps = std::get_if<StepBatch>(&event.body)) {
    TakeSteps(event, steps->columns);
  }
}

void LayerRecorder::TakeOps(const Event& event, const OpColumns& columns) {
  Rank& rank = runs_[event.run].ranks[event.rank];
  const std::vector<OpName>& names = names_[event.session];
  SparseRows sparse(columns);
  for (size_t row = 0; row < columns.rows(); ++row) {
    const int64_t step = columns.GroupOf(row).step;
    if (step != rank.ops_step) rank.trends.NextStep(rank.ops_step = step);
    const bool gradient = IsOfGradient(columns.slot[row]);
    if (!gradient || columns.op[row] >= names.size()) continue;
    const OpName& op = names[columns.op[row]];
    OpTrend trend;
    if (op.dtype == Dtype::kFp8E4M3 || op.dtype == Dtype::kFp8E5M2) {
      rank.trends.AddFp8(columns, row, op.dtype, &sparse, &trend);
    } else {
      rank.trends.AddGradient(columns, row, op.order, op.dtype == Dtype::kFp16,
                              /*seen=*/false, &sparse);
    }
  }
}

void LayerRecorder::TakeSteps(const Event& event, const StepColumns& columns) {
  Run& run = runs_[event.run];
  Rank& rank = run.ranks[event.rank];
  LayerWatch& watch = rank.trends.layers();
  std::vector<OpName>& names = names_[event.session];
  const OpNameOf name = [&](uint32_t op) -> std::string_view {
    return op < names.size() ? names[op].name : std::string_view();
  };
  StepReader reader(columns);
  StepRecord record;
  while (reader.Next(&record)) {
    rank.tracker.OnStep(record);
    watch.TakeScales(record.layer_scales);
    if (!watch.any()) continue;
    std::optional<double> scale;
    if (const auto known = rank.tracker.scale()) scale = ExactLog2(*known);
    if (!scale && run.description.scaler.kind == ScalingKind::kNone) scale = 0;
    RecordedLayers update{.step = record.step, .layers = {}};
    if (!rank.tracker.overflowed()) {
      for (const LayerWatch::Placed& each :
           watch.At(record.step, scale, name)) {
        if (each.bad || each.fit.sight == Sight::kNone) continue;
        const auto [layer, fresh] =
            run.layers.try_emplace(std::string(name(each.op)),
                                   static_cast<uint32_t>(run.layers.size()));
        update.layers.push_back({.layer = layer->second,
                                 .scale = each.scale,
                                 .low = each.scale + each.fit.low,
                                 .high = each.scale + each.fit.high,
                                 .all_lost = each.fit.sight == Sight::kLost});
      }
    }
    watch.Take(record.step, scale, true, name);
    if (!update.layers.empty()) rank.updates.push_back(std::move(update));
  }
}

std::vector<LayerRecorder::Recorded> LayerRecorder::Finish() {
  std::vector<Recorded> all;
  for (auto& [key, run] : runs_) {
    for (auto& [number, rank] : run.ranks) {
      if (rank.updates.empty()) continue;
      std::set<uint32_t> layers;
      for (const RecordedLayers& update : rank.updates) {
        for (const RecordedLayer& layer : update.layers) {
          layers.insert(layer.layer);
        }
      }
      all.push_back({key, std::move(rank.updates), layers.size()});
      break;
    }
  }
  return all;
}

}  // namespace nanwatch
