// Numbers that stand where another one's usual place is: a second step, a
// count, a term beside its total, an evaluation below its heading.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "logs/log_reader.h"
#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

std::string Told(std::string_view lines) {
  return ToldFacts("key_value", lines);
}

TEST(MisreadNumbers, AStepThatStandsWhileAnotherCountsIsTheEpoch) {
  EXPECT_EQ(Told("iteration:1 step:50/100, tag loss:2.5\n"
                 "iteration:1 step:100/100, tag loss:2.25\n"
                 "iteration:2 step:50/100, tag loss:2"),
            "step=1 loss=2.5\nstep=100 loss=2.25\nstep=150 loss=2\n");
  // Both count: the first one is the run's.
  EXPECT_EQ(Told("iter: 10, steps: 640, loss: 2.5\n"
                 "iter: 20, steps: 1280, loss: 2.25\n"
                 "iter: 30, steps: 1920, loss: 2"),
            "step=10 loss=2.5\nstep=20 loss=2.25\nstep=30 loss=2\n");
}

TEST(MisreadNumbers, AStepIsAWholeNumber) {
  EXPECT_EQ(ToldFacts("csv",
                      "train_step,train_loss,train_acc\n"
                      "0.0105,2.5,0.25\n1.0103,2.25,0.5"),
            "loss=2.5 of_classes\nloss=2.25 of_classes\n");
  EXPECT_EQ(ToldFacts("csv",
                      "train_step,train_loss,train_acc\n"
                      "10,2.5,0.25\n20,2.25,0.5"),
            "step=10 loss=2.5 of_classes\nstep=20 loss=2.25 of_classes\n");
}

TEST(MisreadNumbers, OfARangeOfBatchesTheLastIsTheStep) {
  EXPECT_EQ(Told("Epoch[3] Batch [20-40]\tTrain-loss=2.5\n"
                 "Epoch[3] Batch [40-60]\tTrain-loss=2.25"),
            "step=40 loss=2.5\nstep=60 loss=2.25\n");
  // From the first on, they are the epoch's means so far.
  EXPECT_EQ(Told("Epoch[3] Batch [0-20]\tTrain-loss=2\n"
                 "Epoch[3] Batch [0-40]\tTrain-loss=3\n"
                 "Epoch[4] Batch [0-20]\tTrain-loss=2.5\n"
                 "Epoch[4] Batch [0-40]\tTrain-loss=nan"),
            "step=20 loss=2\nstep=40 loss=4\nstep=60 loss=2.5\n"
            "step=80 loss=nan\n");
}

TEST(MisreadNumbers, ABarThatKnowsNoWholeCountsAllTheSame) {
  EXPECT_EQ(Told("Epoch 1: 8it [00:21, 1.2s/it, loss=2.5]\n"
                 "Epoch 1: 9it [00:22, 1.2s/it, loss=2.25]\n"
                 "Epoch 2: 1it [00:01, 1.2s/it, loss=2]"),
            "step=8 loss=2.5\nstep=9 loss=2.25\nstep=10 loss=2\n");
  EXPECT_EQ(Told("1500it [12:01, 9.8it/s, loss=2.5]\n"
                 "1.6kit [12:11, 9.8it/s, loss=2.25]"),
            "step=1500 loss=2.5\nstep=1600 loss=2.25\n");
}

TEST(MisreadNumbers, BelowItsHeadingStandsAnEvaluation) {
  EXPECT_EQ(Told("Epoch 1/9\nstep 50/60 - loss: 2.5\nstep 60/60 - loss: 2.25\n"
                 "Eval begin...\nstep 5/9 - loss: 7\nstep 9/9 - loss: 8\n"
                 "Epoch 2/9\nstep 50/60 - loss: 2"),
            "step=50 loss=2.5\nstep=60 loss=2.25\n"
            "step=110 loss=2\n");
  EXPECT_EQ(Told("[10:15] Training epoch: 3\n[10:16] \tmean_loss: 2.5\n"
                 "[10:17] Eval epoch: 3\n[10:18] \tmean_loss: nan\n"
                 "[10:19] Training epoch: 4\n[10:20] \tmean_loss: 2.25\n"),
            "step=3 loss=2.5\n"
            "evaluated: evaluation loss loss=nan\nstep=4 loss=2.25\n");
  // Steps go on.
  EXPECT_EQ(Told("Epoch 1/9\nstep 50/60 - loss: 2.5\n"
                 "Eval begin...\nstep 55/60 - loss: 2.25"),
            "step=50 loss=2.5\nstep=55 loss=2.25\n");
}

