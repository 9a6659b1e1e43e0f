// Numbers under other names than most programs use, and what is said of them in
// words alone.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

std::string Told(std::string_view lines) {
  return ToldFacts("key_value", lines);
}

TEST(OtherNames, NaNInWordsStandsInPlaceOfALoss) {
  EXPECT_EQ(Told("12:01 - Starting epoch 3\n12:02 - Loss: 0.75\n"
                 "12:03 - Loss: 0.5\n12:04 - WARNING: Loss is NaN\n"
                 "12:05 - Loss: 0.25\n12:06 - stops if the loss is NaN\n"
                 "12:07 - Loss became NaN"),
            "step=3 loss=0.75\nstep=4 loss=0.5\nstep=5 loss=nan\n"
            "step=6 loss=0.25\nstep=7 loss=nan\n");
  EXPECT_EQ(Told("Loss: 0.75\nLoss: 0.5\nWARNING: Loss is NaN"),
            "loss=0.75\nloss=0.5\nloss=nan\n");
}

TEST(OtherNames, NaNInWordsBesideStepsIsOfAStepThatItNames) {
  EXPECT_EQ(Told("step: 10, loss: 2.5\nWARNING: loss is NaN\n"
                 "WARNING: step 11, loss is NaN\n"
                 "step 12: loss is NaN, skipped"),
            "step=10 loss=2.5\nstep=11 loss=nan\n");
}

TEST(OtherNames, AStepMayBeAnUpdateOrAnIterationInShort) {
  EXPECT_EQ(Told("w[2] upd 0017 loss 2.5\nw[3] upd 0018 loss nan"),
            "step=17 loss=2.5\nstep=18 loss=nan\n");
  EXPECT_EQ(Told("it 12 loss 2.5\nit 13 loss 2.25 and each it 0.5 s"),
            "step=12 loss=2.5\nstep=13 loss=2.25\n");
}

// Where lines of numbers are read by another reader, those of NaN are, too.
TEST(OtherNames, NaNInWordsIsOneOfTheLinesWithoutIt) {
  EXPECT_EQ(RecognisedIn("turn 1 loss 2.5\nturn 2 loss 2.5\nturn 3 loss 2.5\n"
                         "turn 4 loss 2.5\nturn 5 loss nan\nturn 6 loss nan\n"
                         "turn 7 loss nan\nturn 8 loss nan"),
            "alike_lines");
}

// A metric that was just reset.
TEST(OtherNames, AnAccuracyOfNoSamplesIsNoLoss) {
  std::string lines;
  for (int i = 1; i <= 6; ++i) {
    lines += "Epoch[0] Batch [" + std::to_string(100 * i) +
             "] Train-accuracy=0." + std::to_string(i) + "25\n";
  }
  for (int i = 0; i < 6; ++i) {
    lines += "Epoch[" + std::to_string(i) + "] Train-accuracy=nan\n";
  }
  const std::string told = ToldFacts("alike_lines", lines);
  EXPECT_NE(told.find("loss="), std::string::npos) << told;
  EXPECT_EQ(told.find("nan"), std::string::npos) << told;
}

TEST(OtherNames, AScaleThatBeginsWithOneAndFallsIsNoLossScale) {
  EXPECT_EQ(Told("step=1 loss=2.5 scale=1.0000\nstep=2 loss=2.5 scale=0.5000\n"
                 "step=3 loss=2.5 scale=0.0000"),
            "step=1 loss=2.5\nstep=2 loss=2.5\nstep=3 loss=2.5\n");
  EXPECT_EQ(Told("step=1 loss=2.5 scale=1.0\nstep=2 loss=2.5 scale=2.0\n"
                 "step=3 loss=2.5 scale=1.0"),
            "step=1 loss=2.5\nstep=2 loss=2.5 loss_scale=2\n"
            "step=3 loss=2.5 loss_scale=1\n");
  EXPECT_EQ(Told("step=1 loss=2.5 loss_scale=0.5"),
            "step=1 loss=2.5 loss_scale=0.5\n");
}

TEST(OtherNames, AScaleInWordsMayHaveOneBeforeIt) {
  EXPECT_EQ(Told("step 1 | loss 2.5 | amp_scale 65536.0\n"
                 "step 2 | loss 2.5 | amp_scale 0.5\n"
                 "step 3 | loss 2 | logit_scale 14.5"),
            "step=1 loss=2.5 loss_scale=65536\n"
            "step=2 loss=2.5 loss_scale=0.5\nstep=3 loss=2\n");
}

