// Lines without a step beside a library's that show it.

#include "logs/step_axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

using testing::ElementsAre;

// A letter a line of the log: C a counter's with the step behind it, D a dict,
// O an overflow.
class Axis {
 public:
  void Counter(int64_t step) {
    LogFact fact;
    fact.beside = true;
    fact.step = step;
    axis_.Take(fact, ++line_);
  }
  // As the program's format counts it; -1: it does not.
  void Line(int64_t count) {
    LogFact fact;
    if (count >= 0) fact.step = count;
    fact.step_counted = count >= 0;
    fact.Set(StepField::kLoss, 2);
    axis_.Take(fact, ++line_);
  }
  void Lines(int64_t from, int64_t to) {
    for (int64_t count = from; count <= to; ++count) Line(count);
  }
  void Printed(int64_t step) {
    LogFact fact;
    fact.step = step;
    axis_.Take(fact, ++line_);
  }
  void Overflow() {
    LogFact fact;
    fact.kind = LogFact::Kind::kOverflow;
    axis_.Take(fact, ++line_);
  }
  void Flush() { axis_.Flush(); }

  // Steps of the lines that were passed on; -1: none, 0: an overflow.
  std::vector<int64_t> steps() const { return steps_; }
  bool in_order() const { return in_order_; }

 private:
  std::vector<int64_t> steps_;
  uint64_t line_ = 0;
  uint64_t told_ = 0;
  bool in_order_ = true;
  StepAxis axis_{[this](const LogFact& fact, uint64_t line) {
    in_order_ &= line == ++told_;
    if (fact.kind == LogFact::Kind::kOverflow) {
      steps_.push_back(0);
    } else if (!fact.beside) {
      steps_.push_back(fact.step.value_or(-1));
    }
  }};
};

TEST(StepAxis, ALineRightBehindTheCounterIsOfItsStep) {
  Axis axis;
  axis.Counter(10);
  axis.Line(1);
  axis.Counter(20);
  axis.Overflow();
  axis.Line(2);
  EXPECT_THAT(axis.steps(), ElementsAre(10, 0, 20));
}

TEST(StepAxis, OfSeveralCountersTheNewestOneCounts) {
  Axis axis;
  for (int64_t step = 10; step <= 200; step += 10) {
    axis.Counter(step);
    if (step % 100 == 0) axis.Line(step / 100);
  }
  EXPECT_THAT(axis.steps(), ElementsAre(100, 200));
}

// Every 10th step a dict, every 100th a counter: what comes first waits.
TEST(StepAxis, LinesBetweenTwoCountersAreSpreadEvenly) {
  Axis axis;
  axis.Overflow();
  axis.Lines(1, 9);
  axis.Counter(100);
  axis.Lines(10, 13);
  EXPECT_THAT(axis.steps(), ElementsAre(0));
  axis.Overflow();
  axis.Lines(14, 19);
  axis.Counter(200);
  axis.Lines(20, 21);
  EXPECT_THAT(axis.steps(),
              ElementsAre(0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120,
                          130, 0, 140, 150, 160, 170, 180, 190, 200, 210));
  EXPECT_TRUE(axis.in_order());
}

// A resumed run's log begins anywhere.
TEST(StepAxis, LinesBeforeTheFirstCounterLieBeforeIt) {
  Axis axis;
  axis.Lines(1, 2);
  axis.Counter(5000);
  axis.Lines(3, 6);
  axis.Counter(5040);
  EXPECT_THAT(axis.steps(), ElementsAre(4980, 4990, 5000, 5010, 5020, 5030));
}

TEST(StepAxis, WhatWaitsAtTheEndIsPassedOn) {
  Axis axis;
  axis.Lines(1, 3);
  axis.Counter(40);
  axis.Lines(4, 5);
  EXPECT_THAT(axis.steps(), ElementsAre());
  axis.Flush();
  EXPECT_THAT(axis.steps(), ElementsAre(10, 20, 30, 40, 50));
}

