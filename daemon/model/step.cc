#include "model/step.h"

#include <cmath>

namespace nanwatch {

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

StepReader::StepReader(const StepColumns& columns) : columns_(columns) {}

bool StepReader::Next(StepRecord* record) {
  if (row_ >= columns_.rows()) return false;
  const size_t row = row_++;
  record->step = columns_.step[row];
  record->time = columns_.time[row];
  record->present = 0;
  for (int f = 0; f < kStepFields; ++f) {
    const std::optional<Column>& column = columns_.field[f];
    if (!column || (!column->absent.empty() && TestBit(column->absent, row))) {
      continue;
    }
    record->present |= 1u << f;
    record->value[f] = column->values[row];
  }
  record->flags = 0;
  record->flags_present = 0;
  for (int f = 0; f < kStepFlags; ++f) {
    const std::optional<FlagColumn>& column = columns_.flag[f];
    if (!column || TestBit(column->absent, row)) continue;
    record->flags_present |= 1u << f;
    if (TestBit(column->values, row)) record->flags |= 1u << f;
  }
  record->optimizer = columns_.optimizer.empty() ? 0 : columns_.optimizer[row];
  record->replica_digest =
      columns_.replica_digest.empty()
          ? std::nullopt
          : std::optional<uint64_t>(columns_.replica_digest[row]);
  record->float_status = nullptr;
  while (status_ < columns_.float_status.size() &&
         columns_.float_status[status_].row <= row) {
    if (columns_.float_status[status_].row == row) {
      record->float_status = &columns_.float_status[status_];
    }
    ++status_;
  }
  const size_t first = scale_;
  while (scale_ < columns_.layer_scales.size() &&
         columns_.layer_scales[scale_].row <= row) {
    ++scale_;
  }
  record->layer_scales =
      std::span(columns_.layer_scales).subspan(first, scale_ - first);
  return true;
}

}  // namespace nanwatch
