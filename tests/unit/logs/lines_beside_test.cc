// A library's step lines (DeepSpeed's counter) beside the program's own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

using testing::ElementsAre;

struct Told {
  std::vector<int64_t> steps;
  std::vector<double> losses;  // of the records that have one
  int overflows = 0;
  std::string emitter;
};

Told Read(const std::vector<std::string_view>& lines) {
  Told told;
  LogReader reader(nullptr, {}, [&told](const LogRecord& record) {
    told.steps.push_back(record.step.step);
    if (const auto loss = record.step.get(StepField::kLoss)) {
      told.losses.push_back(*loss);
    }
    told.overflows += record.step.is(StepFlag::kOverflow) ? 1 : 0;
  });
  for (const std::string_view line : lines) reader.ReadLine(line);
  reader.Finish();
  told.emitter = reader.recogniser().Emitter();
  return told;
}

// Megatron's counter says 0 under DeepSpeed; the step is one update all the
// same, and it overflowed.
TEST(LinesBeside, ACounterAndItsProgramsStepLineAreOneUpdate) {
  const Told told = Read(
      {"[INFO] [logging.py:96:log_dist] [Rank 0] Overflow detected. Skipping "
       "step. Attempted loss scale: 2, reducing to 1",
       "[Rank 0] step=1, skipped=1, lr=[0.0, 0.0], mom=[(0.9, 0.95)]",
       " iteration 1/ 9 | lm loss: 4.5 | loss scale: 1.0 | number of skipped "
       "iterations:   0 | number of nan iterations:   0 |",
       "[Rank 0] step=2, skipped=1, lr=[0.0, 0.0], mom=[(0.9, 0.95)]",
       " iteration 2/ 9 | lm loss: 4.25 | loss scale: 1.0 | number of skipped "
       "iterations:   0 | number of nan iterations:   0 |",
       "[Rank 0] step=3, skipped=2, lr=[0.0, 0.0], mom=[(0.9, 0.95)]",
       " iteration 3/ 9 | lm loss: 4.75 | loss scale: 1.0 | number of skipped "
       "iterations:   0 | number of nan iterations:   0 |"});
  EXPECT_EQ(told.emitter, "megatron+deepspeed");
  EXPECT_THAT(told.steps, ElementsAre(1, 2, 3));
  EXPECT_THAT(told.losses, ElementsAre(4.5, 4.25, 4.75));
  EXPECT_EQ(told.overflows, 2);
}

// A program's line without a step takes that of the counter before it; a
// counter that no line follows is a step line of its own.
TEST(LinesBeside, ACounterGivesItsStepToALineWithoutOne) {
  std::vector<StepRecord> told;
  Assembler assembler(
      [&told](const LogRecord& record) { told.push_back(record.step); });
  assembler.Learn({.tells_overflows = true, .has_program = true});
  LogFact counter;
  counter.beside = true;
  counter.skipped_total = 0;
  LogFact line;
  line.Set(StepField::kLoss, 3.5);
  counter.step = 2;
  assembler.Take(counter, 1);
  counter.step = 4;
  assembler.Take(counter, 2);
  assembler.Take(line, 3);
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].step, 2);
  EXPECT_EQ(told[1].step, 3);
  EXPECT_EQ(told[2].step, 4);
  EXPECT_FALSE(told[1].has(StepField::kLoss));
  EXPECT_TRUE(told[2].has(StepField::kLoss));
}

// Nobody else prints: the counter's lines are the step lines.
TEST(LinesBeside, ACounterAloneIsTheProgress) {
  const Told told =
      Read({"[Rank 0] step=2, skipped=1, lr=[1e-05], mom=[[0.9, 0.999]]",
            "[Rank 0] step=4, skipped=1, lr=[1e-05], mom=[[0.9, 0.999]]"});
  EXPECT_EQ(told.emitter, "deepspeed");
  EXPECT_EQ(told.overflows, 1);
  EXPECT_EQ(told.steps.back(), 4);
}

