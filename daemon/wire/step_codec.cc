#include "wire/step_codec.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>

#include "model/limits.h"
#include "wire/columns.h"

namespace nanwatch {
namespace {

using Batch = v1::StepBatch;

struct FieldAccess {
  bool (Batch::*has)() const;
  const v1::DoubleColumn& (Batch::*get)() const;
  v1::DoubleColumn* (Batch::*add)();
};
// By StepField.
constexpr FieldAccess kFields[kStepFields] = {
    {&Batch::has_loss, &Batch::loss, &Batch::mutable_loss},
    {&Batch::has_loss_scale, &Batch::loss_scale, &Batch::mutable_loss_scale},
    {&Batch::has_grad_norm, &Batch::grad_norm, &Batch::mutable_grad_norm},
    {&Batch::has_update_norm, &Batch::update_norm, &Batch::mutable_update_norm},
    {&Batch::has_param_norm, &Batch::param_norm, &Batch::mutable_param_norm},
    {&Batch::has_learning_rate, &Batch::learning_rate,
     &Batch::mutable_learning_rate},
    {&Batch::has_zero_fraction, &Batch::zero_fraction,
     &Batch::mutable_zero_fraction},
    {&Batch::has_underflow_fraction, &Batch::underflow_fraction,
     &Batch::mutable_underflow_fraction},
    {&Batch::has_consumed_samples, &Batch::consumed_samples,
     &Batch::mutable_consumed_samples},
    {&Batch::has_applied_grad_norm, &Batch::applied_grad_norm,
     &Batch::mutable_applied_grad_norm},
};

struct FlagAccess {
  const char* name;
  bool (Batch::*has)() const;
  const v1::BitColumn& (Batch::*get)() const;
  v1::BitColumn* (Batch::*add)();
};
// By StepFlag.
constexpr FlagAccess kFlags[kStepFlags] = {
    {"overflow", &Batch::has_overflow, &Batch::overflow,
     &Batch::mutable_overflow},
    {"skipped", &Batch::has_skipped, &Batch::skipped, &Batch::mutable_skipped},
};

Verdict ReadOptimizers(const Batch& from, size_t rows, StepColumns* to) {
  const size_t names = from.optimizers_size();
  if (names > limits::kOptimizersPerRank) {
    return Complaint{fmt::format("{} optimizers in one batch, at most {} are "
                                 "taken; name them once each",
                                 names, limits::kOptimizersPerRank),
                     "optimizers"};
  }
  for (const std::string& name : from.optimizers()) {
    if (name.size() > limits::kNameBytes) {
      return Complaint{fmt::format("the name of an optimizer has {} bytes, at "
                                   "most {} are taken; shorten it",
                                   name.size(), limits::kNameBytes),
                       "string_bytes"};
    }
    to->optimizers.push_back(name);
  }
  const size_t indices = from.optimizer_size();
  if (indices == 0) return std::nullopt;
  if (indices != rows) {
    return Complaint{fmt::format("column optimizer holds {} values for {} "
                                 "rows; send one a row or none",
                                 indices, rows),
                     ""};
  }
  to->optimizer.reserve(rows);
  for (const uint32_t index : from.optimizer()) {
    if (index >= std::max<size_t>(names, 1)) {
      return Complaint{fmt::format("column optimizer names index {}, but the "
                                   "batch lists {} optimizers",
                                   index, names),
                       ""};
    }
    to->optimizer.push_back(static_cast<uint8_t>(index));
  }
  return std::nullopt;
}

Verdict ReadFloatStatus(const Batch& from, size_t rows, StepColumns* to) {
  to->float_status.reserve(std::min<size_t>(from.float_status_size(), rows));
  for (const v1::FloatStatus& one : from.float_status()) {
    const bool rises =
        to->float_status.empty() || to->float_status.back().row < one.row();
    if (!rises || one.row() >= rows) {
      return Complaint{fmt::format("float_status names row {} of {}; rows must "
                                   "rise and stay below the row count",
                                   one.row(), rows),
                       ""};
    }
    if (one.words_size() != 1 && one.words_size() != 8) {
      return Complaint{fmt::format("float_status of row {} has {} words; send "
                                   "1 or 8",
                                   one.row(), one.words_size()),
                       ""};
    }
    FloatStatus status;
    status.row = one.row();
    std::copy(one.words().begin(), one.words().end(), status.words.begin());
    status.combined = one.combined();
    to->float_status.push_back(status);
  }
  return std::nullopt;
}

Verdict ReadLayerScales(const v1::LayerScales& from, size_t rows,
                        StepColumns* to) {
  const size_t n = from.rows_size();
  if (n > limits::kLayerScalesPerBatch) {
    return Complaint{fmt::format("{} layer scales in one batch, at most {} are "
                                 "taken; send fewer steps a batch",
                                 n, limits::kLayerScalesPerBatch),
                     "layer_scales"};
  }
  if (static_cast<size_t>(from.ops_size()) != n ||
      static_cast<size_t>(from.scales_size()) != n) {
    return Complaint{fmt::format("layer_scales holds {} rows, {} ops and {} "
                                 "scales; send as many of each",
                                 n, from.ops_size(), from.scales_size()),
                     ""};
  }
  to->layer_scales.reserve(n);
  uint32_t before = 0;
  for (int i = 0; i < static_cast<int>(n); ++i) {
    const uint32_t row = from.rows(i);
    if (row < before || row >= rows) {
      return Complaint{fmt::format("layer_scales names row {} of {} in entry "
                                   "{}; rows must not fall and stay below the "
                                   "row count",
                                   row, rows, i),
                       ""};
    }
    before = row;
    to->layer_scales.push_back({row, from.ops(i), from.scales(i)});
  }
  return std::nullopt;
}

// Refuses entries whose rows do not rise, or leave the batch.
template <typename Entries>
Verdict CheckRows(const Entries& entries, const char* name, size_t rows) {
  int64_t before = -1;
  for (const auto& one : entries) {
    if (one.row() > before && one.row() < rows) {
      before = one.row();
      continue;
    }
    return Complaint{fmt::format("{} names row {} of {}; rows must rise and "
                                 "stay below the row count",
                                 name, one.row(), rows),
                     ""};
  }
  return std::nullopt;
}

Verdict ReadUpdateFacts(const Batch& from, size_t rows, StepColumns* to) {
  if (Verdict w = CheckRows(from.update_facts(), "update_facts", rows)) {
    return w;
  }
  to->update_facts.reserve(from.update_facts_size());
  for (const v1::UpdateFacts& one : from.update_facts()) {
    UpdateFacts& facts = to->update_facts.emplace_back();
    facts.row = one.row();
    if (one.fault() > 0 && one.fault() < kUpdateFaults) {
      facts.fault = static_cast<UpdateFault>(one.fault());
    }
    if (one.has_stuck_fraction()) facts.stuck = one.stuck_fraction();
    if (one.of().size() <= limits::kNameBytes) facts.of = one.of();
  }
  return std::nullopt;
}

Verdict ReadSamples(const Batch& from, size_t rows, StepColumns* to) {
  if (Verdict w = CheckRows(from.samples(), "samples", rows)) return w;
  to->samples.reserve(from.samples_size());
  for (const v1::SampleRange& one : from.samples()) {
    to->samples.push_back({one.row(), one.first(), one.last()});
  }
  return std::nullopt;
}

Verdict ReadBatchDigests(const Batch& from, size_t rows, StepColumns* to) {
  if (Verdict w = CheckRows(from.batch_digests(), "batch_digests", rows)) {
    return w;
  }
  to->batch_digests.reserve(from.batch_digests_size());
  for (const v1::BatchDigest& one : from.batch_digests()) {
    to->batch_digests.push_back({one.row(), one.digest()});
  }
  return std::nullopt;
}

Verdict ReadNumbers(const Batch& from, size_t rows, StepColumns* to) {
  for (int f = 0; f < kStepFields; ++f) {
    const FieldAccess& access = kFields[f];
    if (!(from.*access.has)()) continue;
    if (Verdict wrong =
            ReadColumn((from.*access.get)(), Name(static_cast<StepField>(f)),
                       rows, &to->field[f].emplace())) {
      return wrong;
    }
  }
  for (int f = 0; f < kStepFlags; ++f) {
    const FlagAccess& access = kFlags[f];
    if (!(from.*access.has)()) continue;
    if (Verdict wrong = ReadColumn((from.*access.get)(), access.name, rows,
                                   &to->flag[f].emplace())) {
      return wrong;
    }
  }
  return std::nullopt;
}

}  // namespace

Verdict ReadSteps(const Batch& from, StepColumns* to) {
  const size_t rows = from.step_deltas_size();
  if (rows > limits::kStepsPerBatch) {
    return Complaint{
        fmt::format("{} steps in one batch, at most {} are taken; send more "
                    "batches",
                    rows, limits::kStepsPerBatch),
        "batch_records"};
  }
  if (static_cast<size_t>(from.time_us_deltas_size()) != rows) {
    return Complaint{fmt::format("column time_us holds {} values for {} rows; "
                                 "send one a row",
                                 from.time_us_deltas_size(), rows),
                     ""};
  }
  if (Verdict w = ReadDeltas(from.step_deltas(), "step", &to->step)) return w;
  if (Verdict w = ReadDeltas(from.time_us_deltas(), "time_us", &to->time)) {
    return w;
  }
  if (Verdict w = ReadNumbers(from, rows, to)) return w;
  if (Verdict w = ReadOptimizers(from, rows, to)) return w;
  if (Verdict w = ReadDigest(from.replica_digest(), "replica_digest", rows,
                             &to->replica_digest)) {
    return w;
  }
  if (Verdict w = ReadFloatStatus(from, rows, to)) return w;
  if (from.has_layer_scales()) {
    if (Verdict w = ReadLayerScales(from.layer_scales(), rows, to)) return w;
  }
  if (Verdict w = ReadUpdateFacts(from, rows, to)) return w;
  if (Verdict w = ReadSamples(from, rows, to)) return w;
  if (Verdict w = ReadBatchDigests(from, rows, to)) return w;
  to->request_id = from.request_id();
  to->seen = {.fresh_gradients = from.fresh_gradients(),
              .rival_loss = from.rival_loss(),
              .follows_rewards = from.follows_rewards(),
              .objective_moves = from.objective_moves()};
  return std::nullopt;
}

v1::DoubleColumn* ColumnOf(StepField field, Batch* batch) {
  const FieldAccess& access = kFields[static_cast<int>(field)];
  return (batch->*access.has)() ? (batch->*access.add)() : nullptr;
}

void WriteSteps(const StepColumns& from, Batch* to) {
  WriteDeltas(from.step, to->mutable_step_deltas());
  WriteDeltas(from.time, to->mutable_time_us_deltas());
  for (int f = 0; f < kStepFields; ++f) {
    const FieldAccess& access = kFields[f];
    if (from.field[f]) WriteColumn(*from.field[f], (to->*access.add)());
  }
  for (int f = 0; f < kStepFlags; ++f) {
    const FlagAccess& access = kFlags[f];
    if (from.flag[f]) WriteColumn(*from.flag[f], (to->*access.add)());
  }
  for (const std::string& name : from.optimizers) to->add_optimizers(name);
  to->mutable_optimizer()->Assign(from.optimizer.begin(), from.optimizer.end());
  to->mutable_replica_digest()->Assign(from.replica_digest.begin(),
                                       from.replica_digest.end());
  for (const FloatStatus& status : from.float_status) {
    v1::FloatStatus* one = to->add_float_status();
    one->set_row(status.row);
    const bool short_form =
        std::all_of(status.words.begin() + 1, status.words.end(),
                    [](int32_t word) { return word == 0; });
    one->mutable_words()->Assign(status.words.begin(),
                                 status.words.begin() + (short_form ? 1 : 8));
    one->set_combined(status.combined);
  }
  if (!from.layer_scales.empty()) {
    v1::LayerScales* scales = to->mutable_layer_scales();
    for (const LayerScale& scale : from.layer_scales) {
      scales->add_rows(scale.row);
      scales->add_ops(scale.op);
      scales->add_scales(scale.scale);
    }
  }
  for (const UpdateFacts& facts : from.update_facts) {
    v1::UpdateFacts* one = to->add_update_facts();
    one->set_row(facts.row);
    one->set_fault(static_cast<v1::UpdateFault>(facts.fault));
    if (facts.stuck) one->set_stuck_fraction(*facts.stuck);
    if (!facts.of.empty()) one->set_of(facts.of);
  }
  for (const SampleRange& range : from.samples) {
    v1::SampleRange* one = to->add_samples();
    one->set_row(range.row);
    one->set_first(range.first);
    one->set_last(range.last);
  }
  for (const BatchDigest& one : from.batch_digests) {
    v1::BatchDigest* digest = to->add_batch_digests();
    digest->set_row(one.row);
    digest->set_digest(one.digest);
  }
  to->set_request_id(from.request_id);
  to->set_fresh_gradients(from.seen.fresh_gradients);
  to->set_rival_loss(from.seen.rival_loss);
  to->set_follows_rewards(from.seen.follows_rewards);
  to->set_objective_moves(from.seen.objective_moves);
}

}  // namespace nanwatch
