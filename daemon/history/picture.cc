#include "history/picture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "history/varint.h"

namespace nanwatch {

namespace {

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

// The same of many, none of them absent. Mostly all are finite.
void AddValues(std::span<const double> values, StepBucket::Value* value) {
  bool finite = true;
  for (const double x : values) finite &= std::isfinite(x);
  if (!finite) [[unlikely]] {
    for (const double x : values) AddValue(x, value);
    return;
  }
  double min = value->count == 0 ? values.front() : value->min;
  double max = value->count == 0 ? values.front() : value->max;
  for (const double x : values) {
    min = std::min(min, x);
    max = std::max(max, x);
  }
  value->min = min;
  value->max = max;
  value->last = values.back();
  value->count += values.size();
}

// REQUIRES: not empty.
template <typename T>
std::pair<T, T> Extremes(std::span<const T> values) {
  T least = values.front();
  T largest = values.front();
  for (const T& value : values) {
    least = std::min(least, value);
    largest = std::max(largest, value);
  }
  return {least, largest};
}

void Widen(int64_t first_step, int64_t last_step, Time first, Time last,
           StepBucket* bucket) {
  if (bucket->records == 0) {
    bucket->first_step = first_step;
    bucket->last_step = last_step;
    bucket->first = first;
    bucket->last = last;
    return;
  }
  bucket->first_step = std::min(bucket->first_step, first_step);
  bucket->last_step = std::max(bucket->last_step, last_step);
  bucket->first = std::min(bucket->first, first);
  bucket->last = std::max(bucket->last, last);
}

uint64_t CountBits(const FlagColumn& column, size_t begin, size_t end) {
  uint64_t count = 0;
  if (column.values.empty()) return 0;
  for (size_t row = begin; row < end; ++row) {
    count += TestBit(column.values, row) && !TestBit(column.absent, row);
  }
  return count;
}

void PutDouble(double value, std::string* out) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out->append(bytes, sizeof(value));
}

bool TakeDouble(std::string_view* rest, double* value) {
  if (rest->size() < sizeof(*value)) return false;
  std::memcpy(value, rest->data(), sizeof(*value));
  rest->remove_prefix(sizeof(*value));
  return true;
}

bool TakeSigned(std::string_view* rest, int64_t* value) {
  uint64_t bits = 0;
  if (!TakeVarint(rest, &bits)) return false;
  *value = UnZigZag(bits);
  return true;
}

bool IsCollected(const StepBucket::Value& value) {
  return value.count + value.nan + value.pos_inf + value.neg_inf != 0;
}

void PutValue(const StepBucket::Value& value, std::string* out) {
  PutVarint(value.count, out);
  PutVarint(value.nan, out);
  PutVarint(value.pos_inf, out);
  PutVarint(value.neg_inf, out);
  if (value.count == 0) return;
  PutDouble(value.min, out);
  PutDouble(value.max, out);
  PutDouble(value.last, out);
}

bool TakeValue(std::string_view* rest, StepBucket::Value* value) {
  if (!TakeVarint(rest, &value->count) || !TakeVarint(rest, &value->nan) ||
      !TakeVarint(rest, &value->pos_inf) ||
      !TakeVarint(rest, &value->neg_inf)) {
    return false;
  }
  return value->count == 0 ||
         (TakeDouble(rest, &value->min) && TakeDouble(rest, &value->max) &&
          TakeDouble(rest, &value->last));
}

bool TakeBucket(std::string_view* rest, PlacedBucket* placed) {
  StepBucket& bucket = placed->bucket;
  int64_t span = 0;
  int64_t first = 0;
  int64_t lasting = 0;
  uint64_t collected = 0;
  if (!TakeVarint(rest, &placed->place) || !TakeVarint(rest, &bucket.records) ||
      !TakeSigned(rest, &bucket.first_step) || !TakeSigned(rest, &span) ||
      !TakeSigned(rest, &first) || !TakeSigned(rest, &lasting) ||
      !TakeVarint(rest, &bucket.overflows) ||
      !TakeVarint(rest, &bucket.skipped) || !TakeVarint(rest, &collected)) {
    return false;
  }
  bucket.last_step = bucket.first_step + span;
  bucket.first = FromMicros(first);
  bucket.last = FromMicros(first + lasting);
  for (int f = 0; f < kStepFields; ++f) {
    if ((collected >> f & 1) != 0 && !TakeValue(rest, &bucket.value[f])) {
      return false;
    }
  }
  return true;
}

}  // namespace

void AddRows(const StepColumns& columns, size_t begin, size_t end,
             StepBucket* bucket) {
  if (begin == end) return;
  const size_t rows = end - begin;
  const auto [first_step, last_step] =
      Extremes(std::span(columns.step).subspan(begin, rows));
  const auto [first, last] =
      Extremes(std::span(columns.time).subspan(begin, rows));
  Widen(first_step, last_step, first, last, bucket);
  bucket->records += rows;
  const auto& overflow = columns.flag[static_cast<int>(StepFlag::kOverflow)];
  const auto& skipped = columns.flag[static_cast<int>(StepFlag::kSkipped)];
  if (overflow) bucket->overflows += CountBits(*overflow, begin, end);
  if (skipped) bucket->skipped += CountBits(*skipped, begin, end);
  for (int f = 0; f < kStepFields; ++f) {
    if (!columns.field[f]) continue;
    const Column& column = *columns.field[f];
    StepBucket::Value* value = &bucket->value[f];
    if (column.absent.empty()) {
      AddValues(std::span(column.values).subspan(begin, rows), value);
    } else {
      for (size_t row = begin; row < end; ++row) {
        if (!TestBit(column.absent, row)) AddValue(column.values[row], value);
      }
    }
  }
}

void AddBucket(const StepBucket& later, StepBucket* bucket) {
  if (later.records == 0) return;
  Widen(later.first_step, later.last_step, later.first, later.last, bucket);
  bucket->records += later.records;
  bucket->overflows += later.overflows;
  bucket->skipped += later.skipped;
  for (int f = 0; f < kStepFields; ++f) {
    const StepBucket::Value& from = later.value[f];
    StepBucket::Value& to = bucket->value[f];
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

void EncodeBuckets(const std::vector<PlacedBucket>& buckets, std::string* out) {
  out->clear();
  for (const PlacedBucket& placed : buckets) {
    const StepBucket& bucket = placed.bucket;
    uint64_t collected = 0;
    for (int f = 0; f < kStepFields; ++f) {
      if (IsCollected(bucket.value[f])) collected |= uint64_t{1} << f;
    }
    PutVarint(placed.place, out);
    PutVarint(bucket.records, out);
    PutVarint(ZigZag(bucket.first_step), out);
    PutVarint(ZigZag(bucket.last_step - bucket.first_step), out);
    PutVarint(ZigZag(ToMicros(bucket.first)), out);
    PutVarint(ZigZag(ToMicros(bucket.last) - ToMicros(bucket.first)), out);
    PutVarint(bucket.overflows, out);
    PutVarint(bucket.skipped, out);
    PutVarint(collected, out);
    for (int f = 0; f < kStepFields; ++f) {
      if ((collected >> f & 1) != 0) PutValue(bucket.value[f], out);
    }
  }
}

bool DecodeBuckets(std::string_view bytes, std::vector<PlacedBucket>* buckets) {
  while (!bytes.empty()) {
    PlacedBucket placed;
    if (!TakeBucket(&bytes, &placed)) return false;
    buckets->push_back(placed);
  }
  return true;
}

}  // namespace nanwatch
