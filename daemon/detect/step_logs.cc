#include "detect/step_logs.h"

#include <optional>

#include "detect/series.h"

namespace nanwatch {
namespace {

void TakeLogs(const std::optional<Column>& column, std::vector<float>* logs) {
  logs->resize(column ? column->values.size() : 0);
  for (size_t row = 0; row < logs->size(); ++row) {
    (*logs)[row] = Series::LogOf(static_cast<float>(column->values[row]));
  }
}

}  // namespace

void StepLogs::Take(const StepColumns& columns) {
  TakeLogs(columns.field[static_cast<int>(StepField::kLoss)], &loss_);
  TakeLogs(columns.field[static_cast<int>(StepField::kGradNorm)], &grad_norm_);
}

}  // namespace nanwatch
