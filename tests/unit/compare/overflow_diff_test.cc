// Overflows of a run that its benchmark has not.

#include "compare/overflow_diff.h"

#include <gtest/gtest.h>

#include <string>

namespace nanwatch {
namespace {

ComparedTensor Tensor(int64_t step, Slot slot, uint64_t inf,
                      std::optional<double> largest = {}) {
  ComparedTensor tensor;
  tensor.step = step;
  tensor.slot = slot;
  tensor.elements = 100;
  tensor.nan = 0;
  tensor.inf = inf;
  if (largest) {
    tensor.statistics = TensorStatistics{.min = 0, .max = *largest};
  }
  return tensor;
}

// One op in fp16, and steps with a loss scale.
ComparedRun OneOp(double scale = 1024) {
  ComparedRun run;
  OpName op;
  op.name = "fc";
  op.dtype = Dtype::kFp16;
  run.ops.push_back(op);
  for (int64_t step = 0; step < 20; ++step) {
    ComparedStep record;
    record.step = step;
    record.loss_scale = scale;
    run.steps.push_back(record);
  }
  return run;
}

TEST(OverflowDiffTest, AnOverflowWhereTheBenchmarkIsCleanIsAbnormal) {
  ComparedRun a = OneOp(), b = OneOp();
  a.tensors = {Tensor(3, Slot::kOutput, 0, 12.0)};
  b.tensors = {Tensor(3, Slot::kInput, 0), Tensor(3, Slot::kOutput, 2)};
  const OverflowDiff diff = DiffOverflows(a, b);
  ASSERT_EQ(diff.only_b.size(), 1u);
  EXPECT_EQ(diff.only_b[0].in_a, OpBeside::kClean);
  EXPECT_EQ(diff.only_b[0].overflow.op, "fc");
  EXPECT_EQ(diff.only_b[0].overflow.step, 3);
  EXPECT_TRUE(diff.abnormal());
  EXPECT_EQ(SeverityOf(diff), Severity::kWarning);
}

TEST(OverflowDiffTest, OneThatBothHaveIsNone) {
  ComparedRun a = OneOp(), b = OneOp();
  a.tensors = {Tensor(3, Slot::kOutput, 1)};
  b.overflows = {{3, "fc", "AI Core", ""}};
  const OverflowDiff diff = DiffOverflows(a, b);
  EXPECT_EQ(diff.both, 1u);
  EXPECT_TRUE(diff.only_b.empty());
  EXPECT_EQ(SeverityOf(diff), Severity::kNone);
}

TEST(OverflowDiffTest, WhatIsOnlyPassedOnIsNotNamed) {
  ComparedRun a = OneOp(), b = OneOp();
  a.tensors = {Tensor(3, Slot::kOutput, 0)};
  b.tensors = {Tensor(3, Slot::kInput, 1), Tensor(3, Slot::kOutput, 1)};
  EXPECT_FALSE(DiffOverflows(a, b).any());
}

TEST(OverflowDiffTest, NextToTheLimitOfTheFormatIsForInformation) {
  ComparedRun a = OneOp(), b = OneOp();
  a.tensors = {Tensor(3, Slot::kOutput, 0, 70000.0)};  // in fp32
  b.tensors = {Tensor(3, Slot::kOutput, 2)};
  const OverflowDiff diff = DiffOverflows(a, b);
  ASSERT_EQ(diff.only_b.size(), 1u);
  EXPECT_EQ(diff.only_b[0].in_a, OpBeside::kNearLimit);
  EXPECT_EQ(SeverityOf(diff), Severity::kInfo);
}

TEST(OverflowDiffTest, GradientsAreLookedAtWithTheOthersLossScale) {
  ComparedRun a = OneOp(1), b = OneOp(65536);
  a.tensors = {Tensor(3, Slot::kGradInput, 0, 2.0)};
  b.tensors = {Tensor(3, Slot::kGradInput, 2)};
  EXPECT_EQ(DiffOverflows(a, b).only_b.at(0).in_a, OpBeside::kNearLimit);
  b = OneOp(2);
  b.tensors = {Tensor(3, Slot::kGradInput, 2)};
  EXPECT_EQ(DiffOverflows(a, b).only_b.at(0).in_a, OpBeside::kClean);
}

TEST(OverflowDiffTest, ABenchmarkThatSaysNothingOfTheOpIsNoWitness) {
  ComparedRun a = OneOp(), b = OneOp();
  b.overflows = {{3, "fc", "AI Core", ""}};
  EXPECT_EQ(DiffOverflows(a, b).only_b.at(0).in_a, OpBeside::kUnknown);
  EXPECT_FALSE(DiffOverflows(a, b).abnormal());
  EXPECT_EQ(SeverityOf(DiffOverflows(a, b)), Severity::kWarning);
  // A device that looks for overflows and finds none says that there is none,
  // of the steps that it has.
  a.device_checked = true;
  EXPECT_EQ(DiffOverflows(a, b).only_b.at(0).in_a, OpBeside::kClean);
  b.overflows[0].step = 99;
  EXPECT_EQ(DiffOverflows(a, b).only_b.at(0).in_a, OpBeside::kUnknown);
}

TEST(OverflowDiffTest, ManyLostUpdatesAreCritical) {
  ComparedRun a = OneOp(), b = OneOp();
  for (int64_t step = 0; step < 16; ++step) {
    a.tensors.push_back(Tensor(step, Slot::kOutput, 0));
    b.tensors.push_back(Tensor(step, Slot::kOutput, 1));
    b.steps[static_cast<size_t>(step)].skipped = true;
  }
  const OverflowDiff diff = DiffOverflows(a, b);
  EXPECT_EQ(diff.abnormal_steps, 16u);
  EXPECT_EQ(diff.updates_lost, 16u);
  EXPECT_EQ(SeverityOf(diff), Severity::kCritical);
  b.steps[0].skipped = false;
  EXPECT_EQ(SeverityOf(DiffOverflows(a, b)), Severity::kWarning);
}

}  // namespace
}  // namespace nanwatch
