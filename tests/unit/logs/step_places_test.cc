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

TEST(StepPlaces, AnEpochMayBeCutShort) {
  EXPECT_EQ(Told("  [fit] ep=0: loss=2.5\n"
                 "  [fit] ep=10: loss=2.25"),
            "step=0 loss=2.5\nstep=10 loss=2.25\n");
  // It is a word of its own.
  EXPECT_EQ(Told("step=1 prep=7: loss=2.5\nstep=2 prep=3: loss=2.25"),
            "step=1 loss=2.5\nstep=2 loss=2.25\n");
}

TEST(StepPlaces, BehindTheNumberOfAnEpochStandsThePlaceInIt) {
  EXPECT_EQ(Told("Epoch 0/30 0/100 loss: 2.5 time 1.5s\n"
                 "Epoch 0/30 50/100 loss: 2.25 time 1.5s\n"
                 "Epoch 1/30 0/100 loss: 2 time 1.5s\n"
                 "Final training  0/29 loss: 2 time 1.5s\n"
                 "Epoch 2/30 50/100 loss: nan time 1.5s"),
            "step=0 loss=2.5\nstep=50 loss=2.25\nstep=100 loss=2\n"
            "step=250 loss=nan\n");
  EXPECT_EQ(
      Told("[a.b][INFO] - Train | Epoch 1 | 20/100 | 3.2 it/s | Loss 0.5\n"
           "[a.b][INFO] - Train | Epoch 1 | 80/100 | 3.2 it/s | Loss 0.5\n"
           "[a.b][INFO] - Train Summary | Epoch 1 | Time 9.5s | Loss 0.5\n"
           "[a.b][INFO] - Train | Epoch 2 | 20/100 | 3.2 it/s | Loss nan"),
      "step=20 loss=0.5\nstep=80 loss=0.5\nstep=120 loss=nan\n");
  // Dates, shares, and more than there are.
  EXPECT_EQ(Told("Epoch 1 12/03/2025 loss: 2.5\nEpoch 2 13/03/2025 loss: 2.5"),
            "step=1 loss=2.5\nstep=2 loss=2.5\n");
  EXPECT_EQ(Told("Epoch 1 9/2: loss: 2.5\nEpoch 2 9/2: loss: 2.5"),
            "step=1 loss=2.5\nstep=2 loss=2.5\n");
}

TEST(StepPlaces, ALineAboveMaySayNoMoreThanTheStepOfTheTraining) {
  EXPECT_EQ(Told("training @ iter =  0\ntraining cost: 6.5\n"
                 "training error rate: 0.5\nepoch 0: validation loss 7.5\n"
                 "training @ iter =  20\ntraining cost: nan\n"
                 "training error rate: 0.5\n"),
            "step=0 loss=6.5\nstep=20 loss=nan\n");
  EXPECT_EQ(Told("saved @ iter = 9\nloss: 2.5, lr: 0.5\n"
                 "training step 9 is next\nloss: 2.5, lr: 0.5\n"),
            "loss=2.5 learning_rate=0.5\nloss=2.5 learning_rate=0.5\n");
}

TEST(StepPlaces, TheNumberOfACheckpointIsNoStep) {
  EXPECT_EQ(Told("[main] [5] loss=2.5 lr=0.5\n[main] [6] loss=2.5 lr=0.5\n"
                 "Checkpoint [7] \tTrain-perplexity=9.5 lr=0.5\n"
                 "[main] [8] loss=2.5 lr=0.5"),
            "loss=2.5 learning_rate=0.5\nstep=6 loss=2.5 learning_rate=0.5\n"
            "step=8 loss=2.5 learning_rate=0.5\n");
}

TEST(StepPlaces, ParlAIsTableCountsItsUpdates) {
  EXPECT_EQ(
      ToldFacts("csv",
                "   clip  gnorm  loss     lr  total_train_updates   ups\n"
                "  .9631   3.25   4.5  1e-06                  100  4.98\n"
                "   clip  gnorm  loss     lr  total_train_updates   ups\n"
                "  .9631   3.25   4.5  1e-06                  200  4.98\n"),
      "step=100 loss=4.5 grad_norm=3.25 learning_rate=1e-06\n"
      "step=200 loss=4.5 grad_norm=3.25 learning_rate=1e-06\n");
}

TEST(StepPlaces, ABarThatIsCalledTheStepBeginsAnewInEachEpoch) {
  EXPECT_EQ(Told("step:  33%|#  | 1/3 [00:01<00:01, 1.0it/s, loss=2.5]\n"
                 "step:  66%|## | 2/3 [00:01<00:01, 1.0it/s, loss=2.5]\n"
                 "step: 100%|###| 3/3 [00:01<00:01, 1.0it/s, loss=2.5]\n"
                 "step:  33%|#  | 1/3 [00:01<00:01, 1.0it/s, loss=nan]"),
            "step=1 loss=2.5\nstep=2 loss=2.5\nstep=3 loss=2.5\n"
            "step=4 loss=nan\n");
}

TEST(StepPlaces, AWideCellMovesThoseBehindIt) {
  EXPECT_EQ(ToldFacts("csv",
                      "epoch       iteration   loss        acc         "
                      "elapsed_time\n"
                      "0           100         2.5                     "
                      "123.5       \n"
                      "0           200         -0.000504902              "
                      "237.5       \n"
                      "0           300         -0.000504902             "
                      "351.5       "),
            "step=100 loss=2.5\nstep=200 loss=-0.000504902\n");
}