TEST(OtherNames, AScaleIsKnownByItsValues) {
  EXPECT_EQ(Told("step=1 fp16_scaling=1024.0 loss=2.5 max_scale=8192\n"
                 "step=2 fp16_scaling=512.0 loss=2.5 max_scale=8192\n"
                 "step=3 fp16_scaling=0.5 loss=2.5 max_scale=8192"),
            "step=1 loss=2.5 loss_scale=1024\n"
            "step=2 loss=2.5 loss_scale=512\n"
            "step=3 loss=2.5 loss_scale=0.5\n");
  EXPECT_EQ(ToldFacts("json_lines",
                      "{\"step\": 1, \"loss\": 2.5, \"scaler_now\": 65536}\n"
                      "{\"step\": 2, \"loss\": 2.5, \"scaler_now\": 4}"),
            "step=1 loss=2.5 loss_scale=65536\n"
            "step=2 loss=2.5 loss_scale=4\n");
}

TEST(OtherNames, OtherValuesAndSizesAreNoLossScale) {
  EXPECT_EQ(Told("step=1 loss=2.5 img_scaling=512 logit_scaling=14.5\n"
                 "step=2 loss=2.5 img_scaling=1024 logit_scaling=16"),
            "step=1 loss=2.5\nstep=2 loss=2.5\n");
}

TEST(OtherNames, AScaleOfALayerIsNotTheLosss) {
  EXPECT_EQ(Told("step=1 loss=2.5 scale/block0=4096 scale/block1=4096\n"
                 "step=2 loss=2.5 scale/block0=8192 scale/block1=4096"),
            "step=1 loss=2.5\nstep=2 loss=2.5\n");
}

TEST(OtherNames, RewardsMayStandInLinesOfTheirOwn) {
  EXPECT_EQ(Told("step = 100: loss = 2.5\nstep = 100: Average Return = 8.5\n"
                 "step = 200: loss = 3.5"),
            "step=100 loss=2.5\nscored: 8.5 step=100\n"
            "step=200 loss=3.5 of_rewards\n");
}

TEST(OtherNames, TheWordOfAStepMayHaveAnotherBeforeIt) {
  EXPECT_EQ(Told("global_step 940: train_loss=9.25 gnorm=0.5\n"
                 "train_step 950: loss=9.25"),
            "step=940 loss=9.25 grad_norm=0.5\nstep=950 loss=9.25\n");
}

TEST(OtherNames, AccuraciesMayStandInWordsOrInPercent) {
  EXPECT_EQ(ToldFacts("key_value",
                      "step 40 loss 2.25 acc 0.5\nstep 50 loss 2 val acc 0.5\n"
                      "step: 60, loss: 2, accuracy: 50.0%\n"
                      "epoch=1/10, step: 70, avg_epoch_loss: 2.5"),
            "step=40 loss=2.25 of_classes\nstep=50 loss=2\n"
            "step=60 loss=2 of_classes\nstep=70 loss=2.5\n");
}

TEST(OtherNames, TheLengthOfAnEpisodeIsNoStep) {
  EXPECT_EQ(Told("episode: 1, episode steps: 90, loss: 2.5\n"
                 "episode: 2, episode steps: 60, loss: 2.25"),
            "step=1 loss=2.5\nstep=2 loss=2.25\n");
}

TEST(OtherNames, ATermThatIsNotFiniteIsNotTheLossBesideIt) {
  EXPECT_EQ(Told("step=1 loss=2.5 kl=nan\nstep=2 kl=nan"),
            "step=1 loss=2.5\nstep=2 loss=nan\n");
}

TEST(OtherNames, ACostOfTimeIsNoLoss) {
  EXPECT_EQ(Told("Epoch[1] Time cost=103.25\nEpoch[2] elapsed cost=103.5\n"
                 "Epoch[3] cost time=103.25\nstep=4 Duration cost: 0.5\n"
                 "step=5 3 sec cost: 0.5\nstep=6 Cost: 103.5 sec\n"
                 "step=7 cost: 0.25, sec: 103.5"),
            "step=5 loss=0.5\nstep=7 loss=0.25\n");
  const auto alike = [](std::string_view name) {
    std::string lines;
    for (const char* number : {"9.5", "9.25", "9.5", "9.25", "9.0"}) {
      lines += "it " + std::to_string(lines.size()) + " " + std::string(name) +
               " " + number + "\n";
    }
    return ToldFacts("alike_lines", lines);
  };
  for (const char* time : {"Time cost", "cost time", "cost (sec)",
                           "elapsed "
                           "cost",
                           "cost time:"}) {
    EXPECT_EQ(alike(time), "") << time;
  }
  EXPECT_NE(alike("cost"), "");
}

