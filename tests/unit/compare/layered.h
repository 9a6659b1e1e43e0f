// Two recorded runs of a net of layers, one of them in bf16, made by hand.

#ifndef NANWATCH_TESTS_UNIT_COMPARE_LAYERED_H_
#define NANWATCH_TESTS_UNIT_COMPARE_LAYERED_H_

#include <cstdint>
#include <functional>
#include <random>
#include <string>

#include "compare/compared_run.h"

namespace nanwatch {

// Each layer is a Linear and what comes behind it. What one makes the next one
// gets, and back. The difference of a tensor is normal noise.
struct Layered {
  int layers = 4;
  int64_t steps = 3;
  std::string behind = "GELU";
  double noise = 0.005;  // of each tensor, as a share of its norm
  uint32_t seed = 0;
  std::string nan_from;  // the op whose output is the first with NaN in B
  // Changes what the difference of a tensor will be.
  using Change = std::function<void(int64_t step, const std::string& op,
                                    const std::string& type, Slot slot,
                                    SketchValues* difference)>;
  Change change = [](auto&&...) {};

  ComparedRun a, b;
  bool bad = false;  // what is made from now on has NaN in B

  void Make() {
    b.description.precision = "bf16";
    std::mt19937 random(seed);
    for (int64_t step = 0; step < steps; ++step) {
      for (ComparedRun* run : {&a, &b}) {
        run->steps.push_back({.step = step, .loss = 2.0});
      }
      uint64_t flows = Flow(step, 0);
      for (int i = 0; i < layers; ++i) {
        const std::string layer = "layers." + std::to_string(i);
        for (const auto& [op, type] :
             {std::pair{layer + ".up", std::string("Linear")},
              std::pair{layer + ".act", behind}}) {
          Tensor(step, op, type, Slot::kInput, flows, &random);
          Tensor(step, op, type, Slot::kOutput, ++flows, &random);
        }
      }
      flows = Flow(step, 1000);
      Tensor(step, Name(layers - 1, ".act"), behind + "Backward",
             Slot::kGradOutput, flows, &random);
      for (int i = layers - 1; i >= 0; --i) {
        Tensor(step, Name(i, ".act"), behind + "Backward", Slot::kGradInput,
               ++flows, &random);
        Tensor(step, Name(i, ".up"), "LinearBackward", Slot::kGradOutput, flows,
               &random);
        Tensor(step, Name(i, ".up"), "LinearBackward", Slot::kGradInput,
               ++flows, &random);
      }
    }
  }

 private:
  static uint64_t Flow(int64_t step, uint64_t from) {
    return 1'000'000 * static_cast<uint64_t>(step + 1) + from;
  }
  static std::string Name(int layer, const char* op) {
    return "layers." + std::to_string(layer) + op;
  }

  static uint32_t OpOf(const std::string& name, const std::string& type,
                       Dtype dtype, ComparedRun* run) {
    for (uint32_t i = 0; i < run->ops.size(); ++i) {
      if (run->ops[i].name == name && run->ops[i].type == type) return i;
    }
    OpName op;
    op.name = name;
    op.type = type;
    op.dtype = dtype;
    run->ops.push_back(op);
    return static_cast<uint32_t>(run->ops.size() - 1);
  }

  // `flows`: the number of the tensor, equal where it is the same one.
  void Tensor(int64_t step, const std::string& op, const std::string& type,
              Slot slot, uint64_t flows, std::mt19937* random) {
    std::mt19937 of_tensor(static_cast<uint32_t>(seed + flows));
    std::normal_distribution<float> normal;
    ComparedTensor tensor;
    tensor.step = step;
    tensor.op = OpOf(op, type, Dtype::kFp32, &a);
    tensor.slot = slot;
    tensor.elements = 4096;
    tensor.digest = flows;
    SketchValues values, difference;
    for (size_t i = 0; i < kSketchSums; ++i) {
      values[i] = normal(of_tensor);
      difference[i] = static_cast<float>(noise) * normal(*random);
    }
    change(step, op, type, slot, &difference);
    tensor.sketch = values;
    tensor.nan = tensor.inf = 0;
    a.tensors.push_back(tensor);
    bad = bad || (op == nan_from && slot == Slot::kOutput);
    tensor.nan = bad ? 1 : 0;
    tensor.op = OpOf(op, type, Dtype::kBf16, &b);
    tensor.digest = flows + 500'000;
    for (size_t i = 0; i < kSketchSums; ++i) {
      (*tensor.sketch)[i] += difference[i];
    }
    b.tensors.push_back(tensor);
  }
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_COMPARE_LAYERED_H_
