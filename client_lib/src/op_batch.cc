#include "client_lib/src/op_batch.h"

#include "client_lib/src/columns.h"
#include "client_lib/src/enum_number.h"

namespace nanwatch_client {
namespace {

namespace v1 = nanwatch::v1;

struct Count {
  uint32_t bit;
  uint64_t nanwatch_op_status::*value;
  v1::CountColumn* (v1::OpBatch::*column)();
};
constexpr Count kCounts[] = {
    {NANWATCH_OP_NAN, &nanwatch_op_status::nan, &v1::OpBatch::mutable_nan},
    {NANWATCH_OP_POS_INF, &nanwatch_op_status::pos_inf,
     &v1::OpBatch::mutable_pos_inf},
    {NANWATCH_OP_NEG_INF, &nanwatch_op_status::neg_inf,
     &v1::OpBatch::mutable_neg_inf},
    {NANWATCH_OP_SATURATED, &nanwatch_op_status::saturated,
     &v1::OpBatch::mutable_saturated},
    {NANWATCH_OP_ZERO, &nanwatch_op_status::zero, &v1::OpBatch::mutable_zero},
    {NANWATCH_OP_SUBNORMAL, &nanwatch_op_status::subnormal,
     &v1::OpBatch::mutable_subnormal},
};

struct OpNumber {
  uint32_t bit;
  float nanwatch_op_status::*value;
  v1::FloatColumn* (v1::OpBatch::*column)();
};
constexpr OpNumber kOpNumbers[] = {
    {NANWATCH_OP_MIN, &nanwatch_op_status::min, &v1::OpBatch::mutable_min},
    {NANWATCH_OP_MAX, &nanwatch_op_status::max, &v1::OpBatch::mutable_max},
    {NANWATCH_OP_ABS_MAX, &nanwatch_op_status::abs_max,
     &v1::OpBatch::mutable_abs_max},
    {NANWATCH_OP_MEAN, &nanwatch_op_status::mean, &v1::OpBatch::mutable_mean},
    {NANWATCH_OP_RMS, &nanwatch_op_status::rms, &v1::OpBatch::mutable_rms},
    {NANWATCH_OP_LOG2_MEAN, &nanwatch_op_status::log2_mean,
     &v1::OpBatch::mutable_log2_mean},
    {NANWATCH_OP_LOG2_STD, &nanwatch_op_status::log2_std,
     &v1::OpBatch::mutable_log2_std},
    {NANWATCH_OP_FP8_AMAX, &nanwatch_op_status::fp8_amax,
     &v1::OpBatch::mutable_fp8_amax},
    {NANWATCH_OP_FP8_SCALE_INV, &nanwatch_op_status::fp8_scale_inv,
     &v1::OpBatch::mutable_fp8_scale_inv},
};

bool HasDigest(const nanwatch_op_status& row) {
  return (row.present & NANWATCH_OP_DIGEST) != 0;
}

// Sparse while few rows are listed: a gap is a byte mostly, as is a 0 among the
// dense. `listed(row)` says which rows count, `value(row)` what.
template <typename Listed, typename Value>
void EncodeCounts(OpRows rows, const Listed& listed, const Value& value,
                  bool may_be_dense, v1::CountColumn* column) {
  size_t rows_listed = 0;
  for (const nanwatch_op_status* row : rows) rows_listed += listed(*row);
  const bool dense = may_be_dense && 2 * rows_listed > rows.size();
  uint32_t previous = 0;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const bool counts = listed(*rows[i]);
    if (!counts && !dense) continue;
    if (!dense) column->add_row_gaps(i - previous);
    previous = i;
    column->add_counts(counts ? value(*rows[i]) : 0);
  }
}

void EncodeStepRuns(OpRows rows, v1::OpBatch* batch) {
  int64_t step = 0;
  int64_t time_us = 0;
  for (size_t i = 0; i < rows.size();) {
    size_t end = i;
    while (end < rows.size() && rows[end]->step == rows[i]->step) ++end;
    batch->add_step_rows(static_cast<uint32_t>(end - i));
    batch->add_step_deltas(WrappingDelta(rows[i]->step, &step));
    batch->add_time_us_deltas(WrappingDelta(rows[i]->time_us, &time_us));
    i = end;
  }
}

v1::Slot WireSlot(const nanwatch_slot& slot) {
  const int number = EnumNumber(slot);
  return number >= v1::SLOT_INPUT && number <= v1::SLOT_COLLECTIVE
             ? static_cast<v1::Slot>(number)
             : v1::SLOT_OUTPUT;
}

void EncodePlaces(OpRows rows, v1::OpBatch* batch) {
  int32_t op = 0;
  bool one_slot = true;
  for (const nanwatch_op_status* row : rows) {
    batch->add_op_deltas(row->op - op);
    op = row->op;
    one_slot &= WireSlot(row->slot) == WireSlot(rows[0]->slot);
  }
  for (const nanwatch_op_status* row : rows) {
    batch->add_slots(WireSlot(row->slot));
    if (one_slot) break;
  }
}

template <typename Member>
void EncodeCountColumn(OpRows rows, uint32_t bit, Member member,
                       v1::CountColumn* column) {
  const auto value = [member](const nanwatch_op_status& row) -> uint64_t {
    return row.*member;
  };
  const auto listed = [bit, member](const nanwatch_op_status& row) {
    return (row.present & bit) != 0 && row.*member != 0;
  };
  EncodeCounts(rows, listed, value, true, column);
  for (size_t i = 0; i < rows.size(); ++i) {
    if ((rows[i]->present & bit) == 0) SetBit(i, column->mutable_absent());
  }
}

void EncodeElements(OpRows rows, std::span<const uint64_t> op_elements,
                    v1::OpBatch* batch) {
  const auto listed = [op_elements](const nanwatch_op_status& row) {
    const auto op = static_cast<size_t>(row.op);
    const uint64_t shape = op < op_elements.size() ? op_elements[op] : 0;
    return (row.present & NANWATCH_OP_ELEMENTS) != 0 && row.elements != shape;
  };
  const auto value = [](const nanwatch_op_status& row) { return row.elements; };
  // A 0 among the dense would say "no elements" rather than "as the shape".
  v1::CountColumn column;
  EncodeCounts(rows, listed, value, false, &column);
  if (column.counts_size() != 0) batch->mutable_elements()->Swap(&column);
}

void EncodeSketches(OpRows rows, v1::OpBatch* batch) {
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const float* sketch = rows[i]->sketch;
    if (sketch == nullptr) continue;
    batch->mutable_sketches()->add_rows(i);
    batch->mutable_sketches()->mutable_values()->Add(
        sketch, sketch + NANWATCH_SKETCH_SUMS);
  }
}

