#include "wire/columns.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace nanwatch {
namespace {

using google::protobuf::RepeatedField;

Complaint WrongLength(std::string_view name, size_t holds, size_t rows) {
  return {fmt::format("column {} holds {} values for {} rows; send one a row",
                      name, holds, rows),
          ""};
}

template <typename Out, typename Convert>
Verdict SumDeltas(const RepeatedField<int64_t>& deltas, std::string_view name,
                  std::vector<Out>* out, Convert&& convert) {
  const size_t n = deltas.size();
  out->resize(n);
  int64_t sum = 0;
  bool overflow = false;
  for (size_t i = 0; i < n; ++i) {
    overflow |= __builtin_add_overflow(sum, deltas[i], &sum);
    (*out)[i] = convert(sum);
  }
  if (!overflow) return std::nullopt;
  return Complaint{
      fmt::format("column {} leaves 64 bits; send the first value, then "
                  "differences",
                  name),
      ""};
}

// Differences of neighbours wrap like unsigned numbers, so that reading them
// back never overflows for values that were read in.
template <typename In, typename Convert>
void PutDeltas(const std::vector<In>& from, RepeatedField<int64_t>* to,
               Convert&& convert) {
  to->Resize(static_cast<int>(from.size()), 0);
  int64_t before = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t value = convert(from[i]);
    to->Set(static_cast<int>(i),
            static_cast<int64_t>(static_cast<uint64_t>(value) -
                                 static_cast<uint64_t>(before)));
    before = value;
  }
}

template <typename T>
void ClearAbsent(const Bitmap& absent, std::vector<T>* values) {
  for (size_t byte = 0; byte < absent.size(); ++byte) {
    for (unsigned bits = absent[byte]; bits != 0; bits &= bits - 1) {
      (*values)[byte * 8 + std::countr_zero(bits)] = 0;
    }
  }
}

void DropIfEmpty(Bitmap* bits) {
  const bool any = std::any_of(bits->begin(), bits->end(),
                               [](uint8_t byte) { return byte != 0; });
  if (!any) bits->clear();
}

void PutBytes(const Bitmap& from, std::string* to) {
  to->assign(from.begin(), from.end());
}

template <typename T>
Verdict ReadValues(const RepeatedField<T>& from, const std::string& absent,
                   std::string_view name, size_t rows, std::vector<T>* values,
                   Bitmap* missing) {
  if (static_cast<size_t>(from.size()) != rows) {
    return WrongLength(name, from.size(), rows);
  }
  values->assign(from.begin(), from.end());
  if (absent.empty()) return std::nullopt;
  if (Verdict wrong = ReadBitmap(absent, name, rows, missing)) return wrong;
  ClearAbsent(*missing, values);
  return std::nullopt;
}

Verdict ReadSparse(const v1::CountColumn& from, std::string_view name,
                   size_t rows, SparseCounts* to) {
  const int n = from.row_gaps_size();
  to->rows.reserve(n);
  to->counts.reserve(n);
  uint64_t row = 0;
  for (int i = 0; i < n; ++i) {
    const uint32_t gap = from.row_gaps(i);
    row += gap;
    if ((i > 0 && gap == 0) || row >= rows) {
      return Complaint{
          fmt::format("column {} names row {} of {} in entry {}; rows must "
                      "rise and stay below the row count",
                      name, row, rows, i),
          ""};
    }
    if (from.counts(i) == 0) continue;
    to->rows.push_back(static_cast<uint32_t>(row));
    to->counts.push_back(from.counts(i));
  }
  return std::nullopt;
}

void ReadDense(const v1::CountColumn& from, SparseCounts* to) {
  const size_t n = from.counts_size();
  to->rows.resize(n);
  to->counts.resize(n);
  size_t kept = 0;
  for (size_t row = 0; row < n; ++row) {
    const uint64_t count = from.counts(static_cast<int>(row));
    to->rows[kept] = static_cast<uint32_t>(row);
    to->counts[kept] = count;
    kept += count != 0;
  }
  to->rows.resize(kept);
  to->counts.resize(kept);
}

void DropAbsent(SparseCounts* column) {
  size_t kept = 0;
  for (size_t i = 0; i < column->rows.size(); ++i) {
    if (TestBit(column->absent, column->rows[i])) continue;
    column->rows[kept] = column->rows[i];
    column->counts[kept++] = column->counts[i];
  }
  column->rows.resize(kept);
  column->counts.resize(kept);
}

}  // namespace

Verdict ReadDeltas(const RepeatedField<int64_t>& deltas, std::string_view name,
                   std::vector<int64_t>* out) {
  return SumDeltas(deltas, name, out, [](int64_t v) { return v; });
}

Verdict ReadDeltas(const RepeatedField<int64_t>& deltas, std::string_view name,
                   std::vector<Time>* out) {
  return SumDeltas(deltas, name, out, FromMicros);
}

