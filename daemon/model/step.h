// StepRecord: what one rank says of one update, applied or skipped. Batches
// travel and are kept as columns; detectors see one row at a time.

#ifndef NANWATCH_MODEL_STEP_H_
#define NANWATCH_MODEL_STEP_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace nanwatch {

// The numbers of a step. kGradNorm is unscaled, before clipping;
// kAppliedGradNorm is of the gradients that the optimizer got.
enum class StepField : uint8_t {
  kLoss,
  kLossScale,
  kGradNorm,
  kUpdateNorm,
  kParamNorm,
  kLearningRate,
  kZeroFraction,       // of gradient elements, 0..1
  kUnderflowFraction,  // of gradient elements, 0..1
  kConsumedSamples,
  kAppliedGradNorm,
};
inline constexpr int kStepFields = 10;
std::string_view Name(StepField field);  // "loss", "loss_scale", ...

// Row bits beside the numbers.
enum class StepFlag : uint8_t {
  kOverflow,  // the framework found Inf/NaN, or the device float status is set
  kSkipped,   // the optimizer did not apply the update
};
inline constexpr int kStepFlags = 2;

// A bit a row, packed from the lowest bit of the first byte.
using Bitmap = std::vector<uint8_t>;
inline bool TestBit(const Bitmap& bits, size_t row) {
  return row / 8 < bits.size() && (bits[row / 8] >> (row % 8) & 1) != 0;
}

// Not collected: no Column at all. Absent: the row's bit in `absent` is set
// (the value there is 0). NaN and infinities are values like any other.
struct Column {
  std::vector<double> values;  // one a row
  Bitmap absent;               // empty: none is absent
};
struct FlagColumn {
  Bitmap values;
  Bitmap absent;
};

// Ascend's float status: 8 words, [0] != 0 means overflow since the last clear.
struct FloatStatus {
  uint32_t row = 0;
  std::array<int32_t, 8> words{};
  bool combined = false;  // already reduced over the ranks
};

// What is wrong with how an update was made, as its client saw it. Kept in
// history as a number: new ones go to the end.
enum class UpdateFault : uint8_t {
  kNone,
  kNoBackward,    // no gradients: no backward pass made any
  kZeroed,        // gradients were cleared before the update
  kNoRate,        // the learning rate is 0
  kOtherWeights,  // the optimizer holds none of the model's
  kNoStep,        // gradients, and no optimizer is called
  kAllZero,       // all gradients are exactly 0
  kNotCleared,    // on top of gradients of the update before
  kNotUnscaled,   // gradients still times the loss scale
  kNotHeld,       // `of` gets gradients, and no optimizer has it
  kHeldBack,      // the same, before what is trained: may well be meant
  kNeverCalled,   // `of` gets gradients, and its optimizer's step() never comes
  kClippedScaled,  // gradients were clipped before they were unscaled
  kNotReached,     // an optimizer has `of`, and no backward pass reaches it
  kClimbing,       // they minimise the negative of a cross-entropy
  kNotScaled,      // unscaled gradients of a loss that never had the scale
  kCutOff,         // as kNotReached, but `of` runs with a graph, before what is
                   // trained
};
inline constexpr int kUpdateFaults = 17;
// Tells whether `fault` is one of a part of the model: the rest learns.
constexpr bool IsOfPart(UpdateFault fault) {
  return fault == UpdateFault::kNotHeld || fault == UpdateFault::kHeldBack ||
         fault == UpdateFault::kNeverCalled ||
         fault == UpdateFault::kNotReached || fault == UpdateFault::kCutOff;
}
struct UpdateFacts {
  uint32_t row = 0;
  UpdateFault fault = UpdateFault::kNone;
  // Of the elements of weights in 16 bits that had a gradient: what the last
  // updates left as it was, 0..1. Absent: not measured at this row.
  std::optional<double> stuck;
  std::string of;  // the part of the model that the fault is of
};

// The data that a row trained on, as the program numbers it: both included.
struct SampleRange {
  uint32_t row = 0;
  int64_t first = 0;
  int64_t last = 0;
};

// Of the data that a row trained on: see proto/SKETCH.md.
struct BatchDigest {
  uint32_t row = 0;
  uint64_t digest = 0;
  bool operator==(const BatchDigest&) const = default;
};

// Layer-wise loss scaling: the scale of one op's layer at one row.
struct LayerScale {
  uint32_t row = 0;
  uint32_t op = 0;  // index into the session's op names
  double scale = 1;
};

