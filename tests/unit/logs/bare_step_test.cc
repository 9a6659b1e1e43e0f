// Steps without a name, which go back.

#include "logs/bare_step.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

// `lines` lines from the step `from` on, "{}" in `shape` replaced by it.
std::string Lines(const std::string& shape, int from, int lines) {
  std::string text;
  for (int step = from; step < from + lines; ++step) {
    std::string line = shape;
    text += line.replace(line.find("{}"), 2, std::to_string(step)) + '\n';
  }
  return text;
}

struct Read {
  std::vector<LogRecord> records;
  LogCoverage coverage;
};

Read ReadAll(const std::string& text) {
  Read read;
  LogReader reader(
      FindLogFormat("key_value"), {},
      [&read](const LogRecord& record) { read.records.push_back(record); });
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    reader.ReadLine(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  reader.Finish();
  read.coverage = reader.recogniser().coverage();
  return read;
}

// The first line shows nothing yet.
TEST(BareStep, GoesBackToACheckpoint) {
  for (const char* shape : {"{} loss 2.75 gn 0.5", "[{}] loss 2.75",
                            "{} | loss 2.75", "{}: loss=2.75"}) {
    const Read read = ReadAll(Lines(shape, 100, 40) + Lines(shape, 120, 40));
    EXPECT_GE(read.records.size(), 79u) << shape;
    EXPECT_EQ(read.records.back().step.step, 159) << shape;
    EXPECT_GE(read.coverage.read(), 79u) << shape;
    EXPECT_TRUE(read.coverage.enough()) << shape;
  }
}

// Of lines that are a step's by their number alone, the first one waits for it.
TEST(BareStep, OfARoundOfBoostingTheFirstOneIsRead) {
  for (const char* shape :
       {"[{}]\tvalidation-logloss:0.75", "[{}]\tvalid_0's l2: 0.75",
        "[{}]\ttraining's l2: 0.75", "[{}]\tvalidation-mlogloss:0.75",
        "[{}]\ttrain-mlogloss:0.75\tvalidation-mlogloss:0.75"}) {
    const Read read = ReadAll(Lines(shape, 0, 20));
    ASSERT_EQ(read.records.size(), 20u) << shape;
    EXPECT_EQ(read.records.front().step.step, 0) << shape;
    EXPECT_EQ(read.records.back().step.step, 19) << shape;
    EXPECT_EQ(read.coverage.read(), 20u) << shape;
    EXPECT_EQ(read.coverage.step_lines, 20u) << shape;
  }
  EXPECT_TRUE(ReadAll("[3]\tvalid_0's l2: 0.75\n").records.empty());
}

TEST(BareStep, BeginsAnewWithEachEpoch) {
  const std::string epoch = Lines("[{}] loss 2.75", 0, 6);
  const Read read =
      ReadAll("--- epoch 0 ---\n" + epoch + "--- epoch 1 ---\n" + epoch);
  ASSERT_EQ(read.records.size(), 12u);
  EXPECT_EQ(read.records.back().step.step, 11);
  EXPECT_EQ(read.coverage.read(), 12u);
}

// The numbers of ranks and of processes rise and fall, too.
TEST(BareStep, IsNoneWhereItFallsSoon) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += Lines("{} | loss 2.75", 0, 4);
  const Read read = ReadAll(text);
  EXPECT_FALSE(read.coverage.enough());
  EXPECT_EQ(read.coverage.step_lines, 79u);
  EXPECT_EQ(read.coverage.read(), 3u);
  ASSERT_FALSE(read.coverage.examples.empty());
  EXPECT_EQ(read.coverage.examples[0].whole,
            LogCoverage::Example::Whole::kAlike);
}

TEST(BareStep, OfTwoNumbersTheFirstMayBeAnEpoch) {
  BareStep pair;
  EXPECT_EQ(pair.Find("1 1 Loss=0.5 Time=0.25"), std::nullopt);
  EXPECT_EQ(pair.Find("1 9 Loss=0.5 Time=0.25")->step, 9);
  const auto next = pair.Find("2 1 Loss=0.5 Time=0.25");
  ASSERT_TRUE(next);
  EXPECT_EQ(next->step, 1);
  EXPECT_EQ(next->epoch, 2);
  BareStep ranks;
  for (const char* step : {"100", "200", "300"}) {
    for (const char* rank : {"0 ", "1 "}) {
      const auto found = ranks.Find(std::string(rank) + step + " Loss=0.5");
      EXPECT_FALSE(found && found->epoch);
    }
  }
}

TEST(BareStep, ABatchThatMovesIsAStepWithoutAnEpochToo) {
  BareStep moves;
  for (const char* batch : {"20", "40", "60"}) {
    EXPECT_EQ(moves.Find(std::string("batch=") + batch), std::nullopt);
  }
  EXPECT_EQ(moves.Find("batch=80 loss=2.5")->step, 80);
  EXPECT_EQ(moves.Find("batch=20 loss=2.5")->step, 20);
}

TEST(BareStep, ABatchThatMovesIsTheStepOfAnEpoch) {
  BareStep moves;
  for (const char* batch : {"20", "40", "60"}) {
    EXPECT_EQ(moves.Find(std::string("epoch=1 batch=") + batch), std::nullopt);
  }
  EXPECT_EQ(moves.Find("epoch=1 batch=80 loss=2.3")->step, 80);
  EXPECT_EQ(moves.Find("epoch=2 batch=20 loss=2.3")->step, 20);
  BareStep grows;  // a size
  for (int epoch = 1; epoch < 9; ++epoch) {
    const std::string number = std::to_string(epoch);
    EXPECT_EQ(grows.Find("epoch=" + number + " batch=" + number + "00"),
              std::nullopt);
  }
}

}  // namespace
}  // namespace nanwatch