TEST(OtherNames, ATotalBesideWhatALossMeasuresIsTheLoss) {
  EXPECT_EQ(Told("step 100, policy=5.5 mse=0.25 reg=2.5 total=11.5\n"
                 "step 200, policy=5.5 mse=0.25 reg=2.5 total=nan"),
            "step=100 loss=11.5\nstep=200 loss=nan\n");
  EXPECT_EQ(Told("step 1, mse=0.25 total=5000\nstep 2, mse=0.25, total=5000"),
            "step=1 loss=0.25\nstep=2 loss=0.25\n")
      << "of samples";
  EXPECT_EQ(Told("step 1, avg_loss=0.25 total=3.5"), "step=1 loss=0.25\n")
      << "of seconds, maybe";
}

// Paddle of 2016 and 2017.
TEST(OtherNames, ACostOfABatchIsALoss) {
  EXPECT_EQ(Told("..Pass 0, Batch 500, Cost 41.25, time 98.4 s\n"
                 "..Pass 0, Batch 1000, Cost nan, time 196.9 s\n"
                 "Pass 0, Batch 1500, Time cost 9.5, samples 3"),
            "step=500 loss=41.25 guessed\nstep=1000 loss=nan guessed\n");
  std::string lines;
  for (const char* batch : {"200", "400", "600", "800", "1000"}) {
    lines += std::string("T.cpp:165]  Batch=") + batch +
             " samples=9 AvgCost=60.5 CurrentCost=58.5 Eval: error=0.5\n";
  }
  EXPECT_EQ(Told(lines),
            "step=800 loss=58.5\n"
            "step=1000 loss=58.5\n");
}

TEST(OtherNames, OtherWordsBeforeABatchAreAnEpochs) {
  std::string lines;
  for (const char* epoch : {"1", "2", "3"}) {
    for (const char* batch : {"0", "50", "100"}) {
      lines += std::string("training: ") + epoch + " batch " + batch +
               " batch_loss: 0.5\n";
    }
  }
  const std::string told = Told(lines);
  EXPECT_TRUE(told.ends_with("step=400 loss=0.5\n")) << told;
}

// Lines in words that say what others say with signs are none that are lost.
TEST(OtherNames, ALossInWordsBesideOneWithASignIsRead) {
  std::vector<std::string> lines;
  for (int step = 10; step < 200; step += 10) {
    const std::string number = std::to_string(step);
    const std::string loss = "3." + std::to_string(500 - step);
    lines.push_back("Iter " + number + ": Train loss " + loss + ", It/sec 2.5");
    lines.push_back("{'Step': " + number + ", 'Loss': '" + loss + "1'}");
    lines.push_back("  1%|     | " + number +
                    "/1000 [00:30<53:42,  3.25s/it, Loss=" + loss + "1]");
  }
  const ReadLog read = ReadAll(lines);
  EXPECT_EQ(read.coverage.unread, 0u);
  for (const LogRecord& record : read.records) {
    EXPECT_EQ(record.optimizer, "");
  }
}

// MXNet's lines of one metric each.
TEST(OtherNames, AScoreOfATrainingIsNoLoss) {
  std::string lines;
  for (const char* number : {"0.5", "0.25", "0.5", "0.25", "0.125"}) {
    lines += "Epoch[0] Batch [" + std::to_string(lines.size()) +
             "]\tSpeed: 37.5 samples/sec\tTrain-ObjectAcc=" + number + "\n";
  }
  EXPECT_EQ(ToldFacts("alike_lines", lines), "");
  EXPECT_EQ(Told(lines + "Epoch[0] Batch [300]\tTrain-SmoothL1=nan"),
            "step=300 loss=nan\n");
}

