#include "app/update_recorder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

namespace nanwatch {
namespace {

bool IsScale(double scale) { return std::isfinite(scale) && scale > 0; }

}  // namespace

void UpdateRecorder::Take(const Event& event) {
  if (const auto* opened = std::get_if<RunOpened>(&event.body)) {
    Run& run = runs_[event.run];
    run.description = opened->description;
    // Of a log's program more may be known by now.
    for (auto& [number, rank] : run.ranks) {
      for (Lane& lane : rank.lanes) {
        lane.tracker.Expect(run.description.framework);
      }
    }
  } else if (const auto* names = std::get_if<OpNamesAdded>(&event.body)) {
    TakeNames(event.session, names->names);
  } else if (const auto* ops = std::get_if<OpBatch>(&event.body)) {
    TakeOps(event, ops->columns);
  } else if (const auto* steps = std::get_if<StepBatch>(&event.body)) {
    TakeSteps(event, steps->columns);
  }
}

void UpdateRecorder::TakeNames(SessionId session, const OpNames& names) {
  std::vector<Op>& known = names_[session];
  known.resize(
      std::max<size_t>(known.size(), names.first_index + names.ops.size()));
  for (size_t i = 0; i < names.ops.size(); ++i) {
    known[names.first_index + i] = {names.ops[i].dtype, names.ops[i].order};
  }
}

void UpdateRecorder::TakeOps(const Event& event, const OpColumns& columns) {
  Rank& rank = runs_[event.run].ranks[event.rank];
  const std::vector<Op>& names = names_[event.session];
  SparseRows sparse(columns);
  for (size_t row = 0; row < columns.rows(); ++row) {
    const int64_t step = columns.GroupOf(row).step;
    if (step != rank.ops_step) rank.trends.NextStep(rank.ops_step = step);
    const bool gradient = IsOfGradient(columns.slot[row]);
    if (!gradient || columns.op[row] >= names.size()) continue;
    const Op& op = names[columns.op[row]];
    rank.trends.AddGradient(columns, row, op.order, op.dtype == Dtype::kFp16,
                            /*seen=*/false, &sparse);
  }
}

UpdateRecorder::Lane& UpdateRecorder::LaneOf(const Run& run, Rank* rank,
                                             const std::string& optimizer) {
  for (Lane& lane : rank->lanes) {
    if (lane.optimizer == optimizer) return lane;
  }
  Lane& lane = rank->lanes.emplace_back();
  lane.optimizer = optimizer;
  lane.tracker.Declare(run.description.scaler);
  lane.tracker.Expect(run.description.framework);
  if (rank->lanes.size() > 1) {
    for (Lane& each : rank->lanes) each.tracker.Share();
  }
  return lane;
}

void UpdateRecorder::TakeSteps(const Event& event, const StepColumns& columns) {
  Run& run = runs_[event.run];
  Rank& rank = run.ranks[event.rank];
  const bool none = run.description.scaler.kind == ScalingKind::kNone;
  StepReader reader(columns);
  StepRecord record;
  while (reader.Next(&record)) {
    const std::string optimizer = record.optimizer < columns.optimizers.size()
                                      ? columns.optimizers[record.optimizer]
                                      : "";
    Lane& lane = LaneOf(run, &rank, optimizer);
    lane.tracker.OnStep(record);
    Row& row = lane.rows.emplace_back();
    row.step = record.step;
    const double scale = record.get(StepField::kLossScale).value_or(0);
    if (IsScale(scale)) {
      row.scale = scale;
    } else if (lane.rows.size() > 1) {
      row.scale = lane.rows[lane.rows.size() - 2].scale;
    } else if (none) {
      row.scale = 1;
    }
    lane.scaled = lane.scaled || row.scale > 0;
    row.overflow = lane.tracker.overflowed();
    const int skip = static_cast<int>(StepFlag::kSkipped);
    row.skipped = (record.flags_present >> skip & 1) != 0
                      ? record.is(StepFlag::kSkipped)
                      : lane.tracker.fate() == Fate::kLost;
    const OpTrends::OfStep ops = rank.trends.At(record.step);
    if (ops.gradients == nullptr) continue;
    const GradientRange& range = ops.gradients->range;
    if (const std::optional<double> bits = range.headroom()) {
      row.headroom = static_cast<float>(*bits);
    }
    if (range.bounded() > 0) row.lowest = static_cast<float>(range.lowest());
  }
}

// The gradients of another rank at the same try of the same step.
void UpdateRecorder::Join(const Lane& other, Lane* lane) {
  const auto known = [](const Row& row) {
    return !std::isnan(row.headroom) || !std::isnan(row.lowest);
  };
  if (std::none_of(other.rows.begin(), other.rows.end(), known)) return;
  std::map<int64_t, std::vector<const Row*>> tries;
  for (const Row& row : other.rows) tries[row.step].push_back(&row);
  std::map<int64_t, size_t> seen;
  for (Row& row : lane->rows) {
    const auto found = tries.find(row.step);
    if (found == tries.end()) continue;
    const size_t nth = seen[row.step]++;
    if (nth >= found->second.size()) continue;
    const Row& theirs = *found->second[nth];
    row.headroom = std::fmin(row.headroom, theirs.headroom);
    row.lowest = std::fmax(row.lowest, theirs.lowest);
  }
}

// Each row with the scale that its update used.
void UpdateRecorder::WriteUpdates(const Lane& lane, RecordedRun* out) {
  const bool after = lane.tracker.order() == ScaleOrder::kAfter;
  // Where a record has the scale after its update: that of the one before.
  double used = 0;
  for (const Row& row : lane.rows) {
    if (row.scale == 0) {
      ++out->without_scale;
      continue;
    }
    RecordedUpdate update;
    update.step = row.step;
    update.scale = row.scale;
    if (after) {
      update.scale = used > 0 ? used : lane.tracker.first_tried();
      used = row.scale;
    }
    update.overflow = row.overflow;
    update.skipped = row.skipped;
    if (!std::isnan(row.headroom)) {
      update.fits_up_to = update.scale * std::exp2(double{row.headroom});
    }
    if (!std::isnan(row.lowest)) {
      update.needs = update.scale * std::exp2(double{row.lowest});
    }
    if (!std::isnan(row.headroom) || !std::isnan(row.lowest)) {
      ++out->with_gradients;
    }
    out->updates.push_back(update);
  }
}

RecordedRun UpdateRecorder::Resolved(const RunKey& key, Run* run) {
  RecordedRun out;
  out.key = key;
  out.description = run->description;
  Rank* lowest = nullptr;
  for (auto& [number, rank] : run->ranks) {
    if (rank.lanes.empty() || lowest != nullptr) continue;
    lowest = &rank;
    out.rank = number;
  }
  if (lowest == nullptr) return out;
  const auto scaled =
      std::find_if(lowest->lanes.begin(), lowest->lanes.end(),
                   [](const Lane& lane) { return lane.scaled; });
  if (scaled == lowest->lanes.end()) {
    out.without_scale = lowest->lanes.front().rows.size();
    return out;
  }
  Lane& lane = *scaled;
  out.optimizer = lane.optimizer;
  out.optimizers = lowest->lanes.size();
  for (const auto& [number, rank] : run->ranks) {
    for (const Lane& other : rank.lanes) {
      if (number != out.rank && other.optimizer == lane.optimizer) {
        Join(other, &lane);
      }
    }
  }
  const ScalerTracker& tracker = lane.tracker;
  out.order_shown = tracker.order() != ScaleOrder::kUnknown;
  out.scaler = tracker.spec();
  out.recognised = tracker.recognised();
  out.parameters = Resolve(out.scaler, run->description.scaler);
  WriteUpdates(lane, &out);
  return out;
}

std::vector<RecordedRun> UpdateRecorder::Finish() {
  std::vector<RecordedRun> out;
  for (auto& [key, run] : runs_) out.push_back(Resolved(key, &run));
  return out;
}

}  // namespace nanwatch
