#include "compare/unsteady_ops.h"

#include <gmock/gmock.h>

#include "tests/unit/compare/recording.h"

namespace nanwatch {
namespace {

using R = Recording;

std::vector<std::string> NamesOf(const UnsteadyOps& unsteady) {
  std::vector<std::string> names;
  for (const UnsteadyOp& op : unsteady.ops) names.push_back(op.op);
  return names;
}

TEST(UnsteadyOpsTest, EqualRepeatsHaveNone) {
  const UnsteadyOps unsteady = FindUnsteadyOps(Healthy().run, Healthy().run);
  EXPECT_FALSE(unsteady.step);
  EXPECT_TRUE(unsteady.ops.empty());
}

TEST(UnsteadyOpsTest, NamesWhatMakesOtherBitsOfTheSame) {
  Recording b = Healthy();
  b.Move(1, R::kDrop, Slot::kOutput, 1e-7);
  const UnsteadyOps unsteady = FindUnsteadyOps(Healthy().run, b.run);
  EXPECT_EQ(unsteady.step, 1);
  EXPECT_THAT(NamesOf(unsteady), testing::ElementsAre("drop"));
  EXPECT_EQ(unsteady.ops[0].phase, Phase::kForward);
}

TEST(UnsteadyOpsTest, NamesBackwardPasses) {
  Recording b = Healthy();
  b.Move(0, R::kHeadBack, Slot::kGradInput, 1e-7);
  const UnsteadyOps unsteady = FindUnsteadyOps(Healthy().run, b.run);
  EXPECT_THAT(NamesOf(unsteady), testing::ElementsAre("head"));
  EXPECT_EQ(unsteady.ops[0].phase, Phase::kBackward);
}

TEST(UnsteadyOpsTest, AFunctionIsSaidToBeBeforeAModule) {
  Recording b = Healthy();
  b.Move(0, R::kHead, Slot::kInput, 1e-7);
  const UnsteadyOps unsteady = FindUnsteadyOps(Healthy().run, b.run);
  ASSERT_THAT(NamesOf(unsteady), testing::ElementsAre("head"));
  EXPECT_TRUE(unsteady.ops[0].before);
}

TEST(UnsteadyOpsTest, DataThatRacesIsTheData) {
  Recording b = Healthy();
  b.Move(0, R::kBatch, Slot::kInput, 1);
  const UnsteadyOps unsteady = FindUnsteadyOps(Healthy().run, b.run);
  ASSERT_FALSE(unsteady.ops.empty());
  EXPECT_EQ(unsteady.ops[0].phase, Phase::kBatch);
}

}  // namespace
}  // namespace nanwatch
