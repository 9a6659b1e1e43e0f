// OpTrends: what healthy op statuses of a rank leave behind: sums over the
// gradients of a step, and the usual scale and zeros of each FP8 tensor. So
// that a change can be judged although healthy statuses are not kept.

#ifndef NANWATCH_ENGINE_OP_TRENDS_H_
#define NANWATCH_ENGINE_OP_TRENDS_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "detect/context.h"
#include "engine/layer_watch.h"
#include "model/op.h"

namespace nanwatch {

// Walks the rows of one batch upwards, so that what is sparse costs no search.
class SparseRows {
 public:
  explicit SparseRows(const OpColumns& columns) : columns_(columns) {}
  // Counts zeros; nullopt where they are absent or not collected. REQUIRES:
  // rows never fall.
  std::optional<uint64_t> Zeros(size_t row) {
    return At(OpCount::kZero, row, &zero_);
  }
  std::optional<uint64_t> Saturated(size_t row) {
    return At(OpCount::kSaturated, row, &saturated_);
  }
  // Returns the counts; null where they are not collected.
  const ExponentCounts* Exponents(size_t row);
  // True when it holds NaN or Inf, or the device flagged it.
  bool IsBad(size_t row);

 private:
  std::optional<uint64_t> At(OpCount count, size_t row, size_t* cursor) const;
  static bool Lists(const std::optional<SparseCounts>& column, size_t row,
                    size_t* cursor);

  const OpColumns& columns_;
  size_t zero_ = 0;
  size_t saturated_ = 0;
  size_t exponents_ = 0;
  std::array<size_t, 4> bad_{};  // NaN, +Inf, -Inf, flag
};

class OpTrends {
 public:
  // Begins the rows of `step`.
  void NextStep(int64_t step);
  // Takes in the zeros of the output of an op, whose name has the hash `name`:
  // a mask's (of a ReLU, of dropout) are zeros in the gradient of its input, at
  // any scale.
  void AddMask(uint64_t name, uint64_t elements, uint64_t zeros);
  // Takes in a gradient of the op `name` (0: not known), in fp16 or not,
  // whose place in the execution order is `order`. `seen`: there were gradients
  // of this op before.
  void AddGradient(const OpColumns& columns, size_t row, int32_t order,
                   bool fp16, bool seen, SparseRows* sparse, uint64_t name = 0);
  // Takes in a tensor in FP8. True when the row is worth a look; `trend` says
  // why.
  bool AddFp8(const OpColumns& columns, size_t row, Dtype dtype,
              SparseRows* sparse, OpTrend* trend);

  // Takes in the weights of an op. Returns their largest magnitude, if it is
  // told. `ordinary`: it was below kWildWeight before. What was not is meant to
  // be so large, and says nothing of the others.
  std::optional<float> AddWeight(const OpColumns& columns, size_t row,
                                 bool ordinary);
  // Returns the largest magnitude of all but `op`, where `step` is one of the
  // last kLooks with weights; -1 where it is none, or there are no others.
  float OtherWeights(int64_t step, uint32_t op) const;

  // Forgets what was before `step`. False: no op status of it came. Null
  // gradients: none of them was of a gradient that says anything. The pointer
  // is good until the next call.
  struct OfStep {
    bool collected = false;
    const StepGradients* gradients = nullptr;
  };
  OfStep At(int64_t step);

  LayerWatch& layers() { return layers_; }
  const LayerWatch& layers() const { return layers_; }

  template <typename A>
  friend void Fields(A& archive, OpTrends& t) {
    archive(t.current_, t.sums_, t.head_, t.zeroed_, t.fp8_, t.weights_,
            t.masks_, t.handed_on_, t.layers_);
  }

 private:
  struct StepSum {
    int64_t step = std::numeric_limits<int64_t>::min();
    StepGradients gradients;
  };
  // Steps with weights that may wait for their records.
  static constexpr size_t kLooks = 16;
  // The largest weights of a step, and those of all other ops.
  struct Weights {
    int64_t step = std::numeric_limits<int64_t>::min();
    uint32_t op = 0;
    float largest = -1;
    float others = -1;
  };
  // One FP8 tensor.
  struct Fp8 {
    uint32_t op = 0;
    Slot slot = Slot::kInput;
    uint8_t seen = 0;    // statuses, up to 255
    uint16_t above = 0;  // statuses in a row with many more zeros than usual
    float scale_inv = 0;
    float zeros = 0;  // usual share
  };
  // The zeros of an output.
  struct Mask {
    uint64_t name = 0;  // a hash
    uint64_t elements = 0;
    uint64_t zeros = 0;
  };
  // Returns how many of a gradient's zeros are those of a mask.
  uint64_t ZerosOfMask(Slot slot, uint64_t name, uint64_t elements,
                       uint64_t zeros);
  // Takes in a gradient of an op that is exactly 0, or of one that was.
  void AddZeroed(uint32_t op, Slot slot, bool zero, bool seen);
  static OfStep Of(const StepSum& sum);
  Fp8* Find(uint32_t op, Slot slot);
  void AddRange(const OpColumns& columns, size_t row, int32_t order,
                uint64_t name, SparseRows* sparse);
  void AddFp8Range(const OpColumns& columns, size_t row, Dtype dtype, float inv,
                   SparseRows* sparse);

  StepSum current_;
  std::vector<StepSum> sums_;  // of earlier steps, rising; [head_, end) wait
  size_t head_ = 0;
  // (op, slot) in one number, of gradients that are exactly 0, rising; at most
  // limits::kZeroedTensors.
  std::vector<uint64_t> zeroed_;
  std::vector<Weights> weights_;  // of the last steps with any, oldest first
  std::vector<Fp8> fp8_;          // by (op, slot)
  std::vector<Mask> masks_;       // of this step, in the order they came
  Mask handed_on_;  // that of the newest gradient which left an op
  LayerWatch layers_;
  size_t next_ = 0;  // of fp8_: where the next row most likely is
};

}  // namespace nanwatch

#endif  // NANWATCH_ENGINE_OP_TRENDS_H_
