#include "model/step.h"

#include <cmath>

namespace nanwatch {
namespace {

// Returns the entry of `row`, null where there is none, of entries that are
// read in the order of their rows; `at` is the next one to be read.
template <typename T>
const T* AtRow(const std::vector<T>& entries, size_t row, size_t* at) {
  const T* found = nullptr;
  while (*at < entries.size() && entries[*at].row <= row) {
    if (entries[*at].row == row) found = &entries[*at];
    ++*at;
  }
  return found;
}

}  // namespace

std::string_view Name(StepField field) {
  switch (field) {
    case StepField::kLoss:
      return "loss";
    case StepField::kLossScale:
      return "loss_scale";
    case StepField::kGradNorm:
      return "grad_norm";
    case StepField::kUpdateNorm:
      return "update_norm";
    case StepField::kParamNorm:
      return "param_norm";
    case StepField::kLearningRate:
      return "learning_rate";
    case StepField::kZeroFraction:
      return "zero_fraction";
    case StepField::kUnderflowFraction:
      return "underflow_fraction";
    case StepField::kConsumedSamples:
      return "consumed_samples";
    case StepField::kAppliedGradNorm:
      return "applied_grad_norm";
  }
  return "";
}

LayerExtremes ExtremesOf(std::span<const LayerScale> scales) {
  const auto rank = [](double scale) {
    return std::isfinite(scale) ? scale
                                : -std::numeric_limits<double>::infinity();
  };
  LayerExtremes of;
  for (const LayerScale& layer : scales) {
    const bool first = of.layers++ == 0;
    if (first || rank(layer.scale) < rank(of.lowest)) {
      of.lowest = layer.scale;
      of.lowest_op = layer.op;
    }
    if (first || rank(layer.scale) > rank(of.highest)) {
      of.highest = layer.scale;
      of.highest_op = layer.op;
    }
  }
  return of;
}

StepReader::StepReader(const StepColumns& columns)
    : columns_(columns), rows_(columns.rows()) {
  for (int f = 0; f < kStepFields; ++f) {
    const std::optional<Column>& column = columns.field[f];
    if (!column) continue;
    field_[fields_++] = {f, column->values.data(),
                         column->absent.empty() ? nullptr : &column->absent};
  }
  for (int f = 0; f < kStepFlags; ++f) {
    const std::optional<FlagColumn>& column = columns.flag[f];
    if (!column) continue;
    const bool calm = column->values.empty() && column->absent.empty();
    calm_flags_ |= static_cast<uint8_t>(calm ? 1u << f : 0);
    other_flags_ |= !calm;
  }
  rest_ = !columns.optimizer.empty() || !columns.replica_digest.empty() ||
          !columns.float_status.empty() || !columns.layer_scales.empty() ||
          !columns.update_facts.empty() || !columns.samples.empty();
}

bool StepReader::Next(StepRecord* record) {
  if (row_ >= rows_) return false;
  const size_t row = row_++;
  record->step = columns_.step[row];
  record->time = columns_.time[row];
  uint32_t present = 0;
  for (int i = 0; i < fields_; ++i) {
    const Collected& field = field_[i];
    if (field.absent != nullptr && TestBit(*field.absent, row)) continue;
    present |= 1u << field.index;
    record->value[field.index] = field.values[row];
  }
  record->present = present;
  record->flags = 0;
  record->flags_present = calm_flags_;
  if (other_flags_) ReadFlags(row, record);
  record->optimizer = 0;
  record->replica_digest.reset();
  record->float_status = nullptr;
  record->layer_scales = {};
  record->update = nullptr;
  record->samples = nullptr;
  record->fresh_gradients = columns_.seen.fresh_gradients;
  if (rest_) ReadRest(row, record);
  return true;
}

void StepReader::ReadFlags(size_t row, StepRecord* record) const {
  for (int f = 0; f < kStepFlags; ++f) {
    const std::optional<FlagColumn>& column = columns_.flag[f];
    if (!column || TestBit(column->absent, row)) continue;
    record->flags_present |= 1u << f;
    if (TestBit(column->values, row)) record->flags |= 1u << f;
  }
}

void StepReader::ReadRest(size_t row, StepRecord* record) {
  if (!columns_.optimizer.empty()) record->optimizer = columns_.optimizer[row];
  if (!columns_.replica_digest.empty()) {
    record->replica_digest = columns_.replica_digest[row];
  }
  record->float_status = AtRow(columns_.float_status, row, &status_);
  record->update = AtRow(columns_.update_facts, row, &fact_);
  record->samples = AtRow(columns_.samples, row, &range_);
  const size_t first = scale_;
  while (scale_ < columns_.layer_scales.size() &&
         columns_.layer_scales[scale_].row <= row) {
    ++scale_;
  }
  record->layer_scales =
      std::span(columns_.layer_scales).subspan(first, scale_ - first);
}

}  // namespace nanwatch
