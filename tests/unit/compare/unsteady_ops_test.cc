#include "compare/unsteady_ops.h"

#include <gmock/gmock.h>

#include <utility>

#include "tests/unit/compare/recording.h"

namespace nanwatch {
namespace {

using R = Recording;
using Named = std::vector<std::pair<std::string, std::string>>;

// Kind and op of each.
Named NamesOf(const UnsteadyOps& unsteady) {
  Named names;
  for (const Unsteady& one : unsteady.ops) {
    names.emplace_back(Name(one.kind), one.op);
  }
  return names;
}

UnsteadyOps Find(const Recording& other) {
  return FindUnsteadyOps(Healthy().run, other.run);
}

TEST(UnsteadyOpsTest, EqualRepeatsHaveNone) {
  const UnsteadyOps unsteady = Find(Healthy());
  EXPECT_FALSE(unsteady.step);
  EXPECT_TRUE(unsteady.ops.empty());
}

TEST(UnsteadyOpsTest, NamesWhatMakesOtherBitsOfTheSame) {
  Recording b = Healthy();
  b.Move(1, R::kDrop, Slot::kOutput, 1e-7);
  const UnsteadyOps unsteady = Find(b);
  EXPECT_EQ(unsteady.step, 1);
  EXPECT_EQ(NamesOf(unsteady), (Named{{"op", "drop"}}));
  EXPECT_GT(unsteady.ops[0].distance.value_or(0), 0);
}

// What it makes is of another shape than what it gets, so it has two names.
TEST(UnsteadyOpsTest, AnOpThatChangesTheShapeIsNamed) {
  const auto reshaped = [](Recording recording) {
    recording.run.ops.push_back(recording.run.ops[R::kDrop]);
    recording.run.ops.back().logical_shape = {10};
    for (ComparedTensor& tensor : recording.run.tensors) {
      if (tensor.op == R::kDrop && tensor.slot == Slot::kOutput) {
        tensor.op = static_cast<uint32_t>(recording.run.ops.size()) - 1;
      }
    }
    return recording;
  };
  const Recording a = reshaped(Healthy());
  Recording b = a;
  b.Move(0, static_cast<uint32_t>(a.run.ops.size()) - 1, Slot::kOutput, 1e-7);
  EXPECT_EQ(NamesOf(FindUnsteadyOps(a.run, b.run)), (Named{{"op", "drop"}}));
}

TEST(UnsteadyOpsTest, NamesBackwardPasses) {
  Recording b = Healthy();
  b.Move(0, R::kHeadBack, Slot::kGradInput, 1e-7);
  EXPECT_EQ(NamesOf(Find(b)), (Named{{"backward", "head"}}));
}

TEST(UnsteadyOpsTest, AFunctionHasModulesBeforeAndBehindIt) {
  Recording b = Healthy();
  b.Move(0, R::kHead, Slot::kInput, 1e-7);
  const UnsteadyOps unsteady = Find(b);
  EXPECT_EQ(NamesOf(unsteady), (Named{{"function", "head"}}));
  EXPECT_EQ(unsteady.ops[0].after, "drop");
}

TEST(UnsteadyOpsTest, DataThatRacesIsTheDataAndNothingElse) {
  Recording b = Healthy();
  b.Move(0, R::kBatch, Slot::kInput, 1);
  EXPECT_EQ(NamesOf(Find(b)), (Named{{"data", "batch"}}));
}

TEST(UnsteadyOpsTest, DataOfAStepWithoutTensorsIsTheData) {
  Recording a = Healthy(), b = Healthy();
  for (Recording* recording : {&a, &b}) {
    ComparedStep step;
    step.step = 3;
    step.loss = recording == &a ? 2 : 3;
    step.batch = recording == &a ? 7 : 8;
    recording->run.steps.push_back(step);
  }
  const UnsteadyOps unsteady = FindUnsteadyOps(a.run, b.run);
  EXPECT_EQ(unsteady.step, 3);
  EXPECT_EQ(NamesOf(unsteady), (Named{{"data", ""}}));
}

// Other weights make other outputs of the same inputs: no op is accused of it.
TEST(UnsteadyOpsTest, OtherFirstWeightsAreNoOps) {
  Recording b = Healthy();
  b.Move(0, R::kWeight, Slot::kParameter, 0.1);
  for (ComparedTensor& tensor : b.run.tensors) {
    if (tensor.op == R::kBatch ||
        (tensor.op == R::kFc && tensor.slot == Slot::kInput)) {
      tensor.digest = 1000 + tensor.op;
    }
  }
  EXPECT_EQ(NamesOf(Find(b)), (Named{{"weights", "fc.weight"}}));
}

TEST(UnsteadyOpsTest, WeightsThatPartBetweenTwoStepsAreTheOptimizers) {
  Recording b = Healthy();
  b.Move(1, R::kWeight, Slot::kParameter, 1e-7);
  const UnsteadyOps unsteady = Find(b);
  EXPECT_EQ(unsteady.step, 1);
  EXPECT_EQ(NamesOf(unsteady)[0], (Named{{"update", "fc.weight"}})[0]);
}

TEST(UnsteadyOpsTest, ALossOfEqualOutputsIsTheLoss) {
  Recording b = Healthy();
  b.run.steps[1].loss = 5;
  const UnsteadyOps unsteady = Find(b);
  EXPECT_EQ(unsteady.step, 1);
  EXPECT_EQ(NamesOf(unsteady), (Named{{"loss", ""}}));
}

TEST(UnsteadyOpsTest, AWeightsGradientOfEqualGradientsIsNamed) {
  Recording b = Healthy();
  b.Move(2, R::kWeight, Slot::kGradInput, 1e-7);
  EXPECT_EQ(NamesOf(Find(b)), (Named{{"gradient", "fc.weight"}}));
}

}  // namespace
}  // namespace nanwatch