TEST(StepPlaces, CellsThatAreGluedAreNoWideOne) {
  EXPECT_EQ(ToldFacts("csv",
                      "epoch     train_loss  valid_loss  accuracy  time\n"
                      "0         2.500000    0.500000    0.610000  00:10\n"
                      "1         2.500000    882000.0000000.108192  00:12"),
            "step=0 loss=2.5 of_classes\n");
}

TEST(StepPlaces, AnEvaluationsRewardOfEpisodesIsOne) {
  EXPECT_EQ(Told("step: 5, eval/episode_reward: 180.5, total_loss: 4.5"),
            "step=5 loss=4.5 of_rewards\n");
}

TEST(StepPlaces, ABatchMayBeADictsKeyBesideTheEpoch) {
  std::string lines;
  for (int batch = 0; batch < 60; batch += 11) {
    lines += "INFO:a.b:{'type': 'train', 'epoch': 0, 'batch': " +
             std::to_string(batch) +
             ", 'n_batches': 3666, 'lr': 1.00e-06, 'loss': 982.5}\n";
  }
  EXPECT_NE(Told(lines).find("step=55 loss=982.5"), std::string::npos);
  EXPECT_EQ(ToldFacts("hf_trainer", lines), "") << "it counts no batches";
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

TEST(StepPlaces, WhatStandsBehindPerIsAUnit) {
  EXPECT_EQ(Told("Global step 40: loss: 2.5, time per step = 0:00:00.41\n"
                 "Global step 80: loss: 2.25, time per step = 0:00:00.41"),
            "step=40 loss=2.5\nstep=80 loss=2.25\n");
  EXPECT_EQ(Told("update 40 loss: 2.5 seconds / step: 3\n"
                 "update 80 loss: 2.25 seconds / step: 3"),
            "step=40 loss=2.5\nstep=80 loss=2.25\n");
  EXPECT_EQ(Told("loss: 2.5, time 3, step = 40\nloss: 2.25, time 3, step = 80"),
            "step=40 loss=2.5\nstep=80 loss=2.25\n");
}

// However many there are.
TEST(StepPlaces, TheStepsOfEachEpochAreItsLength) {
  std::string lines;
  for (int epoch = 1; epoch <= 50; ++epoch) {
    lines += "Epoch: " + std::to_string(epoch) +
             ", Steps: 153 | Train Loss: 1.5 Vali Loss: 2.5\n";
  }
  const std::string told = Told(lines);
  EXPECT_TRUE(told.ends_with("step=7650 loss=1.5\n")) << told;
}

TEST(StepPlaces, ALogMayBeginInALateEpoch) {
  EXPECT_EQ(Told("75 1 Loss=2.5 Time=0.5\n75 2 Loss=2.25 Time=0.5\n"
                 "75 3 Loss=2 Time=0.5"),
            "step=1 loss=2.5\nstep=2 loss=2.25\nstep=3 loss=2\n");
}

TEST(StepPlaces, BatchesBeginAnewInEachEpoch) {
  EXPECT_EQ(Told("[batch 0] loss=2.5\n[batch 10] loss=2.25\n"
                 "[batch 0] loss=2\n[batch 10] loss=1.5"),
            "step=0 loss=2.5\nstep=10 loss=2.25\n"
            "step=20 loss=2\nstep=30 loss=1.5\n");
  // Steps do where the run does.
  EXPECT_EQ(Told("[step 0] loss=2.5\n[step 10] loss=2.25\n[step 0] loss=2.5"),
            "step=0 loss=2.5\nstep=10 loss=2.25\nstep=0 loss=2.5\n");
}

TEST(StepPlaces, AHeadingMaySayTheEpochsBatchOrItsStep) {
  EXPECT_EQ(Told("*** EPOCH 000 ***\n --- batch: 005 ---\nmean loss: 2.5\n"
                 " --- batch: 010 ---\nmean loss: 2.25\n"
                 "*** EPOCH 001 ***\n --- batch: 005 ---\nmean loss: 2"),
            "step=5 loss=2.5\nstep=10 loss=2.25\nstep=15 loss=2\n");
  EXPECT_EQ(Told("Epoch: 1, global_step=0\nSPS: 90, loss=2.5\n"
                 "Epoch: 2, global_step=256\nSPS: 80, loss=2.25"),
            "step=0 loss=2.5\nstep=256 loss=2.25\n");
  // A size is none.
  EXPECT_EQ(Told("batch: 32\nEpoch 1 loss: 2.5\nEpoch 2 loss: 2.25"),
            "step=1 loss=2.5\nstep=2 loss=2.25\n");
}

TEST(StepPlaces, BehindAnEpochInBracketsItStandsInParentheses) {
  EXPECT_EQ(Told("[TRAIN] Epoch[1](10/20); Loss: 2.5; Batch: 1.5 sec\n"
                 "[TRAIN] Epoch[2](10/20); Loss: 2.25; Batch: 1.5 sec"),
            "step=10 loss=2.5\nstep=30 loss=2.25\n");
}

TEST(StepPlaces, ARateThatRisesIsNoStep) {
  EXPECT_EQ(ToldFacts("alike_lines",
                      "SPS 90 loss 2.5\nSPS 91 loss 2.25\nSPS 93 loss 2\n"
                      "SPS 94 loss 1.75\nSPS 95 loss 1.5"),
            "loss=2.5\nloss=2.25\nloss=2\nloss=1.75\nloss=1.5\n");
}

TEST(StepPlaces, ATableMayGetMoreColumns) {
  EXPECT_EQ(ToldFacts("csv", "epoch,loss\n1,2.5\n2,2.25,0.5\n3,2,saved,0"),
            "step=1 loss=2.5\nstep=2 loss=2.25\n");
}

}  // namespace
}  // namespace nanwatch
