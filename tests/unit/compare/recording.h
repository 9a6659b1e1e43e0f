// A small recorded run, made by hand.

#ifndef NANWATCH_TESTS_UNIT_COMPARE_RECORDING_H_
#define NANWATCH_TESTS_UNIT_COMPARE_RECORDING_H_

#include <gmock/gmock.h>

#include <bit>

#include "compare/compared_run.h"

namespace nanwatch {

// A run of a few ops: an input, three modules in a row, their gradients back,
// and the gradient of a weight.
class Recording {
 public:
  Recording() {
    Add("fc.weight", "Parameter");
    Add("batch", "Batch");
    Add("fc", "Linear");
    Add("drop", "Dropout");
    Add("head", "Linear");
    Add("fc", "LinearBackward");
    Add("head", "LinearBackward");
  }

  // Values of the tensors of a step, in order; `noise` is what each differs by
  // from what another seed of it would make, as a share.
  void Step(int64_t step, double noise = 0) {
    ComparedStep told;
    told.step = step;
    told.loss = 2.0 + 0.01 * static_cast<double>(step);
    told.learning_rate = 1e-3;
    told.batch = 100 + static_cast<uint64_t>(step);
    run.steps.push_back(told);
    Tensor(step, kWeight, Slot::kParameter, 0);
    Tensor(step, kBatch, Slot::kInput, 0);
    Tensor(step, kFc, Slot::kInput, noise);
    Tensor(step, kFc, Slot::kOutput, noise);
    Tensor(step, kDrop, Slot::kInput, noise);
    Tensor(step, kDrop, Slot::kOutput, noise);
    Tensor(step, kHead, Slot::kInput, noise);
    Tensor(step, kHead, Slot::kOutput, noise);
    Tensor(step, kHeadBack, Slot::kGradOutput, noise);
    Tensor(step, kHeadBack, Slot::kGradInput, noise);
    Tensor(step, kFcBack, Slot::kGradInput, noise);
    Tensor(step, kWeight, Slot::kGradInput, noise);
  }

  // Moves a tensor by `share` of its norm, and all after it by as much.
  void Move(int64_t step, uint32_t op, Slot slot, double share) {
    bool begun = false;
    for (ComparedTensor& tensor : run.tensors) {
      if (tensor.step != step) continue;
      begun = begun || (tensor.op == op && tensor.slot == slot);
      if (begun) Shift(share, &tensor);
    }
    ASSERT_TRUE(begun);
  }

  static constexpr uint32_t kWeight = 0, kBatch = 1, kFc = 2, kDrop = 3,
                            kHead = 4, kFcBack = 5, kHeadBack = 6;
  ComparedRun run;

 private:
  void Add(const char* name, const char* type) {
    OpName op;
    op.name = name;
    op.type = type;
    op.dtype = Dtype::kFp32;
    run.ops.push_back(op);
  }

  static void Shift(double share, ComparedTensor* tensor) {
    *tensor->digest ^= std::bit_cast<uint64_t>(share);
    for (size_t i = 0; i < kSketchSums; ++i) {
      (*tensor->sketch)[i] +=
          static_cast<float>(share) * (i % 2 == 0 ? 1.f : -1.f);
    }
  }

  void Tensor(int64_t step, uint32_t op, Slot slot, double noise) {
    ComparedTensor tensor;
    tensor.step = step;
    tensor.op = op;
    tensor.slot = slot;
    tensor.elements = 100;
    tensor.digest = 1000 + op;
    tensor.sketch.emplace();
    tensor.sketch->fill(1);
    if (noise != 0) Shift(noise, &tensor);
    run.tensors.push_back(tensor);
  }
};

inline Recording Healthy(double noise = 0, int64_t steps = 3) {
  Recording recording;
  for (int64_t step = 0; step < steps; ++step) recording.Step(step, noise);
  return recording;
}

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_COMPARE_RECORDING_H_
