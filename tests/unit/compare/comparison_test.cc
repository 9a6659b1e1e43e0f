#include "compare/comparison.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/unit/compare/recording.h"

namespace nanwatch {
namespace {

TEST(CompareTest, EqualRunsAgree) {
  const Comparison c = Compare(Healthy().run, Healthy().run);
  EXPECT_FALSE(c.first);
  EXPECT_FALSE(c.bits);
  EXPECT_EQ(c.tensors, 36u);
  EXPECT_EQ(c.loss.steps, 3u);
  EXPECT_FALSE(c.loss.first_step);
}

TEST(CompareTest, RoundingsAreNoDivergence) {
  const Comparison c = Compare(Healthy().run, Healthy(1e-7).run);
  EXPECT_FALSE(c.first);
  ASSERT_TRUE(c.bits);
  EXPECT_EQ(c.bits->op, "fc");
  EXPECT_GT(*c.unseen, 1e-7);
}

struct Case {
  const char* name;
  uint32_t op;
  Slot slot;
  DivergenceClass kind;
  const char* named;
};

class FirstDivergence : public testing::TestWithParam<Case> {};

TEST_P(FirstDivergence, IsNamed) {
  for (const double noise : {0.0, 1e-7}) {
    const Case& expected = GetParam();
    Recording b = Healthy(noise);
    b.Move(0, expected.op, expected.slot, 1e-3);
    const Comparison c = Compare(Healthy().run, b.run);
    ASSERT_TRUE(c.first);
    EXPECT_EQ(c.first->kind, expected.kind);
    EXPECT_EQ(c.first->op, expected.named);
    EXPECT_EQ(c.first->step, 0);
  }
}

using R = Recording;
INSTANTIATE_TEST_SUITE_P(
    Classes, FirstDivergence,
    testing::Values(Case{"weights", R::kWeight, Slot::kParameter,
                         DivergenceClass::kOtherWeights, "fc.weight"},
                    Case{"data", R::kBatch, Slot::kInput,
                         DivergenceClass::kOtherData, "batch"},
                    Case{"op", R::kFc, Slot::kOutput,
                         DivergenceClass::kDivergentOp, "fc"},
                    Case{"seed", R::kDrop, Slot::kOutput,
                         DivergenceClass::kOtherSeed, "drop"},
                    Case{"function", R::kHead, Slot::kInput,
                         DivergenceClass::kDivergentFunction, "head"},
                    Case{"loss", R::kHeadBack, Slot::kGradOutput,
                         DivergenceClass::kDivergentLoss, "loss"},
                    Case{"backward", R::kHeadBack, Slot::kGradInput,
                         DivergenceClass::kDivergentBackward, "head"},
                    Case{"weight's gradient", R::kWeight, Slot::kGradInput,
                         DivergenceClass::kDivergentBackward, "fc.weight"}),
    [](const auto& info) { return "n" + std::to_string(info.index); });

TEST(CompareTest, OtherLossOfEqualOutputsIsTheLosses) {
  Recording b = Healthy();
  b.run.steps[0].loss = 3.0;
  const Comparison c = Compare(Healthy().run, b.run);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->kind, DivergenceClass::kDivergentLoss);
}

TEST(CompareTest, LossesThatPartBehindTheLastTensorsAreNoAgreement) {
  for (const double noise : {0.0, 1e-7}) {
    Recording a = Healthy(), b = Healthy(noise);
    for (int64_t step = 3; step < 60; ++step) {
      const double far = step < 10 ? 2.0 : 3.0;
      a.run.steps.push_back({.step = step, .loss = 2.0});
      b.run.steps.push_back(
          {.step = step, .loss = noise > 0 ? far + noise : far});
    }
    const Comparison c = Compare(a.run, b.run);
    EXPECT_EQ(LossesPartLater(c), noise > 0);
    ASSERT_EQ(c.first.has_value(), noise == 0);
    if (!c.first) continue;
    EXPECT_EQ(c.first->kind, DivergenceClass::kBetweenSteps);
    EXPECT_EQ(c.first->known_equal, 2);
    EXPECT_EQ(c.first->step, 10);
  }
}

TEST(CompareTest, DataOfOtherStepsIsOtherDataWithItsShift) {
  Recording b = Healthy();
  for (size_t i = 1; i < 3; ++i) b.run.steps[i].batch = 100 + i + 1;
  const Comparison c = Compare(Healthy(0, 5).run, b.run);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->kind, DivergenceClass::kOtherData);
  EXPECT_EQ(c.first->step, 1);
  EXPECT_EQ(c.batches.shift, 1);
  EXPECT_FALSE(c.batches.begins_anew);
}

