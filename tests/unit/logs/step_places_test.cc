// Where lines of no known program show their step: in front of what they say,
// in a bar of few signs, in lines above, in thousands.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

std::string Told(std::string_view lines) {
  return ToldFacts("key_value", lines);
}

TEST(StepPlaces, ARatioInFrontIsTheStepAndNotTheEpisode) {
  EXPECT_EQ(Told(" 192/500: episode: 1, episode steps: 192, loss: 2.5\n"
                 " 359/500: episode: 2, episode steps: 167, loss: nan"),
            "step=1 loss=2.5\nstep=359 loss=nan\n");
  EXPECT_EQ(Told("episode: 1, loss: 2.5\nepisode: 2, loss: 2.5"),
            "step=1 loss=2.5\nstep=2 loss=2.5\n");
}

TEST(StepPlaces, WhatIsOfTheRunMayBeAStep) {
  EXPECT_EQ(Told("runtime.step=50, runtime.steptime=0.5, loss=2.5"),
            "step=50 loss=2.5\n");
}

TEST(StepPlaces, BeforeTheFirstStepThereIsNoLoss) {
  EXPECT_EQ(Told("Epoch 0 | Steps: 0 | Loss: 0.000000\n"
                 "Epoch 0 | Steps: 9 | Loss: 2.5\n"
                 "Epoch 1 | Steps: 0 | Loss: 0.000000 | grad norm: 0.5"),
            "step=9 loss=2.5\nstep=18 grad_norm=0.5\n");
  EXPECT_EQ(Told("step: 0 avg_loss: nan\nstep: 0 loss: nan\nstep: 1 loss: 0"),
            "step=0 loss=nan\nstep=1 loss=0\n");
}

TEST(StepPlaces, ACountMayStandBehindABarWithoutAPercentage) {
  EXPECT_EQ(Told("Training [>>     ] 20430/600000, loss=0.5, lr=2.0e-04\n"
                 "Training [>>     ] 20435/600000, loss=nan, lr=2.0e-04"),
            "step=20430 loss=0.5 learning_rate=0.0002\n"
            "step=20435 loss=nan learning_rate=0.0002\n");
  EXPECT_EQ(Told("[    ] 3/4, loss=0.5, lr=0.5"),
            "loss=0.5 learning_rate=0.5\n");
  EXPECT_EQ(Told("[          ] 3/40, loss=0.5\n[=         ] 4/40, loss=0.5"),
            "step=3 loss=0.5\nstep=4 loss=0.5\n");
  EXPECT_EQ(Told("[=         ] 2/10 [=======   ] 29/30 loss: 0.5\n"
                 "[=         ] 3/10 [          ] 1/30 loss: 0.5"),
            "step=29 loss=0.5\nstep=31 loss=0.5\n")
      << "the first one's is the epoch";
}

TEST(StepPlaces, ARangeOfBatchesEndsAtItsStep) {
  EXPECT_EQ(Told(" Epoch[ 1 of 30]-Minibatch[   1- 500]: ce = 2.5 * 500;\n"
                 " Epoch[ 1 of 30]-Minibatch[ 501-1000]: ce = 2 * 500;\n"
                 " Epoch[ 2 of 30]-Minibatch[   1- 500]: ce = 1.5 * 500;"),
            "step=500 loss=2.5 cross_entropy\nstep=1000 loss=2 cross_entropy\n"
            "step=1500 loss=1.5 cross_entropy\n");
  EXPECT_EQ(Told("Epoch[ 1 of 10]-Minibatch[   1-  10]: SamplesSeen = 250; "
                 "TrainLossPerSample =         nan; TotalTime = 0.5s;"),
            "step=10 loss=nan\n");
}

TEST(StepPlaces, AMessageAboveMayBeginWithTheStep) {
  EXPECT_EQ(Told("INFO:tensorflow:Step 100 per-step time 0.5s\n"
                 "I0606 12:32 x.py:698] Step 100 per-step time 0.5s\n"
                 "INFO:tensorflow:{'total_loss': 2.5, 'lr': 0.5}\n"
                 "INFO:tensorflow:Step 200 per-step time 0.5s\n"
                 "INFO:tensorflow:{'total_loss': nan, 'lr': 0.5}"),
            "step=100 loss=2.5 learning_rate=0.5\n"
            "step=200 loss=nan learning_rate=0.5\n");
  EXPECT_EQ(Told("saved at step 100 as 1.pt\nloss: 2.5, lr: 0.5\nstep 3: go\n"
                 "step=4 loss=2\nloss: 2.5, lr: 0.5"),
            "loss=2.5 learning_rate=0.5\nstep=4 loss=2\n"
            "loss=2.5 learning_rate=0.5\n");
}

