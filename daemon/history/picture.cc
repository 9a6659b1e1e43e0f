#include "history/picture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "history/bucket_parts.h"
#include "history/varint.h"
#include "model/limits.h"

namespace nanwatch {

namespace {

// Adds many, none of them absent. Mostly all are finite.
void AddColumn(std::span<const double> values, StepBucket::Value* value) {
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

uint64_t CollectedValues(const StepBucket::Values& values) {
  uint64_t collected = 0;
  for (int f = 0; f < kStepFields; ++f) {
    if (IsCollected(values[f])) collected |= uint64_t{1} << f;
  }
  return collected;
}

void PutValues(const StepBucket::Values& values, std::string* out) {
  const uint64_t collected = CollectedValues(values);
  PutVarint(collected, out);
  for (int f = 0; f < kStepFields; ++f) {
    if ((collected >> f & 1) != 0) PutValue(values[f], out);
  }
}

bool TakeValues(std::string_view* rest, StepBucket::Values* values) {
  uint64_t collected = 0;
  if (!TakeVarint(rest, &collected)) return false;
  for (int f = 0; f < kStepFields; ++f) {
    if ((collected >> f & 1) != 0 && !TakeValue(rest, &(*values)[f])) {
      return false;
    }
  }
  return true;
}

// Before the parts of a bucket that has some. It is no varint, so that a reader
// of before there were parts takes the row for damaged, and reads the records.
constexpr std::string_view kPartsMark =
    "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";

void PutParts(const std::vector<StepBucket::Part>& parts, std::string* out) {
  if (parts.empty()) return;
  out->append(kPartsMark);
  PutVarint(parts.size(), out);
  for (const StepBucket::Part& part : parts) {
    PutVarint(part.optimizer.size(), out);
    out->append(part.optimizer);
    PutValues(part.value, out);
  }
}

bool TakeParts(std::string_view* rest, std::vector<StepBucket::Part>* parts) {
  if (!rest->starts_with(kPartsMark)) return true;
  rest->remove_prefix(kPartsMark.size());
  uint64_t count = 0;
  if (!TakeVarint(rest, &count) || count > limits::kOptimizersPerRank) {
    return false;
  }
  for (uint64_t i = 0; i < count; ++i) {
    StepBucket::Part& part = parts->emplace_back();
    uint64_t length = 0;
    if (!TakeVarint(rest, &length) || length > rest->size()) return false;
    part.optimizer = rest->substr(0, length);
    rest->remove_prefix(length);
    if (!TakeValues(rest, &part.value)) return false;
  }
  return true;
}

bool TakeBucket(std::string_view* rest, PlacedBucket* placed) {
  StepBucket& bucket = placed->bucket;
  int64_t span = 0;
  int64_t first = 0;
  int64_t lasting = 0;
  if (!TakeVarint(rest, &placed->place) || !TakeVarint(rest, &bucket.records) ||
      !TakeSigned(rest, &bucket.first_step) || !TakeSigned(rest, &span) ||
      !TakeSigned(rest, &first) || !TakeSigned(rest, &lasting) ||
      !TakeVarint(rest, &bucket.overflows) ||
      !TakeVarint(rest, &bucket.skipped) || !TakeValues(rest, &bucket.value) ||
      !TakeParts(rest, &bucket.parts)) {
    return false;
  }
  bucket.last_step = bucket.first_step + span;
  bucket.first = FromMicros(first);
  bucket.last = FromMicros(first + lasting);
  return true;
}

}  // namespace

void AddRows(const StepColumns& columns, size_t begin, size_t end,
             StepBucket* bucket) {
  if (begin == end) return;
  AddToParts(columns, begin, end, bucket);
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
      AddColumn(std::span(column.values).subspan(begin, rows), value);
    } else {
      for (size_t row = begin; row < end; ++row) {
        if (!TestBit(column.absent, row)) AddValue(column.values[row], value);
      }
    }
  }
}

void AddBucket(const StepBucket& later, StepBucket* bucket) {
  if (later.records == 0) return;
  AddParts(later, bucket);
  Widen(later.first_step, later.last_step, later.first, later.last, bucket);
  bucket->records += later.records;
  bucket->overflows += later.overflows;
  bucket->skipped += later.skipped;
  AddValues(later.value, &bucket->value);
}

void EncodeBuckets(const std::vector<PlacedBucket>& buckets, std::string* out) {
  out->clear();
  for (const PlacedBucket& placed : buckets) {
    const StepBucket& bucket = placed.bucket;
    PutVarint(placed.place, out);
    PutVarint(bucket.records, out);
    PutVarint(ZigZag(bucket.first_step), out);
    PutVarint(ZigZag(bucket.last_step - bucket.first_step), out);
    PutVarint(ZigZag(ToMicros(bucket.first)), out);
    PutVarint(ZigZag(ToMicros(bucket.last) - ToMicros(bucket.first)), out);
    PutVarint(bucket.overflows, out);
    PutVarint(bucket.skipped, out);
    PutValues(bucket.value, out);
    PutParts(bucket.parts, out);
  }
}

bool DecodeBuckets(std::string_view bytes, std::vector<PlacedBucket>* buckets) {
  while (!bytes.empty()) {
    PlacedBucket placed;
    if (!TakeBucket(&bytes, &placed)) return false;
    buckets->push_back(std::move(placed));
  }
  return true;
}

}  // namespace nanwatch
