#include "rpc/view_messages.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "model/health.h"
#include "wire/run_codec.h"

namespace nanwatch {
namespace {

// The enums of query.proto are those of model/, in their order; states and
// grades begin at 1 there.
v1::Severity ToWire(Severity severity) {
  return static_cast<v1::Severity>(severity);
}
v1::LifeState ToWire(LifeState state) {
  return static_cast<v1::LifeState>(static_cast<int>(state) + 1);
}
v1::AlertState ToWire(AlertState state) {
  return static_cast<v1::AlertState>(static_cast<int>(state) + 1);
}
v1::EvidenceGrade ToWire(EvidenceGrade grade) {
  return static_cast<v1::EvidenceGrade>(static_cast<int>(grade) + 1);
}

std::string Text(std::string_view text) { return std::string(text); }

template <typename M>
void WriteValues(const LatestValues& from,
                 google::protobuf::RepeatedPtrField<M>* to) {
  for (int f = 0; f < kStepFields; ++f) {
    if (!from.last[f] && !from.last_finite[f] && from.nonfinite[f] == 0) {
      continue;
    }
    M* value = to->Add();
    value->set_field(Text(Name(static_cast<StepField>(f))));
    if (from.last[f]) value->set_last(*from.last[f]);
    if (from.last_finite[f]) value->set_last_finite(*from.last_finite[f]);
    value->set_nonfinite(from.nonfinite[f]);
  }
}

void WriteSubject(const Subject& from, v1::Subject* to) {
  to->set_rank(from.rank);
  to->set_optimizer(from.optimizer);
  to->set_op(from.op);
  if (!from.op.empty()) to->set_slot(Text(Name(from.slot)));
}

void WriteOrigin(const CauseVerdict& from, v1::Subject* to) {
  WriteSubject(from.origin, to);
  to->set_type(from.op_type);
  if (from.op_dtype != Dtype::kUnknown) {
    to->set_dtype(Text(Name(from.op_dtype)));
  }
}

void WriteLayer(const OpRow& from, v1::Layer* to) {
  const OpStatus& status = from.status;
  to->set_name(from.op.name);
  if (from.op.dtype != Dtype::kUnknown) {
    to->set_dtype(Text(Name(from.op.dtype)));
  }
  to->set_step(status.step);
  to->set_elements(status.elements);
  const auto put = [&](OpStat which, auto set) {
    const std::optional<float> value = status.get(which);
    if (value) (to->*set)(*value);
  };
  put(OpStat::kAbsMax, &v1::Layer::set_abs_max);
  put(OpStat::kRms, &v1::Layer::set_rms);
  if (const auto zeros = status.get(OpCount::kZero)) to->set_zeros(*zeros);
  to->set_nonfinite(status.get(OpCount::kNan).value_or(0) +
                    status.get(OpCount::kPosInf).value_or(0) +
                    status.get(OpCount::kNegInf).value_or(0));
}

void WriteFinding(const Finding& from, const RuleName& rule_name,
                  v1::Finding* to) {
  to->set_rule(rule_name(from.rule));
  WriteSubject(from.subject, to->mutable_subject());
  to->set_severity(ToWire(from.severity));
  to->set_opened_step(from.opened_step);
  to->set_last_step(from.last_step);
  to->set_opened_us(ToMicros(from.opened));
  to->set_sentence(from.sentence);
  for (const EvidenceNumber& number : from.numbers) {
    v1::EvidenceNumber* one = to->add_numbers();
    one->set_name(number.name);
    one->set_value(number.value);
    one->set_unit(number.unit);
  }
}

void WriteCause(const CauseVerdict& from, const RuleName& rule_name,
                v1::CauseVerdict* to) {
  to->set_cause(Text(Name(from.cause)));
  to->set_grade(ToWire(from.grade));
  WriteOrigin(from, to->mutable_origin());
  to->set_step(from.step);
  to->set_sentence(from.sentence);
  for (const Evidence& evidence : from.evidence) {
    v1::Evidence* one = to->add_evidence();
    one->set_grade(ToWire(evidence.grade));
    one->set_sentence(evidence.sentence);
  }
  for (const Action& action : from.actions) {
    v1::Action* one = to->add_actions();
    one->set_framework(action.framework);
    one->set_sentence(action.sentence);
  }
  to->set_ceiling(ToWire(from.ceiling));
  for (const int rule : from.rules) to->add_rules(rule_name(rule));
}

void WriteRankView(const RankView& from, v1::RankSummary* to) {
  to->set_rank(from.description.rank);
  to->set_host(from.description.host);
  to->set_device(from.description.device);
  to->set_state(ToWire(from.state));
  to->set_last_step(from.last_step);
  to->set_last_record_us(ToMicros(from.last_record));
  WriteValues(from.latest, to->mutable_values());
  to->set_overflows(from.totals.overflows);
  to->set_skipped(from.totals.skipped);
  to->set_dropped_steps(from.totals.dropped_steps);
  to->set_severity(ToWire(from.severity));
  to->set_clock_skew_us(from.clock_skew.count());
  to->set_steps(from.totals.steps);
  to->set_overflow_unknown(from.totals.overflow_unknown);
}

void WriteOp(const OpView& from, v1::OpSummary* to) {
  to->set_name(from.name);
  to->set_type(from.type);
  to->set_bad_statuses(from.bad_statuses);
  to->set_bad_elements(from.bad_elements);
  to->set_first_bad_step(from.first_bad_step);
  to->set_last_bad_step(from.last_bad_step);
  to->set_rank(from.rank);
  to->set_slot(Text(Name(from.slot)));
  if (from.abs_max) to->set_abs_max(*from.abs_max);
  to->set_padding(from.padding);
}

void WriteScalerView(const ScalerView& from, v1::ScalerSummary* to) {
  to->set_name(from.name);
  to->set_recognised(from.recognised);
  if (from.floor) to->set_floor(*from.floor);
  if (from.attempts_to_floor) {
    to->set_attempts_to_floor(*from.attempts_to_floor);
  }
  to->set_impossible_transitions(from.impossible_transitions);
  if (!from.layers) return;
  v1::LayerScalesSummary* layers = to->mutable_layers();
  layers->set_layers(from.layers->layers);
  layers->set_lowest(from.layers->lowest);
  layers->set_lowest_op(Text(from.layers->lowest_op));
  layers->set_lowest_rank(from.layers->lowest_rank);
  layers->set_highest(from.layers->highest);
  layers->set_highest_op(Text(from.layers->highest_op));
  layers->set_highest_rank(from.layers->highest_rank);
}

// Of a subject's rank, as far as the view knows it.
void AddPlaces(const RunView& run, v1::RunDetail* to) {
  const auto add = [&](v1::Subject* subject) {
    if (subject->rank() < 0) return;
    for (const auto& block : run.ranks) {
      if (!block) continue;
      for (const RankView& rank : *block) {
        if (rank.description.rank != subject->rank()) continue;
        subject->set_host(rank.description.host);
        subject->set_device(rank.description.device);
        return;
      }
    }
  };
  for (v1::CauseVerdict& cause : *to->mutable_causes()) {
    add(cause.mutable_origin());
  }
}

}  // namespace

void WriteIncident(const Incident& from, const RuleName& rule_name,
                   v1::Incident* to) {
  to->set_id(from.id);
  to->set_family(Text(Name(from.family)));
  to->set_rule(rule_name(from.rule));
  to->set_cause(Text(Name(from.cause)));
  WriteSubject(from.subject, to->mutable_subject());
  to->mutable_subject()->set_host(from.host);
  to->mutable_subject()->set_device(from.device);
  to->set_state(ToWire(from.state));
  to->set_severity(ToWire(from.severity));
  to->set_worst(ToWire(from.worst));
  to->set_opened_step(from.opened_step);
  if (from.resolved_step) to->set_resolved_step(*from.resolved_step);
  to->set_opened_us(ToMicros(from.opened));
  to->set_fired_us(ToMicros(from.fired));
  if (from.resolved) to->set_resolved_us(ToMicros(*from.resolved));
  to->set_resolved_reason(from.resolved_reason);
  to->set_summary(from.summary);
  for (const Finding& finding : from.findings) {
    WriteFinding(finding, rule_name, to->add_findings());
  }
  to->set_updated_us(ToMicros(from.updated));
  to->set_reopened(from.reopened);
  to->set_acknowledged_by(from.acknowledged_by);
  to->set_muted(from.muted);
}

void WriteSummary(const RunView& from, v1::RunSummary* to) {
  to->set_run_id(from.key.run_id);
  to->set_attempt(from.key.attempt);
  to->set_job(from.description.job);
  to->set_state(ToWire(from.state));
  to->set_end_reason(from.end_reason);
  to->set_severity(ToWire(from.severity));
  to->set_worst(ToWire(WorstEver(from)));
  Health health = HealthOf(from);
  to->set_health(std::move(health.words));
  to->set_health_severity(ToWire(health.severity));
  to->set_headline(from.diagnosis.headline);
  to->set_opened_us(ToMicros(from.opened));
  to->set_last_record_us(ToMicros(from.last_record));
  if (from.ended) to->set_ended_us(ToMicros(*from.ended));
  if (from.state != LifeState::kOpen) {
    to->set_judged_to_end(!NotJudgedToItsEnd(from));
  }
  to->set_last_step(from.last_step);
  to->set_world_size(from.description.world_size);
  to->set_ranks_open(from.ranks_open);
  to->set_ranks_lost(from.ranks_lost);
  WriteValues(from.latest, to->mutable_values());
  to->set_steps(from.totals.steps);
  to->set_overflows(from.totals.overflows);
  to->set_skipped(from.totals.skipped);
  to->set_attempts(from.attempts);
  to->set_applied(from.applied);
  to->set_fate_unknown(from.fate_unknown);
  to->set_overflow_unknown(from.totals.overflow_unknown);
  to->set_skipped_unknown(from.totals.fate_unknown);
  to->set_op_statuses(from.totals.op_statuses);
  to->set_dropped_steps(from.totals.dropped_steps);
  to->set_framework(from.description.framework);
  to->set_precision(from.description.precision);
  to->set_overflow_mode(Text(Name(from.description.overflow_mode)));
}

void WriteDetail(const RunView& from, const RuleName& rule_name,
                 v1::RunDetail* to) {
  WriteSummary(from, to->mutable_summary());
  WriteRun(from.description, to->mutable_info());
  to->mutable_info()->set_run_id(from.key.run_id);
  to->mutable_info()->set_attempt(from.key.attempt);
  WriteScalerView(from.scaler, to->mutable_scaler());
  for (const CauseVerdict& cause : from.diagnosis.causes) {
    WriteCause(cause, rule_name, to->add_causes());
  }
  for (const Incident& incident : from.incidents) {
    WriteIncident(incident, rule_name, to->add_incidents());
  }
  for (const auto& block : from.ranks) {
    if (!block) continue;
    for (const RankView& rank : *block) WriteRankView(rank, to->add_ranks());
  }
  for (const OpView& op : from.top_ops) WriteOp(op, to->add_ops());
  to->set_judged_since(from.judged_since);
  if (from.stop_requested) to->set_stop_requested(*from.stop_requested);
  AddPlaces(from, to);
}

void WriteBuckets(const std::vector<StepBucket>& from,
                  v1::GetStepsResponse* to) {
  for (int f = 0; f < kStepFields; ++f) {
    to->add_fields(Text(Name(static_cast<StepField>(f))));
  }
  for (const StepBucket& bucket : from) {
    v1::StepBucket* one = to->add_buckets();
    one->set_first_step(bucket.first_step);
    one->set_last_step(bucket.last_step);
    one->set_first_us(ToMicros(bucket.first));
    one->set_last_us(ToMicros(bucket.last));
    one->set_records(bucket.records);
    one->set_overflows(bucket.overflows);
    one->set_skipped(bucket.skipped);
    for (int f = 0; f < kStepFields; ++f) {
      const StepBucket::Value& value = bucket.value[f];
      if (value.count + value.nan + value.pos_inf + value.neg_inf == 0) {
        continue;
      }
      v1::StepBucket::Value* out = one->add_values();
      out->set_field(f);
      out->set_count(value.count);
      out->set_min(value.min);
      out->set_max(value.max);
      out->set_last(value.last);
      out->set_nan(value.nan);
      out->set_pos_inf(value.pos_inf);
      out->set_neg_inf(value.neg_inf);
    }
  }
}

void WriteLayers(const std::vector<OpRow>& from, v1::GetLayersResponse* to) {
  std::vector<const OpRow*> newest;
  std::set<std::string_view> seen;
  for (auto row = from.rbegin(); row != from.rend(); ++row) {
    const bool is_gradient =
        row->status.slot == Slot::kGradInput && row->op.type == "Parameter";
    if (is_gradient && seen.insert(row->op.name).second) {
      newest.push_back(&*row);
    }
  }
  // That of a later layer is executed before. Where nobody told in which order,
  // they stay as they were told.
  std::reverse(newest.begin(), newest.end());
  std::stable_sort(
      newest.begin(), newest.end(),
      [](const OpRow* a, const OpRow* b) { return a->op.order > b->op.order; });
  for (const OpRow* row : newest) WriteLayer(*row, to->add_layers());
}

}  // namespace nanwatch
