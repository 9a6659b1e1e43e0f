#include "compare/amplification.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nanwatch {
namespace {

// The tensors of one op at one step, the same in both runs.
class OneOp {
 public:
  // `norm`: of the tensor.
  void Add(const std::string& type, Slot slot, double norm, uint64_t elements) {
    OpName op;
    op.name = "fc";
    op.type = type;
    run_.ops.push_back(op);
    ComparedTensor tensor;
    tensor.op = static_cast<uint32_t>(run_.ops.size() - 1);
    tensor.slot = slot;
    tensor.elements = elements;
    tensor.digest = run_.ops.size();
    tensor.sketch.emplace().fill(
        static_cast<float>(norm / std::sqrt(kSketchSums)));
    run_.tensors.push_back(tensor);
  }

  std::optional<double> Amplified(const std::string& op = "fc") const {
    const PairedStep step = PairTensors(run_, run_.tensors, run_, run_.tensors);
    return Amplification(step).Of(op);
  }

 private:
  ComparedRun run_;
};

// Noise of a 100 at each of 16 elements becomes twice as much at each of 64
// elements, as a gradient does on the way back; the norm grows by five.
TEST(AmplificationTest, TheWayBackMeasuresTheWayForward) {
  OneOp op;
  op.Add("Linear", Slot::kInput, 10, 16);
  op.Add("Linear", Slot::kOutput, 50, 64);
  op.Add("LinearBackward", Slot::kGradOutput, 3, 64);
  EXPECT_FALSE(op.Amplified());
  op.Add("LinearBackward", Slot::kGradInput, 6, 16);
  ASSERT_TRUE(op.Amplified());
  EXPECT_NEAR(*op.Amplified(), 2.0 * std::sqrt(64.0 / 16) / 5, 1e-6);
  EXPECT_FALSE(op.Amplified("other"));
}

// A tensor that others read, too, has a sum of gradients.
TEST(AmplificationTest, ItsOwnShareCountsAndNotTheSumOfAll) {
  OneOp op;
  op.Add("LayerNorm", Slot::kInput, 4, 16);
  op.Add("LayerNorm", Slot::kOutput, 4, 16);
  op.Add("LayerNormBackward", Slot::kGradOutput, 1, 16);
  op.Add("LayerNormBackwardSum", Slot::kGradInput, 9, 16);
  EXPECT_NEAR(op.Amplified().value_or(0), 9, 1e-6);
  op.Add("LayerNormBackward", Slot::kGradInput, 1.5, 16);
  op.Add("LayerNormBackwardSum", Slot::kGradInput, 9, 16);
  EXPECT_NEAR(op.Amplified().value_or(0), 1.5, 1e-6);
}

TEST(AmplificationTest, AnOutputOfZeroTellsNothing) {
  OneOp op;
  op.Add("Linear", Slot::kInput, 4, 16);
  op.Add("Linear", Slot::kOutput, 0, 16);
  op.Add("LinearBackward", Slot::kGradOutput, 1, 16);
  op.Add("LinearBackward", Slot::kGradInput, 1, 16);
  EXPECT_FALSE(op.Amplified());
}

}  // namespace
}  // namespace nanwatch