// MXNet's lines of batches, and of what is left of a metric at an epoch's end.
TEST(StepPlaces, TheRestOfAnEpochIsNoRecordBesideItsBatches) {
  EXPECT_EQ(Told("Epoch[0] Batch [20]\tSpeed: 6.5\tTrain-CrossEntropy=2.5\n"
                 "Epoch[0] Batch [40]\tSpeed: 6.5\tTrain-CrossEntropy=2.25\n"
                 "Epoch[0] Train-CrossEntropy=nan\nEpoch[0] Time cost=9.5\n"
                 "Epoch[1] Batch [20]\tSpeed: 6.5\tTrain-CrossEntropy=2\n"
                 "Epoch[1] Batch [40]\tSpeed: 6.5\tTrain-CrossEntropy=2\n"
                 "Epoch[1] Train-CrossEntropy=nan\n"
                 "Epoch[2] Batch [20]\tSpeed: 6.5\tTrain-CrossEntropy=nan"),
            "step=20 loss=2.5 cross_entropy\nstep=40 loss=2.25 cross_entropy\n"
            "step=60 loss=2 cross_entropy\nstep=80 loss=2 cross_entropy\n"
            "step=100 loss=nan cross_entropy\n");
  EXPECT_EQ(Told("Epoch[0] Train-cross-entropy=2.5\n"
                 "Epoch[1] Train-cross-entropy=nan"),
            "step=0 loss=2.5 cross_entropy\nstep=1 loss=nan cross_entropy\n");
}

TEST(StepPlaces, AnEpochMayBeginWhereTheOneBeforeEnded) {
  EXPECT_EQ(Told("Epoch 1: env_step=0, loss=4\nEpoch 1: env_step=10, loss=3\n"
                 "Epoch 2: env_step=10, loss=3\nEpoch 2: env_step=20, loss=2"),
            "step=0 loss=4\nstep=10 loss=3\nstep=10 loss=3\nstep=20 loss=2\n");
  EXPECT_EQ(Told("Epoch 1: step=10, loss=4\nEpoch 2: step=10, loss=3"),
            "step=10 loss=4\nstep=20 loss=3\n");
}

TEST(StepPlaces, ThousandsMayBeApart) {
  EXPECT_EQ(ToldFacts("csv", "step;loss\n750;2.5\n1_000;nan"),
            "step=750 loss=2.5\nstep=1000 loss=nan\n");
  EXPECT_EQ(Told("step=12_750 loss=2.5\nstep=13_000 loss=2.5"),
            "step=12750 loss=2.5\nstep=13000 loss=2.5\n");
}

TEST(StepPlaces, AHeadMayHoldMoreThanPlaces) {
  EXPECT_EQ(Told("[step=6/90,epoch=1,eta=1 day, 3:07:11] | train/CE loss=2.5\n"
                 "[step=7/90,epoch=1,eta=1 day, 3:07:11] | "
                 "optim/total grad norm=NaN | train/CE loss=2.5"),
            "step=6 loss=2.5 cross_entropy\n"
            "step=7 loss=2.5 grad_norm=nan cross_entropy\n");
}

TEST(StepPlaces, InThousandsLinesGoOnAtTheirInterval) {
  EXPECT_EQ(Told("step:600 loss:4\nstep:800 loss:3\nstep:1K loss:3\n"
                 "step:1K loss:2\nstep:1K loss:2\nstep:2K loss:1"),
            "step=600 loss=4\nstep=800 loss=3\nstep=1000 loss=3\n"
            "step=1200 loss=2\nstep=1400 loss=2\nstep=1600 loss=1\n");
}

TEST(StepPlaces, InThousandsAloneTheIntervalIsThatOfOne) {
  EXPECT_EQ(Told("step:25K loss:4\nstep:26K loss:3\nstep:26K loss:3\n"
                 "step:27K loss:2\nstep:27K loss:2\nstep:1.5M loss:1\n"
                 "step:1K loss:1\nstep:3s loss:1"),
            "step=25000 loss=4\nstep=26000 loss=3\nstep=26001 loss=3\n"
            "step=26501 loss=2\nstep=27001 loss=2\nstep=1500000 loss=1\n"
            "step=1000 loss=1\n");
}

}  // namespace
}  // namespace nanwatch
