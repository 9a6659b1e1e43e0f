// How a program ended, as the last lines of its log say.

#include "logs/broken_off.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

std::optional<LogBroke> EndOf(const std::vector<std::string>& last) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (int step = 0; step < 300; ++step) {
    reader.ReadLine("step=" + std::to_string(step) + " loss=2.5");
  }
  for (const std::string& line : last) reader.ReadLine(line);
  reader.Finish();
  return reader.broke();
}

TEST(BrokenOff, AnExceptionAtTheEndIsTheEnd) {
  const auto end = EndOf({"Traceback (most recent call last):",
                          "  File \"fit.py\", line 7, in <module>",
                          "    raise KeyError(name)",
                          "app.errors.MissingKeyError: no column `x`"});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->line, 304u);
  EXPECT_EQ(end->end.kind, ProgramEnd::Kind::kException);
  EXPECT_EQ(end->end.type, "MissingKeyError");
  EXPECT_EQ(end->end.message, "no column `x`");
}

TEST(BrokenOff, CntkSaysWhatItStopsOver) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (int step = 0; step < 300; ++step) {
    reader.ReadLine("step=" + std::to_string(step) + " loss=2.5");
  }
  reader.ReadLine("EXCEPTION occurred: no file `a.txt`");
  reader.Finish();
  ASSERT_TRUE(reader.broke());
  EXPECT_EQ(reader.broke()->end.message, "EXCEPTION occurred: no file `a.txt`");
}

TEST(BrokenOff, AProgramMaySayThatItExitsOverAnException) {
  const auto end = EndOf({"Exiting due to exception: No such bucket"});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->end.kind, ProgramEnd::Kind::kException);
  EXPECT_EQ(end->end.message, "Exiting due to exception: No such bucket");
}

// No update is made of it: its loss is not known.
TEST(BrokenOff, AProgramMayGiveUpOverALossThatGrew) {
  std::vector<LogRecord> records;
  LogReader reader(nullptr, {}, [&records](const LogRecord& record) {
    records.push_back(record);
  });
  for (int step = 0; step < 30; ++step) {
    reader.ReadLine("step=" + std::to_string(step) + " loss=2.5");
  }
  reader.ReadLine("Loss exploded to 90000.5 at step 30");
  reader.ReadLine("Exiting due to exception: Loss exploded");
  reader.Finish();
  ASSERT_TRUE(reader.stopped());
  EXPECT_EQ(reader.stopped()->word.words,
            "Exiting due to exception: Loss exploded");
  EXPECT_EQ(reader.stopped()->word.over, StepField::kLoss);
  EXPECT_EQ(records.size(), 30u);
}

TEST(BrokenOff, WhatIsFollowedByStepsWasNoEnd) {
  EXPECT_FALSE(EndOf({}));
  EXPECT_FALSE(EndOf({"ValueError: a bad sample", "step=300 loss=2.5"}));
  std::vector<std::string> goes_on(300, "evaluating");
  goes_on.front() = "ValueError: a bad sample";
  EXPECT_FALSE(EndOf(goes_on));
}

TEST(BrokenOff, KindsAreToldApart) {
  using Kind = ProgramEnd::Kind;
  EXPECT_EQ(ReadBrokenOff("MemoryError").kind, Kind::kOutOfMemory);
  EXPECT_EQ(ReadBrokenOff("a.b.XlaRuntimeError: RESOURCE_EXHAUSTED: 4G").kind,
            Kind::kOutOfMemory);
  EXPECT_EQ(ReadBrokenOff("KeyboardInterrupt").kind, Kind::kInterrupt);
  EXPECT_EQ(ReadBrokenOff("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT "
                          "2026-03-01T08:00:00 DUE TO TIME LIMIT ***")
                .kind,
            Kind::kSignal);
  EXPECT_EQ(ReadBrokenOff("Error: no").kind, Kind::kUnknown);
  EXPECT_EQ(ReadBrokenOff("LossError=3").kind, Kind::kUnknown);
}

// A launcher's error stands behind its worker's.
TEST(BrokenOff, TheWordOfWhatFailedStandsBeforeThoseOfOthers) {
  const auto end = EndOf({"RuntimeError: CUDA error: unspecified",
                          "torch.distributed.elastic.multiprocessing.errors."
                          "ChildFailedError: "});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->end.type, "RuntimeError");
  const auto chained = EndOf({"KeyError: 'x'", "ValueError: no x"});
  ASSERT_TRUE(chained);
  EXPECT_EQ(chained->end.type, "ValueError");
  EXPECT_EQ(EndOf({"ValueError: " + std::string(500, 'x')})->end.message.size(),
            200u);
}

// The message's step is where it stopped, unless it counts another way.
TEST(BrokenOff, AMessageThatSaysNanIsANanAtItsStep) {
  for (const auto& [step, told] :
       {std::pair("299", 299), std::pair("304", 304), std::pair("7", 300)}) {
    StepRecord last;
    LogReader reader(nullptr, {},
                     [&last](const LogRecord& r) { last = r.step; });
    for (int i = 0; i < 300; ++i) {
      reader.ReadLine("step=" + std::to_string(i) + " loss=2.5");
    }
    reader.ReadLine("AssertionError: NaN loss at step " + std::string(step));
    reader.Finish();
    EXPECT_EQ(last.step, told) << step;
    EXPECT_TRUE(std::isnan(last[StepField::kLoss])) << step;
  }
}

// What the newest step line shows is no other update.
TEST(BrokenOff, WordsOverALossThatALineShowsAreNoUpdate) {
  const auto records = [](const std::string& loss, const std::string& words) {
    int count = 0;
    LogReader reader(nullptr, {}, [&count](const LogRecord&) { ++count; });
    for (int step = 0; step < 30; ++step) {
      reader.ReadLine("step=" + std::to_string(step) +
                      " loss=" + (step < 28 ? "2.5" : loss));
    }
    reader.ReadLine(words);
    reader.Finish();
    EXPECT_TRUE(reader.stopped()) << words;
    return count;
  };
  EXPECT_EQ(records("inf", "Model diverged with loss = NaN."), 30);
  EXPECT_EQ(records("nan", "ValueError: Loss is NaN at step 29, aborting"), 30);
  EXPECT_EQ(records("nan", "ValueError: Loss is NaN at step 31, aborting"), 31);
  EXPECT_EQ(records("2.5", "Model diverged with loss = NaN."), 31);
}

}  // namespace
}  // namespace nanwatch