Verdict ReadBitmap(const std::string& bytes, std::string_view name, size_t rows,
                   Bitmap* out) {
  if (bytes.size() > (rows + 7) / 8) {
    return Complaint{
        fmt::format("column {} has a bitmap of {} bytes for {} rows; at most "
                    "{} are needed",
                    name, bytes.size(), rows, (rows + 7) / 8),
        ""};
  }
  out->assign(bytes.begin(), bytes.end());
  if (out->size() * 8 > rows) {
    out->back() &= static_cast<uint8_t>((1u << rows % 8) - 1);
  }
  DropIfEmpty(out);
  return std::nullopt;
}

Verdict ReadColumn(const v1::DoubleColumn& from, std::string_view name,
                   size_t rows, Column* to) {
  return ReadValues(from.values(), from.absent(), name, rows, &to->values,
                    &to->absent);
}

Verdict ReadColumn(const v1::FloatColumn& from, std::string_view name,
                   size_t rows, OpStatColumn* to) {
  return ReadValues(from.values(), from.absent(), name, rows, &to->values,
                    &to->absent);
}

Verdict ReadColumn(const v1::BitColumn& from, std::string_view name,
                   size_t rows, FlagColumn* to) {
  if (Verdict wrong = ReadBitmap(from.values(), name, rows, &to->values)) {
    return wrong;
  }
  if (Verdict wrong = ReadBitmap(from.absent(), name, rows, &to->absent)) {
    return wrong;
  }
  const size_t both = std::min(to->values.size(), to->absent.size());
  for (size_t i = 0; i < both; ++i) {
    to->values[i] &= static_cast<uint8_t>(~to->absent[i]);
  }
  DropIfEmpty(&to->values);
  return std::nullopt;
}

Verdict ReadColumn(const v1::CountColumn& from, std::string_view name,
                   size_t rows, SparseCounts* to) {
  if (Verdict wrong = ReadBitmap(from.absent(), name, rows, &to->absent)) {
    return wrong;
  }
  const size_t counts = from.counts_size();
  if (from.row_gaps_size() > 0) {
    if (counts != static_cast<size_t>(from.row_gaps_size())) {
      return Complaint{
          fmt::format("column {} holds {} counts for {} named rows; send one "
                      "each",
                      name, counts, from.row_gaps_size()),
          ""};
    }
    if (Verdict wrong = ReadSparse(from, name, rows, to)) return wrong;
  } else if (counts > 0) {
    if (counts != rows) return WrongLength(name, counts, rows);
    ReadDense(from, to);
  }
  if (!to->absent.empty()) DropAbsent(to);
  return std::nullopt;
}

Verdict ReadDigest(const RepeatedField<uint64_t>& from, std::string_view name,
                   size_t rows, std::vector<uint64_t>* to) {
  if (!from.empty() && static_cast<size_t>(from.size()) != rows) {
    return WrongLength(name, from.size(), rows);
  }
  to->assign(from.begin(), from.end());
  return std::nullopt;
}

void WriteDeltas(const std::vector<int64_t>& from, RepeatedField<int64_t>* to) {
  PutDeltas(from, to, [](int64_t v) { return v; });
}

void WriteDeltas(const std::vector<Time>& from, RepeatedField<int64_t>* to) {
  PutDeltas(from, to, ToMicros);
}

void WriteColumn(const Column& from, v1::DoubleColumn* to) {
  to->mutable_values()->Assign(from.values.begin(), from.values.end());
  if (!from.absent.empty()) PutBytes(from.absent, to->mutable_absent());
}

void WriteColumn(const OpStatColumn& from, v1::FloatColumn* to) {
  to->mutable_values()->Assign(from.values.begin(), from.values.end());
  if (!from.absent.empty()) PutBytes(from.absent, to->mutable_absent());
}

void WriteColumn(const FlagColumn& from, v1::BitColumn* to) {
  if (!from.values.empty()) PutBytes(from.values, to->mutable_values());
  if (!from.absent.empty()) PutBytes(from.absent, to->mutable_absent());
}

void WriteColumn(const SparseCounts& from, size_t rows, v1::CountColumn* to) {
  const size_t n = from.rows.size();
  if (!from.absent.empty()) PutBytes(from.absent, to->mutable_absent());
  if (2 * n > rows) {
    to->mutable_counts()->Resize(static_cast<int>(rows), 0);
    for (size_t i = 0; i < n; ++i) {
      to->set_counts(static_cast<int>(from.rows[i]), from.counts[i]);
    }
    return;
  }
  to->mutable_row_gaps()->Reserve(static_cast<int>(n));
  uint32_t before = 0;
  for (const uint32_t row : from.rows) {
    to->mutable_row_gaps()->AddAlreadyReserved(row - before);
    before = row;
  }
  to->mutable_counts()->Assign(from.counts.begin(), from.counts.end());
}

}  // namespace nanwatch
