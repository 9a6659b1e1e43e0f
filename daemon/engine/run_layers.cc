// Loss scales of layers: those that records tell, and those that would suit.

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/run_state.h"
#include "model/limits.h"
#include "scaler/log2.h"
#include "scaler/scale_groups.h"

namespace nanwatch {
namespace {

// log2 of the scale that is on gradients without one of their own; nullopt: not
// known.
std::optional<double> StepScale(const RunDescription& run,
                                const ScalerTracker& scaler) {
  if (const auto scale = scaler.scale()) return ExactLog2(*scale);
  const bool none = run.scaler.kind == ScalingKind::kNone;
  return none ? std::optional<double>(0) : std::nullopt;
}

// Share of a layer's elements from which on its scale is said not to suit: as
// layer_scale_outside has it.
constexpr double kLostTooMuch = 0.01;

// Takes what another rank says of the same layer, in log2.
void Merge(const LayerRange& from, LayerRangeView* to) {
  if (!to->scale) to->scale = from.own_scale();
  to->fp8 |= from.owner() == ScaleOwner::kTensor;
  if (from.attempts() == 0) return;
  // A rank that sees nothing of it knows less than one that does (an expert
  // without tokens).
  const bool lost = from.sight() == Sight::kLost;
  if (to->attempts > 0 && lost != to->all_lost) {
    if (lost) return;
    *to = {.name = to->name, .scale = to->scale, .fp8 = to->fp8};
  }
  const auto low = from.low();
  const auto high = from.high();
  if (low) to->lowest = std::max(to->lowest.value_or(*low), *low);
  if (high) to->highest = std::min(to->highest.value_or(*high), *high);
  to->lost = std::max(to->lost, from.lost());
  to->attempts = std::max(to->attempts, from.attempts());
  to->cut |= from.sight() == Sight::kCut;
  to->all_lost = lost;
  to->outside |=
      from.above() > 0 || (from.below() > 0 && from.lost() > kLostTooMuch);
}

void AddGroups(LayerRangesView* view) {
  std::vector<ScaleInterval> intervals;
  std::vector<size_t> layers;
  for (size_t i = 0; i < view->layers.size(); ++i) {
    const LayerRangeView& layer = view->layers[i];
    if (!layer.lowest || !layer.highest || layer.fp8) continue;
    layers.push_back(i);
    intervals.push_back({*layer.lowest, *layer.highest, layer.all_lost});
  }
  const ScaleGroups found = GroupScales(intervals);
  for (const ScaleGroup& group : found.groups) {
    for (const size_t member : group.members) {
      view->layers[layers[member]].group =
          static_cast<uint32_t>(view->groups.size());
    }
    view->groups.push_back({ExactExp2(group.log2_scale), ExactExp2(group.low),
                            ExactExp2(group.high), group.bound});
  }
}

// From log2 to scales.
void ToScales(LayerRangeView* layer) {
  for (std::optional<double>* each :
       {&layer->lowest, &layer->highest, &layer->scale}) {
    if (*each) *each = ExactExp2(**each);
  }
}

}  // namespace

StepLayers RunState::TakeLayers(RankState* rank, const StepRecord& record) {
  rank->layers = ExtremesOf(record.layer_scales);
  rank->ops.layers().TakeScales(record.layer_scales);
  const LayerExtremes& of = rank->layers;
  const uint32_t last = std::max(of.lowest_op, of.highest_op);
  // History may begin in the middle of a session.
  if (last >= rank->ops.names()) AddOps(rank, {.first_index = last + 1});
  return {of, NameOf(*rank, of.lowest_op).name};
}

void RunState::PointToGradients(RankState* rank, const StepGradients& gradients,
                                std::unique_ptr<StepGradients>* common,
                                StepContext* context) {
  context->gradients = &gradients;
  if (rank->ops.layers().layerwise()) {
    const OpNameOf name = [&](uint32_t op) -> std::string_view {
      return NameOf(*rank, op).name;
    };
    *common = std::make_unique<StepGradients>(gradients);
    // Without one a scale of 1 is what they are held against.
    const double scale = StepScale(description_, context->scaler).value_or(0);
    rank->ops.layers().ToCommon(context->record.step, scale, name,
                                common->get());
    context->gradients = common->get();
  }
  const GradientRange& range = context->gradients->range;
  context->lowest_name = NameOf(*rank, range.lowest_op()).name;
  context->largest_name = NameOf(*rank, range.largest_op()).name;
  if (gradients.zeroed >= 0) {
    const auto op = static_cast<uint32_t>(gradients.zeroed);
    context->zeroed_name = NameOf(*rank, op).name;
  }
}

void RunState::JudgeLayers(RankState* rank, const StepRecord& record,
                           const ScalerTracker& scaler, bool forward_bad) {
  LayerWatch& layers = rank->ops.layers();
  const OpNameOf name = [&](uint32_t op) -> std::string_view {
    return NameOf(*rank, op).name;
  };
  for (const LayerTold& told : layers.Told(record.step, forward_bad, name)) {
    LayerCourse* const course =
        told.origin ? layers.Follow(told.op, description_.scaler)
                    : layers.CourseOf(told.op);
    if (course == nullptr) continue;
    course->Take(told, description_, record, shared_->tables->layer_moves(),
                 [&](size_t rule) {
                   Subject subject;
                   subject.rank = rank->description.rank;
                   subject.op = name(told.op);
                   subject.slot = Slot::kGradOutput;
                   Changed({FindingKey::List::kLayerMove, subject.rank, told.op,
                            static_cast<uint32_t>(rule)},
                           *course, Blank(subject, record.step, record.time));
                 });
  }
  const bool usable = !scaler.overflowed() && scaler.fate() != Fate::kLost;
  const bool told =
      layers.Take(record.step, StepScale(description_, scaler), usable, name);
  LayerRules* const rules = layers.rules();
  if (rules == nullptr || !(told || !record.layer_scales.empty())) return;
  const LayerContext context{.run = description_,
                             .record = record,
                             .ranges = layers.ranges(),
                             .slopes = layers.slopes(),
                             .name = name};
  rules->On(context, shared_->tables->layers(), [&](size_t i) {
    Subject subject;
    subject.rank = rank->description.rank;
    Changed({FindingKey::List::kLayer, rank->description.rank, 0,
             static_cast<uint32_t>(i)},
            *rules, Blank(subject, record.step, record.time));
  });
}

std::shared_ptr<const LayerRangesView> RunState::ViewOfRanges() const {
  // Layers of one name on several ranks are parts of one layer.
  std::map<std::string_view, size_t> places;
  std::vector<int32_t> orders;
  LayerRangesView all;
  for (const auto& rank : ranks_) {
    for (const LayerRange& range : rank->ops.layers().ranges()) {
      const OpName& op = NameOf(*rank, range.op());
      const auto [at, fresh] = places.try_emplace(op.name, all.layers.size());
      if (fresh && places.size() > limits::kLayersShown) {
        places.erase(at);
        continue;
      }
      if (fresh) {
        all.layers.push_back({.name = op.name});
        orders.push_back(op.order);
      }
      Merge(range, &all.layers[at->second]);
    }
  }
  if (all.layers.empty()) return nullptr;
  // That of a later layer is executed before.
  std::vector<size_t> forward(all.layers.size());
  std::iota(forward.begin(), forward.end(), size_t{0});
  std::stable_sort(forward.begin(), forward.end(),
                   [&](size_t a, size_t b) { return orders[a] > orders[b]; });
  auto view = std::make_shared<LayerRangesView>();
  for (const size_t i : forward) {
    view->layers.push_back(std::move(all.layers[i]));
  }
  AddGroups(view.get());
  for (LayerRangeView& layer : view->layers) ToScales(&layer);
  return view;
}

}  // namespace nanwatch
