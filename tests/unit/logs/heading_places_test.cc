// What headings of epochs say of the lines below them: a run that begins anew,
// an evaluation.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

std::string Told(std::string_view lines) {
  return ToldFacts("key_value", lines);
}

// Epochs of five lines each, from `first` to `last`.
std::string Epochs(int first, int last, std::string_view heading) {
  std::string lines;
  for (int epoch = first; epoch <= last; ++epoch) {
    lines.append(heading).append(std::to_string(epoch)).append("/9\n");
    for (int i = 0; i < 5; ++i) lines += " - 3s - loss: 2.5\n";
  }
  return lines;
}

// Returns how often the first step is told.
int Runs(const std::string& lines) {
  const std::string told = "\n" + Told(lines);
  int runs = 0;
  for (size_t at = 0; (at = told.find("\nstep=1 ", at)) != told.npos; ++at) {
    ++runs;
  }
  return runs;
}

TEST(HeadingPlaces, TheFirstEpochAgainIsAnotherRun) {
  for (const char* heading : {"Epoch ", "2025-01-31 12:01:07,250 Epoch "}) {
    const std::string run = Epochs(1, 6, heading);
    EXPECT_EQ(Runs(run + run + run), 3);
    EXPECT_EQ(Runs(run + Epochs(7, 9, heading) + run), 2) << "goes back";
  }
}

TEST(HeadingPlaces, RoundsOfFewEpochsAreOneRuns) {
  const std::string round = Epochs(1, 4, "Epoch ");
  EXPECT_EQ(Runs(round + round), 1);
}

TEST(HeadingPlaces, ATrainingGoesOnBelowOtherHeadings) {
  // One of an epoch each, and one whose evaluation says the epoch again.
  EXPECT_EQ(Told("Epoch 1/1\nloss: 2.5\nEpoch 1/1\nloss: 2.25\n"
                 "Epoch 1/1\nloss: 2"),
            "step=1 loss=2.5\nstep=2 loss=2.25\nstep=3 loss=2\n");
  EXPECT_EQ(Told("Epoch 1\nloss: 2.5\nloss: 2.25\nEpoch 1\nval loss: 9.5\n"
                 "Epoch 2\nloss: 2\nEpoch 2\nval loss: 9.5\n"
                 "Epoch 3\nloss: 1.5"),
            "step=1 loss=2.5\nstep=2 loss=2.25\nstep=3 loss=2\n"
            "step=4 loss=1.5\n");
  // Ranks that are an epoch late.
  std::string late = "epoch: 1, loss: 2.5\n";
  for (int epoch = 1; epoch < 9; ++epoch) {
    for (const int of : {epoch, epoch + 1, epoch, epoch + 1}) {
      late += "epoch: " + std::to_string(of) + ", loss: 2.5\n";
    }
  }
  EXPECT_EQ(Runs(late), 1);
  EXPECT_EQ(Runs(late + late), 2);
}

TEST(HeadingPlaces, BelowAnEvaluationsAllIsThatOnes) {
  EXPECT_EQ(Told("[12:01:07] Training epoch: 0\n[12:02:07] mean_loss: 2.5\n"
                 "[12:02:07] Training epoch: 1\n[12:03:07] mean_loss: 2.25\n"
                 "[12:03:07] Eval epoch: 1\n[12:03:09] mean_loss: 7.5\n"
                 "[12:03:09] Training epoch: 2\n[12:04:07] mean_loss: nan"),
            "step=0 loss=2.5\nstep=1 loss=2.25\nstep=2 loss=nan\n");
}

TEST(HeadingPlaces, BelowAnEvaluationsTheTrainingMayBeMeasured) {
  EXPECT_EQ(Told("[*] Epoch 1...\n[*] Evaluating epoch 1...\n"
                 "--- Training loss: 2.5\n--- Validation loss: 7.5\n"
                 "[*] Epoch 2...\n[*] Evaluating epoch 2...\n"
                 "--- Training loss: nan\n--- Validation loss: 7.5"),
            "step=1 loss=2.5\nstep=2 loss=nan\n");
}

TEST(HeadingPlaces, TheBestEpochIsNoHeading) {
  EXPECT_EQ(Told("Epoch 1\nbatch 1 loss: 2.5\nBest val epoch: 1\n"
                 "batch 2 loss: 2.25\nEpoch 2\nbatch 1 loss: nan"),
            "step=1 loss=2.5\nstep=2 loss=2.25\nstep=3 loss=nan\n");
}

TEST(HeadingPlaces, AnAnnouncedEvaluationHasStepsOfAnotherWhole) {
  EXPECT_EQ(Told("Epoch 1/2\nstep 10/20 - loss: 2.5 - acc: 0.5\n"
                 "step 20/20 - loss: 2.25 - acc: 0.5\n"
                 "Eval begin...\nstep 5/8 - loss: 7.5 - acc: 0.5\n"
                 "step 8/8 - loss: 7.5 - acc: 0.5\n"
                 "Epoch 2/2\nstep 10/20 - loss: 2 - acc: 0.5"),
            "step=10 loss=2.5 of_classes\n"
            "step=20 loss=2.25 of_classes\n"
            "step=30 loss=2 of_classes\n");
  // Another stage of a training without headings may have another whole.
  EXPECT_EQ(Told("step 10/20 - loss: 2.5 lr: 0.5\nEval begin...\n"
                 "step 15/30 - loss: 2.25 lr: 0.5"),
            "step=10 loss=2.5 learning_rate=0.5\n"
            "step=15 loss=2.25 learning_rate=0.5\n");
  // The training's own go on where nothing says that it has ended.
  EXPECT_EQ(Told("Epoch 1/2\nstep 10/20 - loss: 2.5 lr: 0.5\n"
                 "Eval begin...\nEval loss: 7.5\n"
                 "step 20/20 - loss: 2.25 lr: 0.5"),
            "step=10 loss=2.5 learning_rate=0.5\n"
            "step=20 loss=2.25 learning_rate=0.5\n");
}

}  // namespace
}  // namespace nanwatch
