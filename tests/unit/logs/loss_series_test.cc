// Losses that a log prints in lines of their own.

#include "logs/loss_series.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

struct Read {
  std::map<std::string, std::vector<double>> losses;  // by optimizer
  bool one_aim = false;
};

Read ReadLines(const std::vector<std::string>& lines,
               const LogFormat* only = nullptr) {
  Read read;
  LogReader reader(only, {}, [&read](const LogRecord& record) {
    if (!record.step.has(StepField::kLoss)) return;
    read.losses[std::string(record.optimizer)].push_back(
        record.step[StepField::kLoss]);
  });
  for (const std::string& line : lines) reader.ReadLine(line);
  reader.Finish();
  read.one_aim = reader.run().settings.count("losses") > 0;
  return read;
}

// Lines of `steps` steps: each of `heads` prints one, with its place among them
// as the loss.
std::vector<std::string> Lines(const std::vector<std::string>& heads,
                               int steps) {
  std::vector<std::string> lines;
  for (int step = 0; step < steps; ++step) {
    for (size_t head = 0; head < heads.size(); ++head) {
      lines.push_back("lr 1e-0" + std::to_string(step % 9 + 1) + " " +
                      heads[head] + " step " + std::to_string(step) +
                      " loss: " + std::to_string(head + 1) + ".5");
    }
  }
  return lines;
}

TEST(NumberOfWords, NumbersAndWhatStandsForThemAreLeftOut) {
  const uint32_t words = NumberOfWords("[12:01:07] seg lr=1e-05 norm=0.3 loss");
  EXPECT_EQ(words, NumberOfWords("[13:11:59] seg lr=0.001 norm=nan loss"));
  EXPECT_NE(words, NumberOfWords("[12:01:07] cls lr=1e-05 norm=0.3 loss"));
  EXPECT_NE(NumberOfWords(""), 0u);
}

TEST(LossSeries, HeadsInLinesOfTheirOwnAreSeries) {
  const Read read = ReadLines(Lines({"[seg]", "[cls]", "[box]"}, 40));
  EXPECT_EQ(read.losses.at(""), std::vector<double>(40, 1.5));
  EXPECT_EQ(read.losses.at("cls"), std::vector<double>(40, 2.5));
  EXPECT_EQ(read.losses.at("box"), std::vector<double>(40, 3.5));
  EXPECT_TRUE(read.one_aim);
}

TEST(LossSeries, AWordThatIsNotAsciiBecomesANumber) {
  const Read read = ReadLines(Lines({"[seg]",
                                     "[\xc2\x9b"
                                     "31m]"},
                                    20));
  EXPECT_EQ(read.losses.at("1").size(), 20u);
}

TEST(LossSeries, ByTheNameOfTheLossToo) {
  std::vector<std::string> lines;
  for (int step = 0; step < 20; ++step) {
    const std::string number = std::to_string(step);
    lines.push_back("step " + number + " depth_loss: 1.5");
    lines.push_back("step " + number + " normal_loss: 2.5");
  }
  const Read read = ReadLines(lines);
  EXPECT_EQ(read.losses.at(""), std::vector<double>(20, 1.5));
  EXPECT_EQ(read.losses.at("normal_loss"), std::vector<double>(20, 2.5));
}

TEST(LossSeries, HaveTheNameNextToTheLoss) {
  std::vector<std::string> lines;
  for (int step = 0; step < 20; ++step) {
    lines.push_back("Time: 0.2 step " + std::to_string(step) + " loss: 1.5");
    lines.push_back("Elapsed time: 9.5 Pixel Loss: 2.5");
  }
  const Read read = ReadLines(lines, FindLogFormat("alike_lines"));
  EXPECT_EQ(read.losses.size(), 2u);
  EXPECT_TRUE(read.losses.contains("Pixel"));
}

TEST(LossSeries, ThatSayOthersAgainAreNone) {
  std::vector<std::string> lines;
  for (int step = 1; step < 30; ++step) {
    const std::string loss = "3." + std::to_string(900 - step);
    lines.push_back("Iter[" + std::to_string(step) + "] Avg loss: " + loss);
    lines.push_back("kpis train_loss: " + loss + "1");
  }
  const Read read = ReadLines(lines);
  ASSERT_EQ(read.losses.size(), 1u);
  EXPECT_LE(read.losses.at("").size(), 29u + 3u);
}

TEST(LossSeries, TheNameOfALossMayStandBetweenOthers) {
  std::vector<std::string> lines;
  for (int step = 0; step < 20; ++step) {
    const std::string head = "INFO: (Step: " + std::to_string(step) + ") ";
    lines.push_back(head + "train_duration_loss = 0.25.");
    lines.push_back(head +
                    "train_mel_loss_before = " + (step < 10 ? "0.5." : "nan."));
  }
  const std::vector<double> mel =
      ReadLines(lines).losses.at("train_mel_loss_before");
  ASSERT_EQ(mel.size(), 20u);
  EXPECT_EQ(mel[9], 0.5);
  EXPECT_TRUE(std::isnan(mel[10]));
}

