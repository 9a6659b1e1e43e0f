// The fields of what a snapshot shows (model/field.h), for those who write it
// for people: the query service and JSON.

#ifndef NANWATCH_MODEL_VIEW_FIELDS_H_
#define NANWATCH_MODEL_VIEW_FIELDS_H_

#include "model/field.h"
#include "model/health.h"
#include "model/snapshot.h"

namespace nanwatch {

template <Showing A>
void Fields(A& a, const StepTotals& t) {
  a.Field("steps", t.steps);
  a.Field("overflow_unknown", t.overflow_unknown);
  a.Field("skipped_unknown", t.fate_unknown);
  a.Field("op_statuses", t.op_statuses);
  a.Field("dropped_steps", t.dropped_steps);
  a.Field("dropped_ops", t.dropped_ops);
  a.Field("overflows", t.overflows,
          Where(Collected(t.steps, t.overflow_unknown)));
  a.Field("skipped", t.skipped, Where(Collected(t.steps, t.fate_unknown)));
}

template <Showing A>
void Fields(A& a, const RankView& r) {
  a.Field("rank", r.description.rank);
  a.Field("local_rank", r.description.local_rank);
  a.Field("host", r.description.host);
  a.Field("device", r.description.device);
  a.Field("device_id", r.description.device_id);
  a.Field("pod", r.description.pod, Where(r.description.pod.known()));
  a.Field("state", r.state);
  a.Field("severity", r.severity);
  a.Field("last_step", r.last_step);
  a.Field("last_record", r.last_record);
  a.Field("clock_skew", r.clock_skew, Key("clock_skew_seconds"));
}

template <Showing A>
void Fields(A& a, const OpView& op) {
  a.Field("name", op.name);
  a.Field("type", op.type);
  a.Field("slot", op.slot);
  a.Field("rank", op.rank);
  a.Field("bad_statuses", op.bad_statuses);
  a.Field("bad_elements", op.bad_elements);
  a.Field("first_bad_step", op.first_bad_step);
  a.Field("last_bad_step", op.last_bad_step);
  a.Field("padding", op.padding, Key("padding_elements"));
  a.Field("abs_max", op.abs_max, Where(op.abs_max.has_value()));
}

template <Showing A>
void Fields(A& a, const LayerScalesView& l) {
  a.Field("layers", l.layers, Key("count"));
  a.Field("lowest", l.lowest);
  a.Field("lowest_op", l.lowest_op);
  a.Field("lowest_rank", l.lowest_rank);
  a.Field("highest", l.highest);
  a.Field("highest_op", l.highest_op);
  a.Field("highest_rank", l.highest_rank);
}

template <Showing A>
void Fields(A& a, const ScalerView& s) {
  a.Field("name", s.name);
  a.Field("recognised", s.recognised);
  a.Field("floor", s.floor);
  a.Field("attempts_to_floor", s.updates_to_floor,
          {.also = "updates_to_floor"});
  a.Field("impossible_transitions", s.impossible_transitions);
  a.Field("layers", s.layers, Where(s.layers.has_value()));
}

template <Showing A>
void Fields(A& a, const BenchmarkView& b) {
  a.Field("reference", b.reference);
  a.Field("points", b.points);
  a.Field("not_finite", b.not_finite);
  a.Field("first_step", b.first_step);
  a.Field("last_step", b.last_step);
  a.Field("pairs", b.pairs);
  a.Field("pair_step", b.pair_step, Where(b.pairs > 0));
  a.Field("loss", b.loss, Where(b.loss.has_value()));
  a.Field("benchmark_loss", b.benchmark_loss,
          Where(b.benchmark_loss.has_value()));
  a.Field("same_batches", b.same_batches, Where(b.same_batches.has_value()));
}

// What a list of runs says of each.
template <Showing A>
void Fields(A& a, const RunView& r) {
  const Health health = HealthOf(r);
  a.Field("run_id", r.key.run_id);
  a.Field("attempt", r.key.attempt);
  a.Field("job", r.description.job);
  a.Field("owner", r.description.owner, Where(!r.description.owner.empty()));
  a.Field("framework", r.description.framework, kNotShown);
  a.Field("precision", r.description.precision, kNotShown);
  a.Field("overflow_mode", r.description.overflow_mode, kNotShown);
  a.Field("state", r.state);
  a.Field("severity", r.severity);
  a.Field("worst", WorstEver(r));
  a.Field("health", health.words);
  a.Field("health_severity", health.severity);
  a.Field("condition", r.diagnosis.condition);
  a.Field("headline", r.diagnosis.headline);
  a.Field("headline_lead", r.diagnosis.headline_lead);
  a.Field("headline_cause", r.diagnosis.headline_cause);
  a.Field("opened", r.opened);
  a.Field("last_record", r.last_record);
  a.Field("ended", r.ended);
  a.Field("judged_to_end", JudgedToEnd(r));
  a.Field("end_reason", r.end_reason);
  a.Field("ended_by",
          r.rank_end ? WordsOf(*r.rank_end, r.description.world_size) : "",
          Where(r.rank_end.has_value()));
  a.Field("last_step", r.last_step);
  a.Field("judged_since", r.judged_since, Key("judged_since_step"));
  a.Field("world_size", r.description.world_size);
  a.Field("ranks_open", r.ranks_open);
  a.Field("ranks_lost", r.ranks_lost);
  a.Field("attempts", r.updates,
          {.key = "optimizer_attempts", .also = "update_attempts"});
  a.Field("fate_unknown", r.fate_unknown, Key("optimizer_updates_unknown"));
  a.Field("applied", r.applied,
          {.key = "optimizer_updates",
           .said = Collected(r.updates, r.fate_unknown)});
}

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_VIEW_FIELDS_H_
