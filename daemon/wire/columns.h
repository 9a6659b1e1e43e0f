// The columns of a batch: protobuf <-> model. Reading validates: lengths equal
// the rows, bitmaps fit, differences do not overflow.

#ifndef NANWATCH_WIRE_COLUMNS_H_
#define NANWATCH_WIRE_COLUMNS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/op.h"
#include "model/step.h"
#include "nanwatch/v1/ingest.pb.h"
#include "wire/complaint.h"

namespace nanwatch {

// Of every reader: `name` is the column's, for the complaint.

// Running sums of `deltas`.
Verdict ReadDeltas(const google::protobuf::RepeatedField<int64_t>& deltas,
                   std::string_view name, std::vector<int64_t>* out);
Verdict ReadDeltas(const google::protobuf::RepeatedField<int64_t>& deltas,
                   std::string_view name, std::vector<Time>* out);

// Bits beyond `rows` are cleared; no bit set gives an empty bitmap.
Verdict ReadBitmap(const std::string& bytes, std::string_view name, size_t rows,
                   Bitmap* out);

// A value in an absent row is read as 0, whatever stands there.
Verdict ReadColumn(const v1::DoubleColumn& from, std::string_view name,
                   size_t rows, Column* to);
Verdict ReadColumn(const v1::FloatColumn& from, std::string_view name,
                   size_t rows, OpStatColumn* to);
Verdict ReadColumn(const v1::BitColumn& from, std::string_view name,
                   size_t rows, FlagColumn* to);

// Counts of 0 and of absent rows are left out.
Verdict ReadColumn(const v1::CountColumn& from, std::string_view name,
                   size_t rows, SparseCounts* to);

// n values as they are; empty is not collected.
Verdict ReadDigest(const google::protobuf::RepeatedField<uint64_t>& from,
                   std::string_view name, size_t rows,
                   std::vector<uint64_t>* to);

void WriteDeltas(const std::vector<int64_t>& from,
                 google::protobuf::RepeatedField<int64_t>* to);
void WriteDeltas(const std::vector<Time>& from,
                 google::protobuf::RepeatedField<int64_t>* to);
void WriteColumn(const Column& from, v1::DoubleColumn* to);
void WriteColumn(const OpStatColumn& from, v1::FloatColumn* to);
void WriteColumn(const FlagColumn& from, v1::BitColumn* to);
// Sparse or dense, whichever is shorter.
void WriteColumn(const SparseCounts& from, size_t rows, v1::CountColumn* to);

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_COLUMNS_H_