// The layer-wise scales of one row at a glance. One that is NaN or infinite
// counts as the lowest; of equal ones the first.
struct LayerExtremes {
  uint32_t layers = 0;  // 0: none in the row
  uint32_t lowest_op = 0;
  uint32_t highest_op = 0;
  double lowest = 0;
  double highest = 0;
};
LayerExtremes ExtremesOf(std::span<const LayerScale> scales);

// What a client sees of how all updates of a batch are made.
struct UpdatesSeen {
  bool fresh_gradients = false;  // each update's are made anew
  // The loss goes through weights that others train, for a loss of their own.
  bool rival_loss = false;
  bool follows_rewards = false;  // the loss does
  bool objective_moves = false;  // weights of the loss's terms do
  bool operator==(const UpdatesSeen&) const = default;
};

// Columns of n rows, in the order the client pushed them.
struct StepColumns {
  std::vector<int64_t> step;  // n
  std::vector<Time> time;     // n; the daemon's, see engine/admission.h
  std::array<std::optional<Column>, kStepFields> field;
  std::array<std::optional<FlagColumn>, kStepFlags> flag;
  // Names of the optimizers in this batch; empty: one without a name.
  std::vector<std::string> optimizers;
  std::vector<uint8_t> optimizer;          // n indices, or empty: all rows 0
  std::vector<uint64_t> replica_digest;    // n, or empty: not collected
  std::vector<FloatStatus> float_status;   // sorted by row
  std::vector<LayerScale> layer_scales;    // sorted by row
  std::vector<UpdateFacts> update_facts;   // sorted by row
  std::vector<SampleRange> samples;        // sorted by row
  std::vector<BatchDigest> batch_digests;  // sorted by row
  // Ids of the request that this batch answers; 0: none.
  uint64_t request_id = 0;
  UpdatesSeen seen;

  size_t rows() const { return step.size(); }
};

// One row. Copies of numbers; pointers stay valid as long as the batch.
struct StepRecord {
  int64_t step = 0;
  Time time{};
  uint32_t present = 0;  // bit f: field f has a value in this row
  uint8_t flags_present = 0;
  uint8_t flags = 0;
  uint8_t optimizer = 0;         // index into StepColumns::optimizers
  bool fresh_gradients = false;  // as in UpdatesSeen
  std::array<double, kStepFields> value{};
  std::optional<uint64_t> replica_digest;
  const FloatStatus* float_status = nullptr;  // null: not collected
  std::span<const LayerScale> layer_scales;
  const UpdateFacts* update = nullptr;   // null: nothing was seen
  const SampleRange* samples = nullptr;  // null: not collected

  bool has(StepField f) const {
    return (present >> static_cast<int>(f) & 1) != 0;
  }
  // Returns the number. REQUIRES: has(f).
  double operator[](StepField f) const { return value[static_cast<int>(f)]; }
  std::optional<double> get(StepField f) const {
    return has(f) ? std::optional<double>((*this)[f]) : std::nullopt;
  }
  // True when it is told so; an absent flag is neither true nor false.
  bool is(StepFlag f) const { return (flags >> static_cast<int>(f) & 1) != 0; }
  bool is_not(StepFlag f) const {
    return (flags_present >> static_cast<int>(f) & 1) != 0 && !is(f);
  }
};

// Reads rows 0 .. n-1 of `columns` in order, at a few nanoseconds each.
class StepReader {
 public:
  // Reads `columns`, which must outlive this, unchanged.
  explicit StepReader(const StepColumns& columns);
  // False after the last row.
  bool Next(StepRecord* record);

 private:
  // A column that was collected.
  struct Collected {
    int index = 0;
    const double* values = nullptr;
    const Bitmap* absent = nullptr;  // null: none is absent
  };
  void ReadFlags(size_t row, StepRecord* record) const;
  void ReadRest(size_t row, StepRecord* record);

  const StepColumns& columns_;
  const size_t rows_;
  std::array<Collected, kStepFields> field_;
  int fields_ = 0;  // of field_: how many were collected
  // Flags that were collected, never absent and never set.
  uint8_t calm_flags_ = 0;
  bool other_flags_ = false;
  bool rest_ = false;  // there is more than numbers and flags
  size_t row_ = 0;
  size_t status_ = 0;
  size_t scale_ = 0;
  size_t fact_ = 0;
  size_t range_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_MODEL_STEP_H_