TEST(StepAxis, WithoutACounterNothingIsChanged) {
  Axis axis;
  axis.Line(1);
  axis.Line(-1);
  axis.Overflow();
  axis.Flush();
  axis.Line(3);
  EXPECT_THAT(axis.steps(), ElementsAre(1, -1, 0, 3));
}

TEST(StepAxis, StepsThatAreShownAreTheProgramsOwn) {
  Axis axis;
  axis.Line(1);
  axis.Counter(50);
  axis.Printed(400);
  axis.Counter(51);
  axis.Printed(408);
  EXPECT_THAT(axis.steps(), ElementsAre(25, 400, 408));
}

// A log that was rotated begins within a line.
TEST(StepAxis, OneLineWithoutAStepBeforeThoseThatShowItIsNone) {
  Axis cut;
  cut.Line(-1);
  cut.Printed(400);
  cut.Line(-1);
  EXPECT_THAT(cut.steps(), ElementsAre(400, -1));
  Axis two;
  two.Line(-1);
  two.Line(-1);
  two.Printed(400);
  EXPECT_THAT(two.steps(), ElementsAre(-1, -1, 400));
}

TEST(StepAxis, ARunThatGoesBackGoesBack) {
  Axis axis;
  axis.Counter(1000);
  axis.Line(10);
  axis.Counter(1100);
  axis.Line(11);
  axis.Counter(600);
  axis.Line(6);
  EXPECT_THAT(axis.steps(), ElementsAre(1000, 1100, 600));
  // As the program's format saw it, where no counter stands before the line.
  axis.Line(3);
  axis.Line(4);
  EXPECT_THAT(axis.steps(), ElementsAre(1000, 1100, 600, 300, 400));
}

TEST(StepAxis, SoManyLinesHaveNoCounterBesideThem) {
  Axis axis;
  axis.Lines(1, static_cast<int64_t>(StepAxis::kWaitingMax));
  EXPECT_EQ(axis.steps().size(), StepAxis::kWaitingMax);
  axis.Line(7);
  EXPECT_EQ(axis.steps().back(), 7);
}

// Hugging Face's Trainer under DeepSpeed: a dict every 10 steps, a counter
// every 100, in which the scale collapses from step 300 on.
TEST(StepAxis, UpdatesOfDictsBesideACounterAreThoseOfTheRun) {
  std::vector<int64_t> overflows;
  int64_t records = 0;
  int64_t last = 0;
  LogReader reader(nullptr, {}, [&](const LogRecord& record) {
    ++records;
    last = record.step.step;
    if (record.step.is(StepFlag::kOverflow)) overflows.push_back(last);
  });
  double scale = 65536;
  for (int64_t step = 1; step <= 400; ++step) {
    if (step > 300 && step % 20 == 1) {
      reader.ReadLine(
          "[INFO] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss "
          "scale: " +
          std::to_string(static_cast<int64_t>(scale)) + ", reducing to " +
          std::to_string(static_cast<int64_t>(scale / 2)));
      scale /= 2;
    }
    if (step % 100 == 0) {
      reader.ReadLine("[INFO] [logging.py:96:log_dist] [Rank 0] step=" +
                      std::to_string(step) + ", skipped=" +
                      (step > 300 ? "5" : "0") + ", lr=[1e-05], mom=[0.9]");
    }
    if (step % 10 == 0) {
      reader.ReadLine(
          "{'loss': 2.0423, 'grad_norm': 4.7, 'learning_rate': 1e-05, "
          "'epoch': 0.01}");
    }
  }
  reader.Finish();
  EXPECT_EQ(reader.recogniser().Emitter(), "hf_trainer+deepspeed");
  EXPECT_EQ(records, 391);  // from the first dict on
  EXPECT_EQ(last, 400);
  EXPECT_FALSE(reader.counts_steps());
  ASSERT_EQ(overflows.size(), 5u);
  for (size_t i = 0; i < overflows.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(overflows[i]), 301 + 20.0 * i, 10);
  }
}

}  // namespace
}  // namespace nanwatch
