#include "rpc/view_messages.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "model/incident_fields.h"
#include "model/view_fields.h"
#include "wire/message_fields.h"
#include "wire/run_codec.h"

namespace nanwatch {
namespace {

std::string AsString(std::string_view text) { return std::string(text); }

template <typename M>
void WriteValues(const LatestValues& from,
                 google::protobuf::RepeatedPtrField<M>* to) {
  for (int f = 0; f < kStepFields; ++f) {
    if (!from.last[f] && !from.last_finite[f] && from.nonfinite[f] == 0) {
      continue;
    }
    M* value = to->Add();
    value->set_field(AsString(Name(static_cast<StepField>(f))));
    if (from.last[f]) value->set_last(*from.last[f]);
    if (from.last_finite[f]) value->set_last_finite(*from.last_finite[f]);
    value->set_nonfinite(from.nonfinite[f]);
  }
}

template <typename T>
void Write(const T& from, google::protobuf::Message* to,
           const RuleNames* rule_name = nullptr) {
  MessageWriter writer(to, rule_name);
  Fields(writer, const_cast<T&>(from));
}

void WriteLayer(const OpRow& from, v1::Layer* to) {
  const OpStatus& status = from.status;
  to->set_name(from.op.name);
  if (from.op.dtype != Dtype::kUnknown) {
    to->set_dtype(AsString(Name(from.op.dtype)));
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

void WriteCause(const CauseVerdict& from, const RuleNames& rule_name,
                v1::CauseVerdict* to) {
  Write(from, to, &rule_name);
  to->mutable_origin()->set_type(from.op_type);
  if (from.op_dtype != Dtype::kUnknown) {
    to->mutable_origin()->set_dtype(AsString(Name(from.op_dtype)));
  }
}

void WriteRankView(const RankView& from, v1::RankSummary* to) {
  Write(from, to);
  Write(from.totals, to);
  WriteValues(from.latest, to->mutable_values());
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
        if (const Pod& pod = rank.description.pod; pod.known()) {
          WritePod(pod, subject->mutable_pod());
        }
        return;
      }
    }
  };
  for (v1::CauseVerdict& cause : *to->mutable_causes()) {
    add(cause.mutable_origin());
  }
}

}  // namespace

void WriteIncident(const Incident& from, const RuleNames& rule_name,
                   v1::Incident* to) {
  Write(from, to, &rule_name);
  to->mutable_subject()->set_host(from.host);
  to->mutable_subject()->set_device(from.device);
  if (from.pod.known()) {
    WritePod(from.pod, to->mutable_subject()->mutable_pod());
  }
}

void WriteSummary(const RunView& from, v1::RunSummary* to) {
  Write(from, to);
  Write(from.totals, to);
  WriteValues(from.latest, to->mutable_values());
}

void WriteDetail(const RunView& from, const RuleNames& rule_name,
                 v1::RunDetail* to) {
  WriteSummary(from, to->mutable_summary());
  WriteRun(from.description, to->mutable_info());
  to->mutable_info()->set_run_id(from.key.run_id);
  to->mutable_info()->set_attempt(from.key.attempt);
  Write(from.scaler, to->mutable_scaler());
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
  for (const OpView& op : from.top_ops) Write(op, to->add_ops());
  to->set_judged_since(from.judged_since);
  if (from.benchmark) Write(*from.benchmark, to->mutable_benchmark());
  if (from.stop_requested) to->set_stop_requested(*from.stop_requested);
  AddPlaces(from, to);
}

void WriteBuckets(const std::vector<StepBucket>& from,
                  v1::GetStepsResponse* to) {
  for (int f = 0; f < kStepFields; ++f) {
    to->add_fields(AsString(Name(static_cast<StepField>(f))));
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

void WriteLayerScales(const LayerRangesView& from, v1::GetLayersResponse* to) {
  for (const LayerRangeView& layer : from.layers) {
    v1::LayerScale* one = to->add_scales();
    one->set_name(layer.name);
    if (layer.lowest) one->set_lowest(*layer.lowest);
    if (layer.highest) one->set_highest(*layer.highest);
    if (layer.scale) one->set_scale(*layer.scale);
    one->set_lost(layer.lost);
    one->set_attempts(layer.attempts);
    one->set_cut(layer.cut);
    one->set_all_lost(layer.all_lost);
    one->set_outside(layer.outside);
    if (layer.group) one->set_group(*layer.group);
  }
  for (const ScaleGroupView& group : from.groups) {
    v1::ScaleGroup* one = to->add_groups();
    one->set_scale(group.scale);
    one->set_lowest(group.lowest);
    one->set_highest(group.highest);
    one->set_bound(group.bound);
  }
}

}  // namespace nanwatch