// A restart at step 80, whose attempt before had come to 90.
TEST(CompareTest, ARestartWithItsDataFromTheStartBeginsAnew) {
  for (const bool anew : {true, false}) {
    Recording before, after;
    for (int64_t step = 0; step < 90; ++step) before.Step(step);
    for (int64_t step = 80; step < 90; ++step) after.Step(step);
    for (ComparedStep& step : after.run.steps) {
      if (anew) step.batch = *step.batch - 80;
    }
    const Comparison c = Compare(before.run, after.run);
    EXPECT_EQ(c.batches.begins_anew, anew);
    EXPECT_EQ(c.first.has_value(), anew);
    if (!anew) continue;
    EXPECT_EQ(c.first->kind, DivergenceClass::kOtherData);
    EXPECT_EQ(c.first->step, 80);
    EXPECT_EQ(c.batches.shift, -80);
  }
}

// Digests at the first steps of each process, then at each 8th step: the first
// step that both have, 88, has the batch of step 7, which the run before has.
TEST(CompareTest, ARestartBeginsAnewAlsoWhereDigestsAreSeldom) {
  Recording before, after;
  for (int64_t step = 0; step < 90; ++step) before.Step(step);
  for (int64_t step = 81; step < 90; ++step) after.Step(step);
  for (ComparedStep& step : before.run.steps) {
    if (step.step >= 8 && step.step % 8) step.batch.reset();
  }
  for (ComparedStep& step : after.run.steps) step.batch = *step.batch - 81;
  const Comparison c = Compare(before.run, after.run);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->step, 88);
  EXPECT_TRUE(c.batches.begins_anew);
}

TEST(CompareTest, UpdatesOfEqualGradientsAreTheOptimizers) {
  Recording b = Healthy();
  b.Move(1, R::kWeight, Slot::kParameter, 1e-3);
  Comparison c = Compare(Healthy().run, b.run);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->kind, DivergenceClass::kOptimizer);
  b.run.steps[0].learning_rate = 2e-3;
  c = Compare(Healthy().run, b.run);
  EXPECT_EQ(c.first->kind, DivergenceClass::kOtherSchedule);
  EXPECT_EQ(c.first->step, 0);
}

TEST(CompareTest, WhatPartsWhereNothingIsRecordedIsSaidSo) {
  Recording a = Healthy(), b = Healthy();
  for (Recording* each : {&a, &b}) {
    for (int64_t step = 3; step < 32; ++step) {
      ComparedStep told;
      told.step = step;
      told.loss = each == &b && step >= 20 ? 1.5 : 1.0;
      each->run.steps.push_back(told);
    }
    each->Step(32);
  }
  b.Move(32, R::kWeight, Slot::kParameter, 1e-3);
  const Comparison c = Compare(a.run, b.run);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->kind, DivergenceClass::kBetweenSteps);
  EXPECT_EQ(c.first->step, 20);
  EXPECT_EQ(c.first->known_equal, 2);
}

// A step of another summation order: Adam makes whole steps of the signs of
// gradients that are nothing but noise.
TEST(CompareTest, WeightsThatNoiseMovedAccuseNobody) {
  Recording b = Healthy(1e-7);
  for (ComparedTensor& tensor : b.run.tensors) {
    if (tensor.step > 0 && tensor.slot == Slot::kParameter) {
      tensor.digest = 7;
      tensor.sketch->fill(1.2f);
    }
  }
  EXPECT_FALSE(Compare(Healthy().run, b.run).first);
}

// Of fc's output at the first step: so many NaN, and another digest.
Recording WithNan(uint64_t nan, double noise) {
  Recording recording = Healthy(noise);
  for (ComparedTensor& tensor : recording.run.tensors) {
    tensor.nan = tensor.inf = 0;
    if (tensor.step != 0 || tensor.op != R::kFc) continue;
    if (tensor.slot != Slot::kOutput) continue;
    tensor.nan = nan;
    *tensor.digest += nan;
  }
  return recording;
}

