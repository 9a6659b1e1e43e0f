// What is published of a run. Blocks of ranks that were not touched are shared
// with the view before.

#include <algorithm>

#include "engine/run_state.h"

namespace nanwatch {

RankView RunState::ViewOf(const RankState& rank) const {
  RankView view;
  view.description = rank.description;
  view.state = rank.life;
  view.last_step = rank.totals.steps > 0 ? rank.last_step : 0;
  view.last_record = rank.last_record;
  view.latest = rank.latest;
  view.totals = rank.totals;
  view.clock_skew = Duration(rank.clock_skew_us);
  view.severity = board_.WorstOf(rank.description.rank, diagnosis_);
  return view;
}

std::optional<LayerScalesView> RunState::ViewOfLayers() const {
  // A rank's extremes as if it were a row's scales: NaN sorts there already.
  std::vector<LayerScale> lowest;
  std::vector<LayerScale> highest;
  for (const auto& rank : ranks_) {
    const LayerExtremes& of = rank->layers;
    if (of.layers == 0) continue;
    lowest.push_back({.op = rank->index, .scale = of.lowest});
    highest.push_back({.op = rank->index, .scale = of.highest});
  }
  if (lowest.empty()) return {};
  const RankState& low = *ranks_[ExtremesOf(lowest).lowest_op];
  const RankState& high = *ranks_[ExtremesOf(highest).highest_op];
  return LayerScalesView{
      .layers = low.layers.layers,
      .lowest = low.layers.lowest,
      .lowest_op = NameOf(low, low.layers.lowest_op).name,
      .lowest_rank = low.description.rank,
      .highest = high.layers.highest,
      .highest_op = NameOf(high, high.layers.highest_op).name,
      .highest_rank = high.description.rank};
}

ScalerView RunState::ViewOfScaler() const {
  ScalerView view;
  view.layers = ViewOfLayers();
  const RankState* lowest = Lowest();
  if (lowest == nullptr || lowest->tracks.empty()) return view;
  const ScalerTracker& scaler = lowest->tracks.front().scaler;
  if (const ScalerSpec* spec = scaler.spec()) view.name = spec->name;
  view.recognised = scaler.recognised();
  if (scaler.floor() > 0) view.floor = scaler.floor();
  view.updates_to_floor = scaler.updates_to_floor();
  view.impossible_transitions = scaler.impossible_transitions();
  return view;
}

std::shared_ptr<const RunView> RunState::View() {
  Reindex();
  auto view = std::make_shared<RunView>();
  view->key = key_;
  view->description = description_;
  view->state = closed()      ? LifeState::kClosed
                : lost_since_ ? LifeState::kLost
                              : LifeState::kOpen;
  view->end_reason = end_reason_;
  view->records_ended = records_ended_;
  view->rank_end = rank_end_;
  view->opened = opened_;
  view->last_record = last_record_;
  view->ended = ended_;
  view->last_step = last_step_ == INT64_MIN ? 0 : last_step_;
  view->judged_since = judged_since_.value_or(0);
  view->totals = totals_;
  view->scaler = ViewOfScaler();
  view->severity = book_.worst();
  view->detections = detections_;
  // Findings make their diagnosis when they change; health is always fresh.
  view->diagnosis =
      board_.empty() && !closed() && !gave_up()
          ? Diagnose(description_, Evidence(), {}, shared_->tables->in_force())
          : diagnosis_;
  const auto incidents = book_.incidents();
  if (closed() || records_ended_) {
    std::vector<PastTrouble> before = troubles_before_;
    view->incidents = book_.Whole(&before);
  } else {
    view->incidents.assign(incidents.begin(), incidents.end());
  }
  for (const Incident& incident : incidents) {
    if (incident.state != AlertState::kFiring) continue;
    Severity& worst = view->family[static_cast<int>(incident.alert_family)];
    worst = std::max(worst, incident.severity);
  }
  // Hundreds of layers take longer than all the rest.
  constexpr Duration kRangesAgain = std::chrono::seconds(1);
  const bool old = last_record_ - ranges_of_ >= kRangesAgain;
  if (ranges_ == nullptr || old || closed() || records_ended_) {
    ranges_ = ViewOfRanges();
    ranges_of_ = last_record_;
  }
  view->layer_ranges = ranges_;
  view->bench = bench_.benchmark();
  if (bench_.any()) view->benchmark = bench_.View();
  view->top_ops = ledger_.Top(view->diagnosis.causes);
  view->ranks_open = static_cast<uint64_t>(OpenRanks());
  view->ranks_lost = static_cast<uint64_t>(LostRanks());
  view->stop_requested = stop_requested_;
  WriteLatest(view.get());

  blocks_.resize((ranks_.size() + kRankBlock - 1) / kRankBlock);
  for (size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b] != nullptr) continue;
    auto block = std::make_shared<RankBlock>();
    const size_t end = std::min(ranks_.size(), (b + 1) * kRankBlock);
    for (size_t r = b * kRankBlock; r < end; ++r) {
      block->push_back(ViewOf(*ranks_[r]));
    }
    blocks_[b] = std::move(block);
  }
  view->ranks = blocks_;
  dirty_ = false;
  return view;
}

// Each field from the lowest rank that reports it; what was not finite, of all.
void RunState::WriteLatest(RunView* view) const {
  for (const auto& rank : ranks_) {
    for (int f = 0; f < kStepFields; ++f) {
      view->latest.nonfinite[f] += rank->latest.nonfinite[f];
      if (view->latest.last[f] || !rank->latest.last[f]) continue;
      view->latest.last[f] = rank->latest.last[f];
      view->latest.last_finite[f] = rank->latest.last_finite[f];
    }
  }
  if (const RankState* lowest = Lowest()) {
    view->updates = lowest->tally().updates();
    view->applied = lowest->tally().applied();
    view->fate_unknown = lowest->tally().fate_unknown();
  }
}

}  // namespace nanwatch
