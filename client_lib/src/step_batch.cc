#include "client_lib/src/step_batch.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "client_lib/src/columns.h"

namespace nanwatch_client {
namespace {

namespace v1 = nanwatch::v1;

struct StepNumber {
  uint32_t bit;
  double nanwatch_step::*value;
  v1::DoubleColumn* (v1::StepBatch::*column)();
};
constexpr StepNumber kStepNumbers[] = {
    {NANWATCH_STEP_LOSS, &nanwatch_step::loss, &v1::StepBatch::mutable_loss},
    {NANWATCH_STEP_LOSS_SCALE, &nanwatch_step::loss_scale,
     &v1::StepBatch::mutable_loss_scale},
    {NANWATCH_STEP_GRAD_NORM, &nanwatch_step::grad_norm,
     &v1::StepBatch::mutable_grad_norm},
    {NANWATCH_STEP_UPDATE_NORM, &nanwatch_step::update_norm,
     &v1::StepBatch::mutable_update_norm},
    {NANWATCH_STEP_PARAM_NORM, &nanwatch_step::param_norm,
     &v1::StepBatch::mutable_param_norm},
    {NANWATCH_STEP_LEARNING_RATE, &nanwatch_step::learning_rate,
     &v1::StepBatch::mutable_learning_rate},
    {NANWATCH_STEP_ZERO_FRACTION, &nanwatch_step::zero_fraction,
     &v1::StepBatch::mutable_zero_fraction},
    {NANWATCH_STEP_UNDERFLOW_FRACTION, &nanwatch_step::underflow_fraction,
     &v1::StepBatch::mutable_underflow_fraction},
    {NANWATCH_STEP_CONSUMED_SAMPLES, &nanwatch_step::consumed_samples,
     &v1::StepBatch::mutable_consumed_samples},
    {NANWATCH_STEP_APPLIED_GRAD_NORM, &nanwatch_step::applied_grad_norm,
     &v1::StepBatch::mutable_applied_grad_norm},
};

struct Flag {
  uint32_t bit;
  uint8_t nanwatch_step::*value;
  v1::BitColumn* (v1::StepBatch::*column)();
};
constexpr Flag kFlags[] = {
    {NANWATCH_STEP_OVERFLOW, &nanwatch_step::overflow,
     &v1::StepBatch::mutable_overflow},
    {NANWATCH_STEP_SKIPPED, &nanwatch_step::skipped,
     &v1::StepBatch::mutable_skipped},
};

// The daemon's bounds of one batch (daemon/model/limits.h).
constexpr size_t kOptimizersMost = 8;
constexpr size_t kLayerScales = 65536;

bool HasReplicaDigest(const nanwatch_step& row) {
  return (row.present & NANWATCH_STEP_REPLICA_DIGEST) != 0;
}

void EncodeOptimizers(StepRows rows, std::span<const std::string> names,
                      v1::StepBatch* batch) {
  std::vector<uint32_t> used;  // optimizer of each entry of batch->optimizers
  std::vector<uint32_t> index;
  for (const nanwatch_step* row : rows) {
    uint32_t optimizer = static_cast<uint32_t>(row->optimizer);
    if (optimizer > names.size()) optimizer = 0;
    auto at = std::find(used.begin(), used.end(), optimizer);
    if (at == used.end()) at = used.insert(at, optimizer);
    index.push_back(static_cast<uint32_t>(at - used.begin()));
  }
  if (used.size() == 1 && used[0] == 0) return;
  for (uint32_t optimizer : used) {
    batch->add_optimizers(optimizer == 0 ? "" : names[optimizer - 1]);
  }
  if (used.size() == 1) return;
  batch->mutable_optimizer()->Add(index.begin(), index.end());
}

void EncodeSparse(StepRows rows, v1::StepBatch* batch) {
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const nanwatch_step& row = *rows[i];
    if ((row.present & NANWATCH_STEP_FLOAT_STATUS) != 0) {
      v1::FloatStatus* status = batch->add_float_status();
      status->set_row(i);
      status->set_combined(row.float_status_combined != 0);
      const int words = row.float_status_words == 1 ? 1 : 8;
      status->mutable_words()->Add(row.float_status, row.float_status + words);
    }
    if ((row.present & NANWATCH_STEP_BATCH_DIGEST) != 0) {
      v1::BatchDigest* digest = batch->add_batch_digests();
      digest->set_row(i);
      digest->set_digest(row.batch_digest);
    }
    for (size_t k = 0; k < row.layer_scales_count; ++k) {
      v1::LayerScales* scales = batch->mutable_layer_scales();
      scales->add_rows(i);
      scales->add_ops(static_cast<uint32_t>(row.layer_scales[k].op));
      scales->add_scales(row.layer_scales[k].scale);
    }
  }
}

}  // namespace

size_t StepBatchRows(StepRows rows, size_t max_rows) {
  size_t layer_scales = 0;
  uint64_t optimizers = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const nanwatch_step& row = *rows[i];
    layer_scales += row.layer_scales_count;
    optimizers |= uint64_t{1} << (static_cast<uint32_t>(row.optimizer) % 64);
    if (i == 0) continue;
    if (i >= max_rows || row.request_id != rows[0]->request_id ||
        HasReplicaDigest(row) != HasReplicaDigest(*rows[0]) ||
        layer_scales > kLayerScales ||
        static_cast<size_t>(std::popcount(optimizers)) > kOptimizersMost) {
      return i;
    }
  }
  return rows.size();
}

v1::StepBatch EncodeSteps(StepRows rows,
                          std::span<const std::string> optimizers,
                          int64_t sent_time_us) {
  v1::StepBatch batch;
  batch.set_sent_time_us(sent_time_us);
  int64_t step = 0;
  int64_t time_us = 0;
  for (const nanwatch_step* row : rows) {
    batch.add_step_deltas(WrappingDelta(row->step, &step));
    batch.add_time_us_deltas(WrappingDelta(row->time_us, &time_us));
  }
  for (const StepNumber& number : kStepNumbers) {
    if (!AnyPresent(rows, number.bit)) continue;
    EncodeValues(rows, number.bit, number.value, (batch.*number.column)());
  }
  for (const Flag& flag : kFlags) {
    if (!AnyPresent(rows, flag.bit)) continue;
    v1::BitColumn* column = (batch.*flag.column)();
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool present = (rows[i]->present & flag.bit) != 0;
      if (!present) SetBit(i, column->mutable_absent());
      if (present && rows[i]->*flag.value != 0) {
        SetBit(i, column->mutable_values());
      }
    }
  }
  EncodeOptimizers(rows, optimizers, &batch);
  if (!rows.empty() && HasReplicaDigest(*rows[0])) {
    for (const nanwatch_step* row : rows) {
      batch.add_replica_digest(row->replica_digest);
    }
  }
  EncodeSparse(rows, &batch);
  if (!rows.empty()) batch.set_request_id(rows[0]->request_id);
  return batch;
}

}  // namespace nanwatch_client