// nanoGPT's lines of evaluations, where lines of steps stand beside them.
TEST(OtherNames, ALossBesideAnEvaluationsSaysNothingNew) {
  const std::string evaluated = "step 90: train loss 9.5, val loss nan\n";
  EXPECT_EQ(Told(evaluated + evaluated),
            "step=90 loss=9.5\nstep=90 loss=9.5\n");
  EXPECT_EQ(Told(evaluated +
                 "10 | loss 2.5 | lr 0.1\n20 | loss 2.5 | lr 0.1\n"
                 "30 | loss 2.5 | lr 0.1\n40 | loss 2.5 | lr 0.1\n" +
                 evaluated + "50 | loss 2.5 | lr 0.1"),
            "step=90 loss=9.5\nstep=20 loss=2.5 learning_rate=0.1\nstep=30 "
            "loss=2.5 learning_rate=0.1\n"
            "step=40 loss=2.5 learning_rate=0.1\nstep=50 loss=2.5 "
            "learning_rate=0.1\n");
}

TEST(OtherNames, LinesOfEvaluationsAreNoneOfATrainingsThatAreAlike) {
  std::string lines;
  for (const char* loss : {"2.5", "2.25", "2.0", "1.75", "1.5"}) {
    for (const char* head : {"- Train", "- Valid", "[eval]"}) {
      lines += std::string(head) + " | Epoch 7 | 0.5 it | Loss " + loss + "\n";
    }
  }
  EXPECT_EQ(ToldFacts("alike_lines", lines),
            "loss=2.5\nloss=2.25\nloss=2\nloss=1.75\nloss=1.5\n");
}

// Of a terminal without other signs, and with a count of three digits.
TEST(OtherNames, ABarMayBeOfAsciiAndAnotherAroundIt) {
  std::vector<std::string> lines;
  for (int epoch = 1; epoch < 4; ++epoch) {
    for (int batch = 1; batch <= 8; ++batch) {
      lines.push_back("INFO - 50%|#####" + std::to_string(batch) + "    | " +
                      std::to_string(batch) +
                      ".00/8.00 [00:14<00:12, 6.10batch/s, loss=2.5]");
    }
    lines.push_back("INFO - loss=2.5, accuracy=0.5,");
    lines.push_back("INFO - 30%|###       | " + std::to_string(epoch) +
                    "/3 [00:26<04:01, 26.86s/epoch, loss=2.5]");
  }
  const ReadLog read = ReadAll(lines);
  EXPECT_EQ(read.coverage.unread, 0u);
  int64_t step = 0;
  for (const LogRecord& record : read.records) {
    EXPECT_GE(record.step.step, step);
    step = record.step.step;
  }
  EXPECT_EQ(step, 24);
}

TEST(OtherNames, AStepMayBeARatioAtTheStartOrBehindItsEpoch) {
  EXPECT_EQ(Told("255/22150 (epoch 0.57), train_loss = 2.5\n"
                 "256/22150 (epoch 0.57), train_loss = 2.5"),
            "step=255 loss=2.5\nstep=256 loss=2.5\n");
  EXPECT_EQ(Told("Epoch  1,   100/37527; acc: 0.5; loss: 9.5; 70 s\n"
                 "Epoch  1, 12200/37527; acc: 0.5; loss: 9.5; 70 s"),
            "step=100 loss=9.5 of_classes\nstep=12200 loss=9.5 of_classes\n");
  EXPECT_EQ(Told("11/28/2026 loss: 2.5"), "");
  EXPECT_EQ(Told("7/5, loss: 2.5"), "");
  EXPECT_EQ(Told("000 epoch, 02000 iter, average time 0.5, loss 2.5\n"
                 "000 epoch, 04000 iter, average time 0.5, loss nan"),
            "step=2000 loss=2.5\nstep=4000 loss=nan\n");
}

// Of few records none is passed on before the end.
TEST(OtherNames, AnEvaluationIsPlacedByTheStepsThatLinesShow) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (const char* line :
       {"Epoch 11 Train info train_loss -6.05", "Epoch 11 val_loss -5.9",
        "Epoch 12 Train info train_loss -6.25", "Epoch 12 val_loss -5.9",
        "Epoch 13 Train info train_loss -6.25", "Epoch 13 val_loss nan"}) {
    reader.ReadLine(line);
  }
  reader.Finish();
  EXPECT_EQ(reader.run().settings.at("evaluation_not_finite"), "13 val_loss");
}

