// OpStatus: what one rank says of one op's tensor at one step. The op itself
// (name, type, shapes) travels once.

#ifndef NANWATCH_MODEL_OP_H_
#define NANWATCH_MODEL_OP_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/step.h"

namespace nanwatch {

enum class Dtype : uint8_t {
  kUnknown,
  kFp64,
  kFp32,
  kFp16,
  kBf16,
  kFp8E4M3,  // OCP e4m3fn: no infinities, max 448
  kFp8E5M2,  // max 57344
};
constexpr Dtype Last(Dtype) { return Dtype::kFp8E5M2; }
std::string_view Name(Dtype dtype);
// Returns the largest finite value: 65504 of fp16, +infinity (never near) of
// kUnknown.
double MaxFinite(Dtype dtype);
// Returns the smallest positive subnormal value; 0 for kUnknown.
double MinSubnormal(Dtype dtype);

enum class Slot : uint8_t {
  kInput,
  kOutput,
  kGradInput,   // gradient with respect to the op's input
  kGradOutput,  // gradient that arrives at the op's output
  kParameter,
  kOptimizerState,
  kCollective,
};
inline constexpr int kSlots = 7;
constexpr Slot Last(Slot) { return Slot::kCollective; }
std::string_view Name(Slot slot);
// True in the backward pass.
constexpr bool IsOfGradient(Slot slot) {
  return slot == Slot::kGradInput || slot == Slot::kGradOutput;
}

struct OpName {
  std::string name;         // e.g. "encoder.layers.3.fc1" or "loss/Log"
  std::string type;         // e.g. "Linear", "Log"; may be empty
  std::string data_format;  // e.g. "ND", "FRACTAL_NZ"; may be empty
  Dtype dtype = Dtype::kUnknown;
  std::vector<int64_t> logical_shape;  // empty: unknown or a scalar
  // What memory holds, padding included; empty: the same as logical_shape.
  std::vector<int64_t> storage_shape;
  int32_t order = -1;  // place in the execution order; -1: unknown
  // One of several ranks' parts of a tensor, as its digests and sketches say.
  bool part = false;
};
// Counts the elements of a shape; 0 when it is unknown or does not fit in 64
// bits.
uint64_t Elements(const std::vector<int64_t>& shape);
// Counts storage - logical; 0 when equal or unknown.
uint64_t PaddingElements(const OpName& op);

// Sequenced entries of one session: op indices first_index, first_index + 1,
// ...
struct OpNames {
  uint32_t first_index = 0;
  std::vector<OpName> ops;
};

enum class OpCount : uint8_t {
  kNan,
  kPosInf,
  kNegInf,
  kSaturated,  // finite and exactly +-max of the dtype
  kZero,
  kSubnormal,
};
inline constexpr int kOpCounts = 6;
std::string_view Name(OpCount count);

enum class OpStat : uint8_t {
  kMin,  // of finite elements, as the four that follow
  kMax,
  kAbsMax,
  kMean,
  kRms,
  kLog2Mean,  // of log2|x| over finite non-zero elements
  kLog2Std,
  kFp8Amax,
  kFp8ScaleInv,
};
inline constexpr int kOpStats = 9;
std::string_view Name(OpStat stat);

// A column of counts that are mostly zero: the rows that are not, ascending.
// Not collected: no SparseCounts at all. Rows not listed are 0.
struct SparseCounts {
  std::vector<uint32_t> rows;
  std::vector<uint64_t> counts;  // as long as rows; none is 0
  Bitmap absent;                 // rows where it was not collected
  bool operator==(const SparseCounts&) const = default;
};
// Returns a row's count; nullopt: it was not collected.
std::optional<uint64_t> CountAt(const std::optional<SparseCounts>& column,
                                size_t row);
struct OpStatColumn {
  std::vector<float> values;  // one a row
  Bitmap absent;
};
// Finite non-zero elements a binary exponent: counts[i] have exponent first + i
// (floor(log2|x|)). From it underflow at any other scale follows exactly.
struct ExponentCounts {
  uint32_t row = 0;
  int32_t first = 0;
  std::vector<uint64_t> counts;
};

// By linear sketches two runs are compared: see proto/SKETCH.md.
inline constexpr size_t kSketchSums = 16;
struct Sketches {
  std::vector<uint32_t> rows;  // that have one, rising
  std::vector<float> values;   // kSketchSums a row; all finite
  // Elements that are not in the values, by place in `rows`; absent: not
  // counted.
  std::optional<SparseCounts> nan;
  std::optional<SparseCounts> inf;
  bool operator==(const Sketches&) const = default;
};

// Rows of one step that came at one time: those behind the group before it.
struct OpGroup {
  int64_t step = 0;
  Time time{};       // the daemon's, see engine/admission.h
  uint32_t end = 0;  // the row behind its last one
  bool operator==(const OpGroup&) const = default;
};

// Columns of n rows; an op's rows of one step in execution order.
struct OpColumns {
  std::vector<OpGroup> groups;     // of all rows
  std::vector<uint32_t> op;        // n, indices into the session's op names
  std::vector<Slot> slot;          // n
  std::vector<uint64_t> elements;  // n; what the statistics cover
  std::array<std::optional<SparseCounts>, kOpCounts> count;
  std::array<std::optional<OpStatColumn>, kOpStats> stat;
  std::optional<SparseCounts> device_flag;  // float status [0] around the op
  std::vector<uint64_t> digest;             // n, or empty: not collected
  std::vector<ExponentCounts> exponents;    // sorted by row
  Sketches sketches;
  uint64_t request_id = 0;

  size_t rows() const { return op.size(); }
  // Adds the step and time of the next `n` rows.
  void AddGroup(int64_t step, Time time, size_t n = 1);
  // REQUIRES: row < rows().
  const OpGroup& GroupOf(size_t row) const;
};

// One row, for the slow path and for reading. nullopt: absent or not collected.
struct OpStatus {
  int64_t step = 0;
  Time time{};
  uint32_t op = 0;
  Slot slot = Slot::kOutput;
  uint64_t elements = 0;
  std::array<std::optional<uint64_t>, kOpCounts> count;
  std::array<std::optional<float>, kOpStats> stat;
  std::optional<bool> device_flag;

  std::optional<uint64_t> get(OpCount c) const {
    return count[static_cast<int>(c)];
  }
  std::optional<float> get(OpStat s) const { return stat[static_cast<int>(s)]; }
  // Counts NaN and infinities; saturated ones only where `saturation` says that
  // the device hides infinities that way. 0 when nothing was collected.
  uint64_t BadElements(bool saturation) const;
};
// Returns the largest index in the column `op`; 0 without rows.
uint32_t LargestOp(const OpColumns& columns);
// True where rows say what runs are compared by and nothing that is judged.
bool IsForComparing(const OpColumns& columns);
// Reads one row, at the cost of a binary search a count column. REQUIRES: row <
// columns.rows().
OpStatus ReadRow(const OpColumns& columns, size_t row);

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_OP_H_
