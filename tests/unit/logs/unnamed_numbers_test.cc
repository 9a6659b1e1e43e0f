// Numbers that no name says anything of.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

// Ten lines, each its number and `before` with that of `numbers`.
std::vector<std::string> Ten(const std::string& before,
                             const std::vector<std::string>& numbers,
                             const std::string& behind) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < 10; ++i) {
    lines.push_back("at " + std::to_string(4 * i) + before +
                    numbers[i % numbers.size()] + behind);
  }
  return lines;
}

TEST(UnnamedNumbers, AreNewsWhereOneIsFiniteNoMore) {
  for (const auto& [before, behind] : {std::pair(" :: mask 0.25 pose ", ""),
                                       std::pair(": [3.5, ", ", 0.75]")}) {
    std::vector<std::string> lines = Ten(before, {"7.25", "7.5"}, behind);
    EXPECT_TRUE(RecordsOf(lines).empty()) << before;
    lines.push_back("at 40" + std::string(before) + "inf" + behind);
    EXPECT_TRUE(RecordsOf(lines).empty()) << before;
    lines.push_back("at 44" + std::string(before) + "inf" + behind);
    const std::vector<LogRecord> records = RecordsOf(lines);
    ASSERT_EQ(records.size(), 12u) << before;
    EXPECT_EQ(records[9].step[StepField::kLoss], 7.5);
    EXPECT_EQ(records[10].step.step, 40);
    EXPECT_TRUE(std::isinf(records[10].step[StepField::kLoss]));
  }
}

// The lines before it are told with it, and are none of its.
TEST(UnnamedNumbers, AreNoTermsOfLinesBefore) {
  std::vector<std::string> lines =
      Ten(" F = ", {"7.25", "nan", "nan"}, " |dF| = 2.5");
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (const std::string& line : lines) reader.ReadLine(line);
  reader.Finish();
  EXPECT_EQ(reader.run().settings.count("term_not_finite"), 0u);
}

// Behind the words of steps a number that no word names is a loss.
TEST(UnnamedNumbers, AreALossBehindTheWordsOfSteps) {
  std::vector<std::string> dresses[3];
  for (int i = 0; i < 12; ++i) {
    const std::string loss = std::to_string(2.5 - 0.01 * i);
    dresses[0].push_back("ep0 bt" + std::to_string(i) + " -> " + loss);
    dresses[1].push_back("step " + std::to_string(i) + " | " + loss + " | 9ms");
    dresses[2].push_back(std::to_string(i) + " tensor(" + loss +
                         ", device='cuda:0')");
  }
  for (const auto& lines : dresses) {
    const std::vector<LogRecord> records = RecordsOf(lines);
    ASSERT_EQ(records.size(), 12u) << lines[0];
    EXPECT_EQ(records[11].step.step, 11) << lines[0];
    EXPECT_NEAR(records[11].step[StepField::kLoss], 2.39, 1e-6) << lines[0];
  }
}

// A class that no picture shows, a score of an evaluation.
TEST(UnnamedNumbers, AreNoNewsWhereTheyComeAndGo) {
  EXPECT_TRUE(
      RecordsOf(Ten(" iou 0.25, ", {"0.5", "nan", "nan"}, " lamp")).empty());
  std::vector<std::string> lines = Ten(" test auc ", {"0.5"}, "");
  lines.insert(lines.end(), 3, "at 99 test auc nan");
  EXPECT_TRUE(RecordsOf(lines).empty());
}

TEST(UnnamedNumbers, ATensorWithItsGradientIsALoss) {
  std::vector<std::string> lines =
      Ten(" of run ", {"tensor(2.75, grad_fn=<MseLossBackward0>)"}, "");
  lines.push_back("at 40 of run tensor(nan, grad_fn=<MseLossBackward0>)");
  const std::vector<LogRecord> records = RecordsOf(lines);
  ASSERT_EQ(records.size(), 11u);
  EXPECT_TRUE(std::isnan(records[10].step[StepField::kLoss]));
  EXPECT_TRUE(RecordsOf(Ten(" of run ", {"tensor(2.75)"}, "")).empty());
}

TEST(UnnamedNumbers, OneBehindAStepIsALoss) {
  std::vector<std::string> lines;
  for (int i = 1; i < 8; ++i) {
    lines.push_back("iter " + std::to_string(i) + ": 4." + std::to_string(i));
  }
  EXPECT_EQ(RecordsOf(lines).size(), 7u);
  for (std::string& line : lines) line.replace(0, 4, "game");
  EXPECT_TRUE(RecordsOf(lines).empty());
}

// Nothing of a loss is named by the reader of names, which knows the norm.
TEST(UnnamedNumbers, ANormThatIsKnownLeavesALossInOtherWordsToOthers) {
  std::vector<std::string> lines;
  for (int i = 0; i < 8; ++i) {
    lines.push_back("step " + std::to_string(5 * i) + " ~ ce 3.5 ~ gnorm 0.25");
  }
  const std::vector<LogRecord> records = RecordsOf(lines);
  ASSERT_EQ(records.size(), 8u);
  EXPECT_EQ(records[7].step[StepField::kLoss], 3.5);
}

TEST(UnnamedNumbers, TensorsAloneAreNewsWhereTheyAreNotFinite) {
  std::vector<std::string> lines(2, "tensor(3.25, device='cuda:0')");
  lines.resize(9, "tensor(nan, device='cuda:0')");
  const std::vector<LogRecord> records = RecordsOf(lines);
  ASSERT_EQ(records.size(), 9u);
  EXPECT_EQ(records[1].step[StepField::kLoss], 3.25);
  EXPECT_TRUE(std::isnan(records[2].step[StepField::kLoss]));
  const std::vector<std::string> healthy(9, "tensor(3.25, device='cuda:0')");
  EXPECT_TRUE(RecordsOf(healthy).empty());
}

// "loss@16" is that of so many tokens.
TEST(UnnamedNumbers, WhatIsGluedToANameBehindAnAtIsAPartOfIt) {
  std::vector<std::string> lines;
  for (int step = 1; step < 8; ++step) {
    lines.push_back("step " + std::to_string(step) + " token 5m");
    lines.push_back("train/loss 2.25 ");
    for (const char* at : {"2", "16", "512"}) {
      lines.push_back(std::string("train/by_size/loss@") + at + " 3.5 ");
    }
  }
  const std::vector<LogRecord> records = RecordsOf(lines);
  ASSERT_EQ(records.size(), 7u);
  EXPECT_EQ(records[6].step[StepField::kLoss], 2.25);
}

TEST(UnnamedNumbers, LinesOfManyKindsMayStandBetweenThoseOfSteps) {
  std::vector<std::string> lines;
  for (int step = 1; step < 8; ++step) {
    lines.push_back("step " + std::to_string(step) + "/9 reward 0.75");
    for (char a = 'a'; a < 'h'; ++a) {
      for (char b = 'a'; b < 'h'; ++b) {
        const std::string word = {static_cast<char>(a + step), b, a};
        lines.push_back("they said " + word + " and paid 7");
      }
    }
  }
  EXPECT_EQ(RecordsOf(lines).size(), 7u);
}

}  // namespace
}  // namespace nanwatch