// DeepSpeed-Chat: each model's counter goes with its own loss.
TEST(LinesBeside, TwoOptimizersCountersGoWithTheirLosses) {
  std::map<std::string, std::string> told;
  LogReader reader(nullptr, {}, [&told](const LogRecord& record) {
    std::string& text = told[std::string(record.optimizer)];
    text.append(std::to_string(record.step.step));
    if (record.step.is(StepFlag::kOverflow)) text.append("!");
    if (const auto loss = record.step.get(StepField::kLoss)) {
      text.append(*loss < 0 ? "-" : "+");
    }
    text.append(" ");
  });
  for (int step = 0; step < 4; ++step) {
    const std::string number = std::to_string(step + 1);
    reader.ReadLine("[Rank 0] step=" + number + ", skipped=" +
                    (step < 2 ? "0" : "1") + ", lr=[1e-05, 1e-05], mom=[0.9]");
    reader.ReadLine("[Rank 0] step=" + number + ", skipped=" +
                    (step < 3 ? "0" : "1") + ", lr=[1e-06, 1e-06], mom=[0.9]");
    reader.ReadLine("epoch: 0|step: " + std::to_string(step) +
                    "|ppo_ep: 1|act_loss: -0.5|cri_loss: 0.25|unsuper_loss: 0");
  }
  reader.Finish();
  EXPECT_EQ(reader.recogniser().Emitter(), "deepspeed_chat+deepspeed");
  EXPECT_FALSE(reader.counts_steps());
  EXPECT_EQ(told.size(), 2u);
  EXPECT_EQ(told["0"], "1- 2- 3!- 4- ");
  EXPECT_EQ(told["1"], "1+ 2+ 3+ 4!+ ");
}

// Where all ranks print the counter, one rank's shows the updates.
TEST(LinesBeside, OtherRanksCountersAreNoOtherOptimizers) {
  size_t updates = 0;
  size_t overflows = 0;
  std::set<std::string> optimizers;
  LogReader reader(nullptr, {}, [&](const LogRecord& record) {
    ++updates;
    if (record.step.is(StepFlag::kOverflow)) ++overflows;
    optimizers.emplace(record.optimizer);
  });
  constexpr int kRanks = 8;
  for (int line = 1; line <= 6; ++line) {
    for (int rank = 0; rank < kRanks; ++rank) {
      // In no order: the ranks do not wait for one another.
      reader.ReadLine("[Rank " + std::to_string((rank * 3 + line) % kRanks) +
                      "] step=" + std::to_string(10 * line) + ", skipped=" +
                      std::to_string(line / 3) + ", lr=[1e-05], mom=[0.9]");
    }
  }
  reader.Finish();
  EXPECT_EQ(updates, 51u);  // of those before the first line nothing is known
  EXPECT_EQ(overflows, 2u);
  EXPECT_EQ(optimizers, std::set<std::string>{""});
}

// Counts the records of a fairseq log in which 5 of 30 updates overflowed;
// `counted`: its own count has them, too.
size_t FairseqRecords(bool counted) {
  size_t records = 0;
  LogReader reader(nullptr, {}, [&records](const LogRecord&) { ++records; });
  int updates = 0;
  int scale = 4096;
  for (int batch = 1; batch <= 30; ++batch) {
    const bool overflow = batch > 12 && batch % 3 == 0 && batch < 28;
    updates += overflow && !counted ? 0 : 1;
    if (overflow) {
      reader.ReadLine(
          "2021-06-01 11:00:01 | INFO | fairseq.trainer | NOTE: gradient "
          "overflow detected, ignoring gradient, setting loss scale to: " +
          std::to_string(scale /= 2) + ".0");
    }
    if (batch % 10 != 0) continue;
    reader.ReadLine(
        "2021-06-01 11:00:09 | INFO | train_inner | epoch 001:     " +
        std::to_string(batch) + " / 900 loss=7.5, nll_loss=6, num_updates=" +
        std::to_string(updates) + ", lr=0.0005, gnorm=2.5, loss_scale=64");
  }
  reader.Finish();
  return records;
}

// From the first line on, the last of 10 updates: 1 and 20.
TEST(LinesBeside, FairseqsUpdatesCountNoOverflowsButWhereTheyAreItsBatches) {
  EXPECT_EQ(FairseqRecords(false), 21u);
  EXPECT_EQ(FairseqRecords(true), 21u);
}

}  // namespace
}  // namespace nanwatch
