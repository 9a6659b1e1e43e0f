#include "history/bucket_parts.h"

#include <algorithm>
#include <cmath>

#include "model/limits.h"

namespace nanwatch {
namespace {

// Null: there are too many.
StepBucket::Values* PartOf(std::string_view optimizer, StepBucket* bucket) {
  for (StepBucket::Part& part : bucket->parts) {
    if (part.optimizer == optimizer) return &part.value;
  }
  if (bucket->parts.size() >= limits::kOptimizersPerRank) return nullptr;
  StepBucket::Part& made = bucket->parts.emplace_back();
  made.optimizer = optimizer;
  return &made.value;
}

// What came before the first name is of the optimizer without one.
void Begin(StepBucket* bucket) {
  if (!bucket->parts.empty() || bucket->records == 0) return;
  bucket->parts.push_back({"", bucket->value});
}

}  // namespace

void AddValue(double x, StepBucket::Value* value) {
  if (!std::isfinite(x)) [[unlikely]] {
    ++(std::isnan(x) ? value->nan : x > 0 ? value->pos_inf : value->neg_inf);
    return;
  }
  if (value->count++ == 0) {
    value->min = value->max = x;
  } else {
    value->min = std::min(value->min, x);
    value->max = std::max(value->max, x);
  }
  value->last = x;
}

void AddValues(const StepBucket::Values& later, StepBucket::Values* values) {
  for (int f = 0; f < kStepFields; ++f) {
    const StepBucket::Value& from = later[f];
    StepBucket::Value& to = (*values)[f];
    to.nan += from.nan;
    to.pos_inf += from.pos_inf;
    to.neg_inf += from.neg_inf;
    if (from.count == 0) continue;
    to.min = to.count == 0 ? from.min : std::min(to.min, from.min);
    to.max = to.count == 0 ? from.max : std::max(to.max, from.max);
    to.last = from.last;
    to.count += from.count;
  }
}

void AddToParts(const StepColumns& columns, size_t begin, size_t end,
                StepBucket* bucket) {
  if (columns.optimizers.empty() && bucket->parts.empty()) return;
  Begin(bucket);
  for (size_t row = begin; row < end; ++row) {
    const size_t index = columns.optimizer.empty() ? 0 : columns.optimizer[row];
    StepBucket::Values* values =
        PartOf(index < columns.optimizers.size() ? columns.optimizers[index]
                                                 : std::string_view(),
               bucket);
    if (values == nullptr) continue;
    for (int f = 0; f < kStepFields; ++f) {
      if (!columns.field[f]) continue;
      const Column& column = *columns.field[f];
      if (column.absent.empty() || !TestBit(column.absent, row)) {
        AddValue(column.values[row], &(*values)[f]);
      }
    }
  }
}

void AddParts(const StepBucket& later, StepBucket* bucket) {
  if (later.parts.empty() && bucket->parts.empty()) return;
  Begin(bucket);
  if (later.parts.empty()) {
    if (auto* values = PartOf("", bucket)) AddValues(later.value, values);
    return;
  }
  for (const StepBucket::Part& part : later.parts) {
    if (auto* values = PartOf(part.optimizer, bucket)) {
      AddValues(part.value, values);
    }
  }
}

}  // namespace nanwatch
