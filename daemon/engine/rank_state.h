// RankState: what the engine remembers of one rank in one run attempt.

#ifndef NANWATCH_ENGINE_RANK_STATE_H_
#define NANWATCH_ENGINE_RANK_STATE_H_

#include <cstdint>
#include <vector>

#include "detect/rules.h"
#include "detect/step_series.h"
#include "engine/op_watch.h"
#include "engine/outlier_watch.h"
#include "engine/place.h"
#include "engine/rival_losses.h"
#include "engine/sample_log.h"
#include "engine/state_fields.h"
#include "engine/step_tally.h"
#include "model/event.h"
#include "model/snapshot.h"
#include "scaler/tracker.h"

namespace nanwatch {

// One optimizer of a rank. No heap: a rank's tracks lie side by side.
struct OptimizerTrack {
  uint32_t name = 0;   // index into the run's optimizer names
  uint32_t group = 0;  // index into the run's agreement groups
  Place newest;
  ScalerTracker scaler;
  StepTally tally;
  StepSeries series;
  StepRules rules;
  OutlierWatch outliers;
};
template <typename A>
void Fields(A& archive, OptimizerTrack& t) {
  archive(t.name, t.group, t.newest, t.scaler, t.tally, t.series, t.rules,
          t.outliers);
}

struct RankState {
  RankDescription description;
  uint32_t index = 0;  // among the run's ranks, by rank number; not state
  // 0: the session went on to another attempt.
  SessionId session = 0;
  Sequence last_sequence = 0;  // everything of the session up to here is held
  LifeState life = LifeState::kOpen;
  int64_t last_step = INT64_MIN;
  Time last_record{};
  Time last_op_time{};  // arrival of the newest op status
  int64_t last_op_step = INT64_MIN;
  // Judges op statuses without step records: none came within a second.
  bool op_only = false;
  int64_t clock_skew_us = 0;
  int64_t op_updates = 0;  // steps judged from op statuses alone
  // Updates that overflowed, or whose loss was not finite, and at which no op
  // was looked at: clients look at some steps only.
  int64_t unlooked = 0;
  LatestValues latest;
  LayerExtremes layers;  // of the newest record that has any
  StepTotals totals;
  StepTally all_tracks;  // of all its optimizers, once there are several
  RivalLosses rivals;
  Pace pace;
  std::vector<OptimizerTrack> tracks;
  SampleLog samples;
  OpWatch ops;

  // Counts updates that say of an op whether it was bad: the ops were looked
  // at, or its loss and its gradients are finite.
  int64_t looks() const {
    return static_cast<int64_t>(tally().updates()) + op_updates - unlooked;
  }
  LevelKind LevelOf(const OptimizerTrack& track) const {
    return track.series.follows_rewards() ? LevelKind::kOfRewards
           : rivals.Seen()                ? LevelKind::kOfRivals
           : track.series.is_sum()        ? LevelKind::kOfSum
                                          : LevelKind::kKept;
  }
  // Returns what all its optimizers' records amount to. Most ranks have one:
  // its tally is then kept once.
  const StepTally& tally() const {
    return tracks.size() == 1 ? tracks.front().tally : all_tracks;
  }
};
template <typename A>
void Fields(A& archive, RankState& r) {
  archive(r.description, r.session, r.last_sequence, r.life, r.last_step,
          r.last_record, r.last_op_time, r.last_op_step, r.op_only,
          r.clock_skew_us, r.op_updates, r.unlooked, r.latest, r.layers,
          r.totals, r.all_tracks, r.rivals, r.pace, r.tracks, r.samples, r.ops);
}

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_RANK_STATE_H_
