#include "diagnose/actions.h"

#include <gmock/gmock.h>

#include <set>

namespace nanwatch {
namespace {

TEST(ActionsTest, EveryCauseHasAGeneralAction) {
  for (int i = 0; i < kCauses; ++i) {
    const std::vector<Action> actions =
        ActionsFor(static_cast<Cause>(i), {}, "no such framework");
    ASSERT_FALSE(actions.empty()) << Name(static_cast<Cause>(i));
    EXPECT_EQ(actions[0].framework, "");
    EXPECT_TRUE(actions[0].sentence.ends_with("."));
  }
}

TEST(ActionsTest, OnlyThoseOfTheRunsFrameworkWhenItIsKnown) {
  for (const Action& action :
       ActionsFor(Cause::kHarmlessPadding, {}, "keras")) {
    EXPECT_TRUE(action.framework.empty() || action.framework == "keras");
  }
  std::set<std::string> all;
  for (const Action& action : ActionsFor(Cause::kHarmlessPadding, {}, "")) {
    all.insert(action.framework);
  }
  EXPECT_EQ(all.size(), 9u);
  bool found = false;
  for (const Action& a : ActionsFor(Cause::kHarmlessPadding, {}, "ascend_tf")) {
    found =
        found || a.sentence.find("FixedLossScaleManager") != std::string::npos;
  }
  EXPECT_TRUE(found);
}

TEST(ActionsTest, NoCureIsAdvisedThatTheRunDeclares) {
  RunDescription run;
  run.scaler.kind = ScalingKind::kStatic;
  run.scaler.overflow_check = false;
  for (const char* framework : {"", "ascend_tf", "pytorch"}) {
    const std::vector<Action> actions =
        ActionsFor(Cause::kHarmlessPadding, run, framework);
    ASSERT_EQ(actions.size(), 1u);
    EXPECT_EQ(actions[0].sentence,
              "Nothing: the update is applied all the same. To silence even "
              "this note, mask the padding before the op.");
  }
  EXPECT_GT(ActionsFor(Cause::kScaleIndependentOp, run, "").size(), 1u);
  // A fixed scale that is checked skips updates as any other does.
  for (const std::optional<bool> check : {std::optional<bool>(), {true}}) {
    run.scaler.overflow_check = check;
    EXPECT_GT(ActionsFor(Cause::kHarmlessPadding, run, "pytorch").size(), 1u);
  }
}

TEST(ActionsTest, FrameworkIsWhatTheRunSaysElseWhatItsScalerTells) {
  RunDescription run;
  RunEvidence evidence;
  EXPECT_EQ(FrameworkOf(run, evidence), "");
  evidence.scaler = "jmp";
  EXPECT_EQ(FrameworkOf(run, evidence), "jax");
  run.framework = "Megatron-LM";
  EXPECT_EQ(FrameworkOf(run, evidence), "megatron");
  run.framework = "torch_npu";
  EXPECT_EQ(FrameworkOf(run, evidence), "pytorch");
}

}  // namespace
}  // namespace nanwatch