TEST(OtherNames, OneEvaluationThatIsNotFiniteMayBeOfABatch) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  const auto evaluate = [&](const char* loss) {
    reader.ReadLine("step=10 loss=2.5");
    reader.ReadLine(std::string("step=10 val_loss=") + loss);
    const auto& settings = reader.run().settings;
    const auto found = settings.find("evaluation_not_finite");
    return found == settings.end() ? "" : found->second;
  };
  for (int i = 0; i < 300; ++i) evaluate("2.5");
  EXPECT_EQ(evaluate("inf"), "");
  EXPECT_EQ(evaluate("2.5"), "");
  EXPECT_EQ(evaluate("inf"), "");
  EXPECT_EQ(evaluate("inf"), "10 val_loss");
  EXPECT_EQ(evaluate("2.5"), "");
}

TEST(OtherNames, AnEvaluationsLossMayStandBehindItsStep) {
  EXPECT_EQ(ToldFacts("evaluation_words",
                      "Validation loss 526:  2.5  \n"
                      "Validation loss 1052:  nan  \n"
                      "Validation loss 9052:  2.5  "),
            "evaluated: Validation loss loss=nan\n"
            "evaluated: Validation loss loss=2.5\n");
}

TEST(OtherNames, OfALoggerAndARunSayNothingOfEvaluations) {
  EXPECT_EQ(
      ToldFacts("key_value",
                "INFO:a.trainers: cpu_test: Walker: Step: 24. Time Elapsed: "
                "9.5 s. Mean Reward: -2.5. Std of Reward: 8.0. Training.\n"
                "INFO:a.trainers: eval_run: Walker: Step: 48. Mean Reward: "
                "-3.5.\n"
                "INFO:a.trainers: cpu: Test: Step: 72. Mean Reward: -3.5."),
      "step=24 loss=2.5 of_rewards of_objective guessed\n");
}

TEST(OtherNames, AStepMayStandWithTheRateAboveItsLosses) {
  EXPECT_EQ(ToldFacts("key_value",
                      "INFO:a-test:Train Epoch: 12 [0%]\n"
                      "INFO:a-test:[2760, 9.98501030820433e-05]\n"
                      "INFO:a-test:loss_disc=3.5, loss_gen=4.0, loss_mel=20.5\n"
                      "INFO:a-test:Train Epoch: 12 [46%]\n"
                      "INFO:a-test:[2860, 9.98501030820433e-05]\n"
                      "INFO:a-test:loss_disc=3.5, loss_gen=4.0, loss_mel=20.0\n"
                      "INFO:a-test:[2960, 9.98501030820433e-05]\n"
                      "INFO:a-test:[2970, 3]\n"
                      "INFO:a-test:loss_disc=3.5, loss_gen=nan, loss_mel=20.0"),
            "step=2760 loss=3.5 of_adversary scaler=0\n"
            "step=2760 loss=4 of_adversary scaler=1\n"
            "step=2860 loss=3.5 of_adversary scaler=0\n"
            "step=2860 loss=4 of_adversary scaler=1\n"
            "step=2960 loss=3.5 of_adversary scaler=0\n"
            "step=2960 loss=nan of_adversary scaler=1\n");
}

TEST(OtherNames, WhatTheLossesOfAGansPlayersAreMadeOf) {
  EXPECT_EQ(Told("[epoch:  0, iter:   3,100, lr:(1.000e-04,)] l_g_pix: 2.5e-01 "
                 "l_g_gan: 0.25 l_d_real: 0.5 out_d_real: -9.5 l_d_fake: nan"),
            "step=3100 loss=0.5 learning_rate=0.0001 of_adversary scaler=0\n"
            "step=3100 loss=nan of_adversary scaler=1\n");
  EXPECT_EQ(
      Told("(epoch: 1, iters: 96, time: 0.13) KLD: 0.25 GAN: 1.5 VGG: 8.5 "
           "D_Fake: 0.5 D_real: 0.25"),
      "step=96 loss=10.25 of_adversary scaler=0\n"
      "step=96 loss=0.75 of_adversary scaler=1\n");
}

TEST(OtherNames, LossesByNamesInShortAreParts) {
  EXPECT_EQ(Told("iter: 45,600, l_pix: 1.5e-02 l_percep: 0.5 l_rate: 0.1\n"
                 "iter: 45,700, l_pix: nan l_percep: 0.5"),
            "step=45600 loss=0.515\nstep=45700 loss=nan\n");
  EXPECT_EQ(Told("iter: 45, l_hand: 0.5 r_hand: 0.5 l_rate: 0.5"), "");
}

}  // namespace
}  // namespace nanwatch
