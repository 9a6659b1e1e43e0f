// How the nouns that only a checkpoint holds whole go into it. Those that
// others read too: model/incident_fields.h.

#ifndef NANWATCH_ENGINE_STATE_FIELDS_H_
#define NANWATCH_ENGINE_STATE_FIELDS_H_

#include "diagnose/evidence.h"
#include "model/incident_fields.h"
#include "model/op.h"
#include "model/past_trouble.h"
#include "model/rank.h"
#include "model/records_ended.h"
#include "model/run.h"
#include "model/state_bytes.h"

namespace nanwatch {

template <typename A>
void Fields(A& archive, RunKey& key) {
  archive(key.run_id, key.attempt);
}

template <typename A>
void Fields(A& archive, PastTrouble& t) {
  archive(t.id, t.attempt, t.last_step, t.rule, t.family, t.op, t.optimizer,
          t.opened_step, t.worst, t.reopened);
}

template <typename A>
void Fields(A& archive, GaveUp& g) {
  archive(g.words, g.over, g.grown);
}

template <typename A>
void Fields(A& archive, ProgramEnd& e) {
  archive(e.kind, e.type, e.message);
}

template <typename A>
void Fields(A& archive, RankEnd& e) {
  archive(e.end, e.rank, e.step);
}

template <typename A>
void Fields(A& archive, RecordsEnded& e) {
  archive(e.how, e.gave_up, e.end);
}

template <typename A>
void Fields(A& archive, ScalerDeclaration& s) {
  archive(s.kind, s.name, s.init_scale, s.growth_factor, s.backoff_factor,
          s.growth_interval, s.hysteresis, s.min_scale, s.max_scale,
          s.overflow_check);
}

template <typename A>
void Fields(A& archive, RunDescription& d) {
  archive(d.job, d.framework, d.precision, d.world_size, d.overflow_mode,
          d.scaler, d.clip_norm, d.seed, d.settings, d.run_id_guessed, d.owner);
}

template <typename A>
void Fields(A& archive, RankDescription& d) {
  archive(d.rank, d.local_rank, d.host, d.device, d.device_id, d.pid, d.place,
          d.replica, d.shapes, d.pod);
}

template <typename A>
void Fields(A& archive, OpName& op) {
  archive(op.name, op.type, op.data_format, op.dtype, op.logical_shape,
          op.storage_shape, op.order);
}

template <typename A>
void Fields(A& archive, OpOutcomes& o) {
  archive(o.fine, o.harmed);
}

template <typename A>
void Fields(A& archive, OpEvidence& e) {
  archive(e.op, e.slot, e.rank, e.first_bad_step, e.last_bad_step,
          e.last_beyond_step, e.first_kept_step, e.kept_nan, e.first_bad_order,
          e.first_inputs_clean, e.first_inputs_bad, e.bad_statuses,
          e.clean_statuses, e.bad_updates, e.updates, e.outcomes,
          e.outcomes_of_worst, e.newest_of_worst, e.fine_steps, e.nan, e.inf,
          e.saturated, e.bad_elements_max, e.padding, e.logical_statuses,
          e.logical_bad, e.flag_only, e.scale_min, e.scale_max);
}

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_STATE_FIELDS_H_