void EncodeExponents(OpRows rows, v1::OpBatch* batch) {
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const nanwatch_exponents* exponents = rows[i]->exponents;
    if (exponents == nullptr) continue;
    v1::ExponentCounts* column = batch->add_exponents();
    column->set_row(i);
    column->set_first(exponents->first);
    column->mutable_counts()->Add(exponents->counts,
                                  exponents->counts + exponents->size);
  }
}

}  // namespace

size_t OpBatchRows(OpRows rows, size_t max_rows) {
  // 1,000 rows with a full fp32 histogram each are 600 KB.
  constexpr size_t kExponentCounts = 300'000;
  size_t exponent_counts = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const nanwatch_op_status& row = *rows[i];
    if (row.exponents != nullptr) exponent_counts += row.exponents->size;
    if (i == 0) continue;
    if (i >= max_rows || row.request_id != rows[0]->request_id ||
        HasDigest(row) != HasDigest(*rows[0]) ||
        exponent_counts > kExponentCounts) {
      return i;
    }
  }
  return rows.size();
}

v1::OpBatch EncodeOps(OpRows rows, std::span<const uint64_t> op_elements,
                      int64_t sent_time_us) {
  v1::OpBatch batch;
  batch.set_sent_time_us(sent_time_us);
  if (rows.empty()) return batch;
  EncodeStepRuns(rows, &batch);
  EncodePlaces(rows, &batch);
  EncodeElements(rows, op_elements, &batch);
  for (const Count& count : kCounts) {
    if (!AnyPresent(rows, count.bit)) continue;
    EncodeCountColumn(rows, count.bit, count.value, (batch.*count.column)());
  }
  for (const OpNumber& number : kOpNumbers) {
    if (!AnyPresent(rows, number.bit)) continue;
    EncodeValues(rows, number.bit, number.value, (batch.*number.column)());
  }
  if (AnyPresent(rows, NANWATCH_OP_DEVICE_FLAG)) {
    EncodeCountColumn(rows, NANWATCH_OP_DEVICE_FLAG,
                      &nanwatch_op_status::device_flag,
                      batch.mutable_device_flag());
  }
  if (HasDigest(*rows[0])) {
    for (const nanwatch_op_status* row : rows) batch.add_digest(row->digest);
  }
  EncodeExponents(rows, &batch);
  EncodeSketches(rows, &batch);
  batch.set_request_id(rows[0]->request_id);
  return batch;
}

}  // namespace nanwatch_client