TEST(MisreadNumbers, ANormBelowItsLossIsNoStepOfItsOwn) {
  const std::vector<LogRecord> records =
      RecordsOf({"Epoch 1/9", "  Loss: 2.5", "  Grad norm: 4.5", "  Loss: 2.25",
                 "  Grad norm: 3.5", "Epoch 2/9", "  Loss: 2",
                 "  Grad norm: 2.5", "  Loss: 1.75", "  Grad norm: 1.5"});
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records.back().step[StepField::kLoss], 1.75);
  EXPECT_EQ(records.back().step[StepField::kGradNorm], 1.5);
  // Nothing but norms.
  EXPECT_EQ(Told("Epoch 1: grad norm: 4.5\nEpoch 2: grad norm: 3.5"),
            "step=1 grad_norm=4.5\nstep=2 grad_norm=3.5\n");
}

TEST(MisreadNumbers, TheTotalOfTermsIsTheLoss) {
  std::vector<std::string> lines;
  std::vector<std::string> counts;
  for (int i = 0; i < 10; ++i) {
    const std::string step = "[Batch " + std::to_string(i) + "/90] ";
    const std::string terms = "[Losses: x 0.25, y 0.5, conf 4.5, ";
    lines.push_back(step + terms + "total " + std::to_string(9.5 - i) + "]");
    counts.push_back(step + terms + "total " + std::to_string(9000 + i) + "]");
  }
  EXPECT_EQ(RecordsOf(lines).back().step[StepField::kLoss], 0.5);
  // Nor is it one of a loss that has another name.
  EXPECT_EQ(ToldFacts("alike_lines",
                      "it 0 total 9.5 obj 2.5\nit 1 total 9.25 obj 2.25\n"
                      "it 2 total 8.5 obj 2\nit 3 total 7.5 obj 1.5\n"
                      "it 4 total 7.25 obj 1.25"),
            "step=0 loss=2.5 guessed\nstep=1 loss=2.25 guessed\n"
            "step=2 loss=2 guessed\n"
            "step=3 loss=1.5 guessed\nstep=4 loss=1.25 guessed\n");
  EXPECT_EQ(RecordsOf(counts).back().step[StepField::kLoss], 0.25);
}

TEST(MisreadNumbers, TheNumberOfALossIsNoTerm) {
  EXPECT_EQ(Told("iter 100:, hard_loss_metric=0.5, full_loss_num=186.5"),
            "step=100 loss=0.5\n");
  EXPECT_EQ(Told("iter 100:, hard_loss_metric=0.5, full_loss_metric=0.25"),
            "step=100 loss=0.75\n");
}

