// Which of a line's numbers is the loss of the whole, or its step.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

std::string Told(std::string_view lines) {
  return ToldFacts("key_value", lines);
}

TEST(NamesOfWhole, ATermHasAWordMoreThanTheWhole) {
  EXPECT_EQ(Told("Epoch 1, batch 10, mean kl loss 0.5, mean rec loss nan, mean "
                 "loss nan, batch size: 9\n"
                 "Epoch 1, batch 20, mean kl loss 0.5, mean rec loss 2, mean "
                 "loss 2.5, batch size: 9"),
            "step=10 loss=nan\nstep=20 loss=2.5\n");
  EXPECT_EQ(Told("step: 10, sum kl loss: 0.5, sum rec loss: 2, sum loss: 2.5"),
            "step=10 loss=2.5\n");
  EXPECT_EQ(Told("step 10 main loss 2.5 aux loss 0.5"), "step=10 loss=2.5\n");
}

TEST(NamesOfWhole, TheFirstOfATrainingsAndAnEvaluationsIsTheTrainings) {
  EXPECT_EQ(Told("Iter | [  1/300] train/val loss 1.5/1.25 | lr 0.1\n"
                 "Iter | [  2/300] train/val loss nan/1.25 | lr 0.1"),
            "step=1 loss=1.5 learning_rate=0.1\n"
            "step=2 loss=nan learning_rate=0.1\n");
  EXPECT_EQ(Told("step 3: mean train/val loss: 1.5/1.25, lr: 0.1"),
            "step=3 loss=1.5 learning_rate=0.1\n");
  EXPECT_EQ(Told("step 3: loss 3/60, lr 0.1"), "");
  EXPECT_EQ(Told("step: 3 | Train Loss: 1.5 Vali Loss: nan Test Loss: 1.25"),
            "step=3 loss=1.5\n");
}

TEST(NamesOfWhole, ASetMayStandTwoWordsBeforeALoss) {
  EXPECT_EQ(Told("Epoch 1/9, Val Joint Loss: 1.5, Val MLE: 9\n"
                 "Epoch 2/9, Val Joint Loss: 2.5, Val MLE: 9\n"
                 "Epoch 3/9, Val Joint Loss: nan, Val MLE: 9"),
            "step=1 loss=1.5 guessed\nstep=2 loss=2.5 guessed\n"
            "step=3 loss=nan guessed\n");
  EXPECT_EQ(Told("Epoch 1/9, Val Joint Loss: 1.5, Train Joint Loss: 2.5"),
            "step=1 loss=2.5\n");
}

TEST(NamesOfWhole, ATimePerStepIsNoStep) {
  EXPECT_EQ(
      Told("*** Global step 500: Train loss: 8.5, time per step = 0:00.4\n"
           "*** Global step 510: Train loss: 8.25, time per step = 0:00.4"),
      "step=500 loss=8.5\nstep=510 loss=8.25\n");
}

// Chainer's and ESPnet's LogReport.
TEST(NamesOfWhole, AFileMayBeAListOfObjectsWithALineANumber) {
  std::vector<std::string> lines = {"["};
  for (int i = 1; i <= 12; ++i) {
    for (const std::string& line :
         {std::string("    {"), std::string("        \"main/loss\": 2.5,"),
          std::string("        \"epoch\": 0,"),
          "        \"iteration\": " + std::to_string(100 * i),
          std::string(i < 12 ? "    }," : "    }")}) {
      lines.push_back(line);
    }
  }
  lines.emplace_back("]");
  const ReadLog read = ReadAll(lines);
  ASSERT_EQ(read.records.size(), 12u);
  EXPECT_EQ(read.records.back().step.step, 1200);
  EXPECT_EQ(read.coverage.unread, 0u);
}

// A list in a line each, of which the first are finite.
TEST(NamesOfWhole, FewNumbersWithoutNamesAreNewsWhereTheyBreak) {
  std::vector<std::string> lines;
  for (int i = 0; i < 20; ++i) {
    const std::string loss = i < 4 ? "2.5" + std::to_string(i) : "nan";
    lines.push_back("INFO:M:[" + loss + ", " + loss + ", " +
                    std::to_string(5 * i) + ", 0.0002]");
  }
  EXPECT_EQ(RecordsOf(lines).size(), 20u);
}

// Beside a loss that stands at 0 a norm that is NaN says what it was.
TEST(NamesOfWhole, ANormInWordsMayStandWithinACall) {
  EXPECT_EQ(ToldFacts("key_value",
                      "step 5 loss tensor(0.0, grad_fn=<X>) train/grad_norm "
                      "tensor(NaN, grad_fn=<X>)\n"
                      "step 6 loss tensor(2.5, grad_fn=<X>) grad_norm "
                      "tensor(0.5, device='cuda:0')"),
            "step=5 loss=nan grad_norm=nan\nstep=6 loss=2.5 grad_norm=0.5\n");
}

// VITS and its kin: losses, their step and its rate.
TEST(NamesOfWhole, AListThatEndsWithAStepAndARateIsOfLosses) {
  for (const std::string_view last : {"inf", "0.75"}) {
    std::vector<std::string> lines;
    std::vector<std::string> others;
    for (int i = 1; i < 12; ++i) {
      const std::string list = "INFO:M:[2.5, 20.25, " + std::string(last) +
                               ", " + std::to_string(200 * i);
      lines.push_back("INFO:M:Epoch: 26 [" + std::to_string(8 * i) + "%]");
      lines.push_back(list + ", 0.0002]");
      others.push_back(list + ", 17]");
    }
    const std::vector<LogRecord> records = RecordsOf(lines);
    ASSERT_EQ(records.size(), 11u) << last;
    EXPECT_EQ(records.back().step.step, 2200);
    EXPECT_EQ(records.back().step[StepField::kLoss],
              22.75 + std::stod(std::string(last)));
    EXPECT_TRUE(RecordsOf(others).empty()) << last;
  }
}

// "RMSE: 4.2" of each fold, between lines of its steps.
TEST(NamesOfWhole, AMeasureWithoutAStepIsNoStepsOfLinesThatShowOne) {
  std::vector<std::string> lines;
  for (int fold = 0; fold < 6; ++fold) {
    for (int i = 1; i < 7; ++i) {
      lines.push_back("[" + std::to_string(1000 * i) + "]\ttraining's l1: " +
                      std::to_string(2.5 - 0.25 * i + 0.01 * fold) +
                      "\tvalid_1's l1: 2.5");
    }
    lines.push_back("RMSE: 4.5");
  }
  EXPECT_EQ(RecordsOf(lines).size(), 36u);
}

// ml-agents, where no episode ended.
TEST(NamesOfWhole, ARewardOfNoEpisodesIsNoLoss) {
  std::vector<std::string> lines;
  for (int i = 0; i < 12; ++i) {
    lines.push_back("Mean Reward: " +
                    (i / 2 == 3 ? "nan" : std::to_string(i - 83.5)));
  }
  EXPECT_EQ(RecordsOf(lines).size(), 10u);
}

}  // namespace
}  // namespace nanwatch