TEST(CompareTest, NansOfOneRunAloneAreADivergence) {
  for (const double noise : {0.0, 1e-7}) {
    const Comparison c = Compare(WithNan(0, 0).run, WithNan(1, noise).run);
    ASSERT_TRUE(c.first);
    EXPECT_EQ(c.first->kind, DivergenceClass::kDivergentOp);
    EXPECT_EQ(c.first->op, "fc");
    EXPECT_EQ(c.first->nan_a, 0u);
    EXPECT_EQ(c.first->nan_b, 1u);
  }
}

TEST(CompareTest, NansOfBothAreNone) {
  EXPECT_FALSE(Compare(WithNan(2, 0).run, WithNan(2, 1e-7).run).first);
  EXPECT_FALSE(Compare(WithNan(2, 1e-7).run, WithNan(3, 2e-7).run).first);
}

TEST(CompareTest, ALossThatIsNoNumberInOneIsTold) {
  Recording b = Healthy();
  b.run.steps[2].loss = NAN;
  const Comparison c = Compare(Healthy().run, b.run);
  ASSERT_TRUE(c.loss.bad_in_b);
  EXPECT_EQ(c.loss.bad_in_b->step, 2);
  EXPECT_TRUE(std::isnan(c.loss.bad_in_b->b));
  EXPECT_FALSE(c.loss.bad_in_a);
}

TEST(CompareTest, RunsWithoutACommonStepAreNotComparable) {
  Recording b;
  b.Step(7);
  EXPECT_FALSE(Compare(Healthy().run, b.run).comparable());
  EXPECT_FALSE(Compare(ComparedRun(), ComparedRun()).comparable());
}

TEST(CompareTest, TensorsOfOneRunAloneAreCounted) {
  Recording b = Healthy();
  b.run.tensors.erase(b.run.tensors.begin() + 4);
  const Comparison c = Compare(Healthy().run, b.run);
  EXPECT_EQ(c.only_a, 1u);
  EXPECT_EQ(c.only_b, 0u);
  EXPECT_FALSE(c.first);
}

TEST(CompareTest, WrappersDoNotChangeNames) {
  Recording b = Healthy();
  for (OpName& op : b.run.ops) op.name = "module._orig_mod." + op.name;
  b.run.ops[1].name = "batch";
  const Comparison c = Compare(Healthy().run, b.run);
  EXPECT_EQ(c.only_a, 0u);
  EXPECT_EQ(c.tensors, 36u);
}

// Two ranks against one, or a batch that is accumulated.
TEST(CompareTest, OfABatchInPartsTheWeightsAreCompared) {
  Recording b = Healthy(1e-6);
  for (const uint32_t op :
       {R::kBatch, R::kFc, R::kDrop, R::kHead, R::kFcBack, R::kHeadBack}) {
    b.run.ops[op].logical_shape = {2, 50};
  }
  for (ComparedStep& step : b.run.steps) {
    *step.batch += 1;
    *step.loss += 0.1;
  }
  Comparison c = Compare(Healthy().run, b.run);
  EXPECT_TRUE(c.other_layout);
  EXPECT_FALSE(c.first);
  b.Move(0, R::kWeight, Slot::kGradInput, 1e-2);
  c = Compare(Healthy().run, b.run);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->kind, DivergenceClass::kBeforeGradients);
  // Whether the reduction is wrong or what comes before it nobody knows.
  b.run.several_ranks = true;
  c = Compare(Healthy().run, b.run);
  EXPECT_EQ(c.first->kind, DivergenceClass::kBeforeGradients);
}

TEST(CompareTest, WhereTheBackwardPassAgreesTheReductionDiffers) {
  Recording b = Healthy();
  b.Move(0, R::kWeight, Slot::kGradInput, 1e-2);
  b.run.several_ranks = true;
  const Comparison c = Compare(Healthy().run, b.run);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->kind, DivergenceClass::kCollective);
}

TEST(CompareTest, AnotherShapeIsADivergence) {
  Recording b = Healthy();
  b.run.ops[R::kFc].logical_shape = {4, 25};
  const Comparison c = Compare(Healthy().run, b.run);
  ASSERT_TRUE(c.first);
  EXPECT_TRUE(c.first->other_shape);
  EXPECT_EQ(c.first->op, "fc");
}

}  // namespace
}  // namespace nanwatch