TEST(MisreadNumbers, SummariesOfEpochsBetweenBarsLeaveTheirLapsAlone) {
  EXPECT_EQ(Told("Train: 40%|##  | 4/10 [00:01<00:01, 5.0it/s, loss=2.5]\n"
                 "Train: 80%|### | 8/10 [00:02<00:00, 5.0it/s, loss=2.25]\n"
                 "Epoch 1/3 | Train Loss: 2.4 | Time: 4.5s\n"
                 "Train: 40%|##  | 4/10 [00:01<00:01, 5.0it/s, loss=2]\n"
                 "Train: 80%|### | 8/10 [00:02<00:00, 5.0it/s, loss=1.75]\n"
                 "Epoch 2/3 | Train Loss: 1.9 | Time: 4.5s\n"
                 "Train: 40%|##  | 4/10 [00:01<00:01, 5.0it/s, loss=1.5]"),
            "step=4 loss=2.5\nstep=8 loss=2.25\n"
            "step=14 loss=2\nstep=18 loss=1.75\nstep=24 loss=1.5\n");
  // A far lower one is another run's.
  EXPECT_EQ(Told("Train: 40%|##  | 4/10 [00:01<00:01, 5.0it/s, loss=2.5]\n"
                 "Train: 80%|### | 8/10 [00:02<00:00, 5.0it/s, loss=2.25]\n"
                 "Epoch 7/9 | Train Loss: 2.4 | Time: 4.5s\n"
                 "Epoch 1/9 | Train Loss: 2.4 | Time: 4.5s\n"
                 "Train: 40%|##  | 4/10 [00:01<00:01, 5.0it/s, loss=2]\n"
                 "Train: 80%|### | 8/10 [00:02<00:00, 5.0it/s, loss=1.75]"),
            "step=4 loss=2.5\nstep=8 loss=2.25\n"
            "step=14 loss=2\nstep=18 loss=1.75\n");
}

TEST(MisreadNumbers, TheFirstEpochTwiceIsARunOfOneAndTheNext) {
  EXPECT_EQ(Told("Epoch 1, Loss: 2.5\nEpoch 2, Loss: 2.25\nEpoch 3, Loss: 2\n"
                 "Epoch 4, Loss: 1.75\nEpoch 1, Loss: 2.5\nEpoch 1, Loss: 2.5\n"
                 "Epoch 2, Loss: 2.25"),
            "step=1 loss=2.5\nstep=2 loss=2.25\nstep=3 loss=2\n"
            "step=4 loss=1.75\nstep=1 loss=2.5\nstep=1 loss=2.5\n"
            "step=2 loss=2.25\n");
}

TEST(MisreadNumbers, AShareMayStandBehindADrawnBar) {
  EXPECT_EQ(Told("Train [===    ] 8.5% 5000/58874 | 4.6 it/s | loss=2.5\n"
                 "Train [====   ] 17.0% 10000/58874 | 4.6 it/s | loss=2.25"),
            "step=5000 loss=2.5\nstep=10000 loss=2.25\n");
}

TEST(MisreadNumbers, LossesOfEvaluationsAloneNeedNoSign) {
  EXPECT_EQ(Told("Step 0: Val Loss 2.5 | LR: 1e-4\n"
                 "Step 100: Val Loss 2.25 | LR: 1e-4\n"
                 "Step 200: Val Loss 2 | LR: 1e-4"),
            "step=0 loss=2.5 guessed\nstep=100 loss=2.25 guessed\n"
            "step=200 loss=2 guessed\n");
  // Where the training's are told, they are none of its.
  EXPECT_EQ(Told("Step 0: Loss 2.5 | LR: 1e-4\nStep 0: Val Loss 2 | LR: 1e-4\n"
                 "Step 100: Loss 2.25 | LR: 1e-4"),
            "step=0 loss=2.5 learning_rate=0.0001\n"
            "step=100 loss=2.25 learning_rate=0.0001\n");
}

TEST(MisreadNumbers, TrainingsOfAnEpochEachGoOn) {
  const std::string_view bar =
      "100/100 [==========] - 142s 1s/step - loss: 8.8566 - val_loss: 7.96\n";
  const std::string one = "Epoch 1/1\n" + std::string(bar);
  EXPECT_EQ(ToldFacts("keras", one + one + one),
            "step=100 loss=8.8566\nstep=200 loss=8.8566\n"
            "step=300 loss=8.8566\n");
  // A script that was stopped begins anew.
  EXPECT_EQ(ToldFacts("keras", one +
                                   "Epoch 1/1\n 50/100 [=====>....] - ETA: 1s "
                                   "- loss: 8.5000\n" +
                                   one),
            "step=100 loss=8.8566\nstep=150 loss=8.5\n"
            "step=100 loss=8.8566\n");
}

}  // namespace
}  // namespace nanwatch