// In a log of losses of the whole.
TEST(LossSeries, APartInLinesOfItsOwnIsNewsOnceItIsLost) {
  std::vector<std::string> lines;
  for (int step = 0; step < 20; ++step) {
    const std::string head = "(Step: " + std::to_string(step) + ") ";
    lines.push_back(head + "train_loss = 2.5.");
    const bool bad = step == 3 || step > 9;
    lines.push_back(head + "mel_loss = " + (bad ? "nan." : "0.5."));
  }
  const Read read = ReadLines(lines);
  EXPECT_EQ(read.losses.at(""), std::vector<double>(20, 2.5));
  EXPECT_EQ(read.losses.at("mel_loss").size(), 8u);
}

TEST(DifferInLastWord, IsAskedOfWords) {
  EXPECT_TRUE(DifferInLastWord("step 7 mel_loss:", "step 8 dur_loss:"));
  EXPECT_FALSE(DifferInLastWord("step 7 loss:", "step 8 loss:"));
  EXPECT_FALSE(DifferInLastWord("[seg] step 7 loss", "[cls] step 7 loss"));
  EXPECT_FALSE(DifferInLastWord("step 7 loss", "step 7"));
}

TEST(LossSeries, TasksThatTakeTurnsAre) {
  std::vector<std::string> lines;
  for (int step = 0; step < 60; ++step) {
    lines.push_back(std::string(step % 2 == 0 ? "caption" : "detect") +
                    " step " + std::to_string(step) +
                    " loss: " + (step % 2 == 0 ? "1.5" : "2.5"));
  }
  const Read read = ReadLines(lines);
  EXPECT_EQ(read.losses.at("detect"), std::vector<double>(30, 2.5));
}

TEST(LossSeries, CopiesOfRanksAreNone) {
  const Read read = ReadLines(Lines({"rank0", "rank1", "rank2"}, 40));
  EXPECT_EQ(read.losses.size(), 1u);
  EXPECT_FALSE(read.one_aim);
}

TEST(LossSeries, LinesThatSayNothingElseAre) {
  std::vector<std::string> lines;
  for (int epoch = 0; epoch < 20; ++epoch) {
    lines.push_back("Train Epoch: " + std::to_string(epoch) + " Loss: 0.5");
    lines.emplace_back("Train_loss: 46.5, Val_los: nan");
  }
  const Read read = ReadLines(lines);
  EXPECT_EQ(read.losses.size(), 2u);
  EXPECT_TRUE(read.one_aim);
}

TEST(LossSeries, ASummaryOfAnEpochIsNone) {
  std::vector<std::string> lines;
  for (int step = 0; step < 200; ++step) {
    lines.push_back("step " + std::to_string(step) + " loss: 1.5");
    if (step % 20 == 19) lines.push_back("whole epoch, loss: 1.25");
  }
  EXPECT_EQ(ReadLines(lines).losses.size(), 1u);
}

TEST(LossSeries, AdversariesHaveNotOneAim) {
  const Read read = ReadLines(Lines({"[netG]", "[netD]"}, 40));
  EXPECT_FALSE(read.one_aim);
  EXPECT_EQ(read.losses.size(), 2u);
  EXPECT_GT(read.losses.at("netD").size(), 30u);
}

TEST(LossSeries, ManyKindsOfWordsAreOneSeries) {
  std::vector<std::string> heads;
  for (char c = 'a'; c <= 'l'; ++c) heads.push_back(std::string(3, c));
  EXPECT_EQ(ReadLines(Lines(heads, 40)).losses.size(), 1u);
}

// Their names stand far from the line's start.
TEST(LossSeries, LossesOfALongLineHaveTheirNames) {
  std::vector<std::string> lines;
  for (int step = 1; step <= 9; ++step) {
    std::string line = "[" + std::to_string(100 * step) + "] ";
    for (int i = 0; i < 16; ++i) {
      line +=
          std::string(1, static_cast<char>('a' + i)) + "_entropy_of_it 3.5 / ";
    }
    lines.push_back(line + "one_loss 2.5 / two_loss 4.5 / three_loss -1.5");
  }
  const Read read = ReadLines(lines, FindLogFormat("alike_lines"));
  EXPECT_EQ(read.losses.at("one_loss"), std::vector<double>(9, 2.5));
  EXPECT_EQ(read.losses.at("two_loss"), std::vector<double>(9, 4.5));
  EXPECT_EQ(read.losses.at("three_loss"), std::vector<double>(9, -1.5));
}

}  // namespace
}  // namespace nanwatch
