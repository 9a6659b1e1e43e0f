// Step lines that every rank prints, and what launchers put before them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "logs/log_reader.h"
#include "logs/numbered_prefix.h"
#include "logs/rank_prefix.h"
#include "logs/step_copies.h"

namespace nanwatch {
namespace {

using testing::ElementsAre;

LogFact Line(int64_t step, double scale, bool overflow, double loss = 2.5) {
  LogFact fact;
  fact.step = step;
  fact.overflow = overflow;
  fact.Set(StepField::kLossScale, scale).Set(StepField::kLoss, loss);
  return fact;
}

TEST(StepCopies, LossesMayDifferByRankAndScalesMayNot) {
  StepCopies copies;
  EXPECT_FALSE(copies.IsCopy(Line(1, 8, false, 2.5), true));
  EXPECT_TRUE(copies.IsCopy(Line(1, 8, false, 2.75), true));
  EXPECT_FALSE(copies.IsCopy(Line(1, 4, false, 2.5), true));
  EXPECT_FALSE(copies.IsCopy(Line(2, 8, false, 2.5), true));
}

TEST(StepCopies, WhatIsNotFiniteIsToldOnce) {
  StepCopies copies;
  EXPECT_FALSE(copies.IsCopy(Line(1, 8, false), true));
  EXPECT_FALSE(copies.IsCopy(Line(1, 8, false, NAN), true));
  EXPECT_TRUE(copies.IsCopy(Line(1, 8, false), true));
  EXPECT_TRUE(copies.IsCopy(Line(1, 8, false, NAN), true));
}

TEST(StepCopies, ALineWithOtherNumbersIsNone) {
  StepCopies copies;
  LogFact norm;
  norm.step = 1;
  norm.Set(StepField::kGradNorm, 0.5);
  EXPECT_FALSE(copies.IsCopy(Line(1, 8, false), true));
  norm.overflow = false;
  EXPECT_FALSE(copies.IsCopy(norm, true));
  LogFact torn = Line(1, 8, false);
  torn.Unset(StepField::kLossScale);
  EXPECT_TRUE(copies.IsCopy(torn, true));
}

TEST(StepCopies, RanksMayBeSomeLinesLate) {
  StepCopies copies;
  for (int64_t step = 1; step <= 20; ++step) {
    EXPECT_FALSE(copies.IsCopy(Line(step, 8, false, 1.0 / step), true));
    EXPECT_TRUE(copies.IsCopy(Line(step, 8, false, 2.0 / step), true));
  }
  EXPECT_TRUE(copies.IsCopy(Line(13, 8, false, 5), true));
  EXPECT_FALSE(copies.IsCopy(Line(3, 8, false, 5), true));
  EXPECT_FALSE(copies.IsCopy(Line(13, 8, false, 5), true));
}

// From a checkpoint three steps back: the same numbers would be copies.
TEST(StepCopies, WhereOneRankPrintsStepsThatGoBackAreNew) {
  StepCopies copies;
  for (int64_t step = 1; step <= 20; ++step) {
    EXPECT_FALSE(copies.IsCopy(Line(step, 8, false, 1.0 / step), true));
  }
  for (int64_t step = 18; step <= 22; ++step) {
    EXPECT_FALSE(copies.IsCopy(Line(step, 8, false, 0.99 / step), true));
  }
}

// A log that is printed twice has copies, and they say the same.
TEST(StepCopies, WhereCopiesSayTheSameStepsThatGoBackAreNew) {
  for (const bool differ : {false, true}) {
    StepCopies copies;
    for (int64_t step = 1; step <= 5; ++step) {
      EXPECT_FALSE(copies.IsCopy(Line(step, 8, false, 1.0 / step), true));
      const double again = (differ ? 0.98 : 1.0) / step;
      EXPECT_TRUE(copies.IsCopy(Line(step, 8, false, again), true));
    }
    EXPECT_EQ(copies.IsCopy(Line(3, 8, false, 0.3), true), differ);
  }
}

// The first copy that is late: the same loss proves it one, no loss does not.
TEST(StepCopies, WhatIsLateIsACopyOfItsLoss) {
  StepCopies copies;
  LogFact bare = Line(2, 8, false);
  bare.Unset(StepField::kLoss);
  for (int64_t step = 1; step <= 3; ++step) {
    LogFact line = Line(step, 8, false, 1.0 / step);
    line.Set(StepField::kGradNorm, 0.5);
    EXPECT_FALSE(copies.IsCopy(line, true));
  }
  EXPECT_TRUE(copies.IsCopy(Line(2, 8, false, 0.5), true));
  EXPECT_TRUE(copies.IsCopy(bare, true));
  copies = {};
  EXPECT_FALSE(copies.IsCopy(Line(2, 8, false), true));
  EXPECT_FALSE(copies.IsCopy(Line(3, 8, false), true));
  EXPECT_FALSE(copies.IsCopy(bare, true));
}

// Some count a step when it is applied: at the floor all tries look alike.
TEST(StepCopies, AStepThatIsTriedAgainIsNoCopyOfItself) {
  StepCopies copies;
  EXPECT_FALSE(copies.IsCopy(Line(1, 1, true, 2.5), false));
  EXPECT_FALSE(copies.IsCopy(Line(1, 1, true, 2.25), false));
  EXPECT_FALSE(copies.IsCopy(Line(1, 1, true, INFINITY), false));
  EXPECT_FALSE(copies.IsCopy(Line(2, 1, false), false));
  EXPECT_TRUE(copies.IsCopy(Line(2, 1, false, 2.25), false));
  // Two ranks print, as is known now.
  EXPECT_FALSE(copies.IsCopy(Line(3, 1, true, 2.5), false));
  EXPECT_TRUE(copies.IsCopy(Line(3, 1, true, 2.25), false));
  EXPECT_FALSE(copies.IsCopy(Line(3, 1, true, 2.125), false));
}

TEST(StepCopies, StepsThatWereCountedAreNone) {
  StepCopies copies;
  LogFact fact = Line(1, 8, false);
  fact.step_counted = true;
  EXPECT_FALSE(copies.IsCopy(fact, true));
  EXPECT_FALSE(copies.IsCopy(fact, true));
  fact.step.reset();
  EXPECT_FALSE(copies.IsCopy(fact, true));
}

TEST(RankPrefix, ReadsWhatLaunchersPrint) {
  EXPECT_EQ(ReadRankPrefix("[rank12]: step=1").rank, 12);
  EXPECT_EQ(ReadRankPrefix("[rank12]: step=1").size, 10u);
  EXPECT_EQ(ReadRankPrefix("[rank0]:[titan] step").size, 8u);
  EXPECT_EQ(ReadRankPrefix("[default7]: x").size, 12u);
  EXPECT_EQ(ReadRankPrefix("[default7]: x").rank, 7);
  for (const char* other :
       {"", "[", "[rank", "[rank]: x", "[rank1] x", "[rank-1]: x",
        "[rank99999999999]: x", "[Rank 0] x", "[rank1", "rank1: x"}) {
    EXPECT_EQ(ReadRankPrefix(other).size, 0u) << other;
  }
  EXPECT_EQ(BehindTaskNumber("12: {"), 4u);
  EXPECT_EQ(BehindTaskNumber("  {"), 2u);
  EXPECT_EQ(BehindTaskNumber("12:00:01 {"), 0u);
  EXPECT_EQ(BehindTaskNumber("12: "), 4u);
  EXPECT_EQ(BehindTaskNumber(""), 0u);
}

struct Told {
  std::vector<StepRecord> records;
  std::set<int32_t> ranks;
};

Told Read(const std::vector<std::string>& lines) {
  Told told;
  LogReader reader(nullptr, {}, [&told](const LogRecord& record) {
    told.records.push_back(record.step);
    told.ranks.insert(record.rank);
  });
  for (const std::string& line : lines) reader.ReadLine(line);
  reader.Finish();
  return told;
}

// A search for a scale that eight workers tell is one search of each.
TEST(RankCopies, EightWorkersOfAKnownProgramAreEightRanks) {
  std::vector<std::string> lines;
  double scale = 65536;
  for (int step = 1; step <= 20; ++step) {
    const bool overflow = step <= 5;
    if (overflow) scale /= 2;
    for (int worker = 0; worker < 8; ++worker) {
      lines.push_back("[WORKER " + std::to_string(worker) +
                      "] - INFO - { Epoch:[  1/  1], step:[   " +
                      std::to_string(step) + "/ 1000], loss: 9.5" +
                      std::to_string(worker) +
                      ", per_step_time: 800ms, lr: 1e-05, overflow cond: " +
                      (overflow ? "True" : "False") +
                      ", loss_scale: " + std::to_string(scale) +
                      ", global_norm: [1.0" + std::to_string(worker) + "], x");
    }
  }
  const Told told = Read(lines);
  ASSERT_EQ(told.records.size(), 160u);
  EXPECT_EQ(told.ranks.size(), 8u);
  for (size_t i = 0; i < 160; ++i) {
    EXPECT_EQ(told.records[i].is(StepFlag::kOverflow), i < 40) << i;
  }
}

std::vector<std::string> TwoRanks(const std::string& first,
                                  const std::string& second) {
  std::vector<std::string> lines;
  for (int step = 1; step <= 100; ++step) {
    for (const std::string& rank : {first, second}) {
      lines.push_back(rank + "step=" + std::to_string(step) +
                      " loss=2.5 loss_scale=8.0");
    }
  }
  return lines;
}

// Nobody knows what the ranks of an unknown program have in common.
TEST(RankCopies, RanksThatAreNamedAreRanks) {
  const Told told = Read(TwoRanks("[rank0]: ", "[rank1]: "));
  EXPECT_EQ(told.records.size(), 200u);
  EXPECT_THAT(told.ranks, ElementsAre(0, 1));
}

// The last stage of a pipeline prints, and no others are to be waited for.
TEST(RankCopies, WhereRanksAreMissingNoneIsNamed) {
  for (const auto& [first, second, size] :
       {std::tuple("[rank7]: ", "[rank7]: ", 100u),
        std::tuple("[rank0]: ", "[rank4]: ", 100u),
        std::tuple("[rank1]: ", "[rank0]: ", 200u)}) {
    const Told told = Read(TwoRanks(first, second));
    EXPECT_EQ(told.records.size(), size) << first;
    EXPECT_EQ(told.ranks.contains(1), size == 200u) << first;
    EXPECT_FALSE(told.ranks.contains(4) || told.ranks.contains(7)) << first;
  }
  NamedRanks ranks;
  for (int32_t rank = 0; rank < NamedRanks::kMax; ++rank) {
    ranks.Add(rank);
    EXPECT_TRUE(ranks.complete());
  }
  ranks.Add(NamedRanks::kMax);
  EXPECT_FALSE(ranks.complete());
}

// Each rank of a program has its own steps, though its lines show none.
TEST(RankCopies, RanksOfKnownProgramsCountTheirOwnSteps) {
  for (const auto& [first, second] :
       {std::pair("[rank0]: ", "[rank1]: "),
        std::pair("[default0]:", "[default1]:"),
        std::pair("[1,0]<stdout>:", "[1,1]<stdout>:"),
        std::pair("(RayWorker pid=71) ", "(RayWorker pid=55) "),
        std::pair("10.0.0.7: ", "10.0.0.9: ")}) {
    std::vector<std::string> lines;
    for (int i = 1; i <= 20; ++i) {
      const std::string dict = ", 'learning_rate': 1e-05, 'epoch': 0.1}";
      lines.push_back(std::string(first) + "{'loss': 2.5" + dict);
      lines.push_back(std::string(second) +
                      (i > 15 ? "{'loss': nan" : "{'loss': 2.5") + dict);
    }
    std::map<int32_t, int64_t> newest;
    std::map<int32_t, int> bad;
    LogReader reader(nullptr, {}, [&](const LogRecord& record) {
      newest[record.rank] = record.step.step;
      bad[record.rank] += std::isnan(record.step[StepField::kLoss]) ? 1 : 0;
    });
    for (const std::string& line : lines) reader.ReadLine(line);
    reader.Finish();
    EXPECT_EQ(newest[0], 20) << first;
    EXPECT_EQ(newest[1], 20) << first;
    EXPECT_EQ(bad[0], 0) << first;
    EXPECT_EQ(bad[1], 5) << first;
  }
}

// Nothing but the lines themselves tells that these are ranks.
TEST(RankCopies, RanksThatProgramsNameAreRanks) {
  for (const auto& [first, second] :
       {std::pair("0: ", "1: "), std::pair(" 0: ", " 1: "),
        std::pair("[0] ", "[1] "), std::pair("[0]: ", "[1]: "),
        std::pair("(0/2) ", "(1/2) "), std::pair("(1/2) ", "(2/2) "),
        std::pair("[GPU0] ", "[GPU1] "), std::pair("[cuda:0] ", "[cuda:1] "),
        std::pair("worker-0: ", "worker-1: "),
        std::pair("node17: ", "node18: "),
        std::pair("2026-03-01 12:00:07 [0] ", "2026-03-01 12:00:07 [1] "),
        std::pair("[Rank 0] ", "[Rank 1] "),
        std::pair("rank 0 | ", "rank 1 | "), std::pair("Rank 0: ", "Rank 1: "),
        std::pair("[rank: 0] ", "[rank: 1] "),
        std::pair("12:00:07 INFO rank0 ", "12:00:07 INFO rank1 ")}) {
    const Told told = Read(TwoRanks(first, second));
    EXPECT_EQ(told.records.size(), 200u) << first;
    EXPECT_THAT(told.ranks, ElementsAre(0, 1)) << first;
  }
}

// The first lines are others' than rank 0's.
TEST(RankCopies, RanksInAnyOrderLoseNoLine) {
  for (const char* word : {"[rank", "[Rank ", "["}) {
    std::vector<std::string> lines;
    for (int step = 1; step <= 40; ++step) {
      for (int i = 0; i < 8; ++i) {
        const std::string rank = std::to_string((i * 3 + step + 4) % 8);
        lines.push_back(word + rank + "]: step=" + std::to_string(step) +
                        " loss=2." + rank);
      }
    }
    const Told told = Read(lines);
    EXPECT_EQ(told.records.size(), 320u) << word;
    EXPECT_EQ(told.ranks.size(), 8u) << word;
  }
}

// Epochs, steps, batches of an epoch, layers' names.
TEST(RankCopies, NumbersThatAreNoRanksAreNone) {
  std::vector<std::string> epochs;
  std::vector<std::string> steps;
  std::vector<std::string> batches;
  for (int i = 0; i < 60; ++i) {
    const std::string epoch = std::to_string(i / 20);
    const std::string batch = std::to_string(i % 20);
    epochs.push_back("[" + epoch + "] step " + batch + " loss 2.5");
    steps.push_back(std::to_string(i) +
                    ": loss: 2.5, step: " + std::to_string(i));
    batches.push_back("[" + batch + "] epoch " + epoch + ": loss 2.5");
  }
  for (const auto& lines : {epochs, steps, batches}) {
    EXPECT_THAT(Read(lines).ranks, ElementsAre(0)) << lines[0];
  }
  for (const char* other :
       {"", "3", "12:00:07 x", "[3/", "step 3: x", "Epoch [3] x", "layer3: x",
        "[640/60000 (1%)] x", "99999: x", "[3]x"}) {
    EXPECT_FALSE(ReadNumberedPrefix(other)) << other;
  }
  EXPECT_FALSE(RankInWords("frank 3 | step"));
  EXPECT_FALSE(RankInWords("ranks 3 | step"));
  EXPECT_FALSE(RankInWords("rank 0.3 | step"));
}

TEST(RankCopies, RanksThatAreNotNamedAreCopies) {
  const Told told = Read(TwoRanks("", ""));
  EXPECT_EQ(told.records.size(), 100u);
  EXPECT_THAT(told.ranks, ElementsAre(0));
}

// GNMT at its floor: eight numbered ranks, of which each says at each update
// that it skipped it.
TEST(RankCopies, EachSkippedBatchOfNumberedRanksIsOneUpdate) {
  int updates = 0;
  int skipped = 0;
  int applied_nan = 0;
  LogReader reader(nullptr, {}, [&](const LogRecord& record) {
    ++updates;
    const bool skip = record.step.is(StepFlag::kSkipped);
    skipped += skip ? 1 : 0;
    const auto loss = record.step.get(StepField::kLoss);
    applied_nan += loss && std::isnan(*loss) && !skip ? 1 : 0;
  });
  const auto all = [&reader](const std::string& text) {
    for (int rank = 0; rank < 8; ++rank) {
      reader.ReadLine(std::to_string(rank) + ": " + text);
    }
  };
  for (int step = 0; step <= 300; ++step) {
    const bool bad = step > 100;
    if (bad) {
      const int halvings = std::min(step - 100, 10);
      all("Skipped batch, new scale: " +
          std::string(halvings < 10 ? std::to_string(1024 >> halvings) : "1") +
          ".0");
    }
    if (step % 10 != 0) continue;
    all("TRAIN [0][" + std::to_string(step) +
        "/8050]\tTime 0.075 (0.085)\tLoss/tok " + (bad ? "nan" : "4.0558") +
        " (4.3558)\tLR 1.000e-03");
  }
  reader.Finish();
  EXPECT_EQ(updates, 301);
  EXPECT_EQ(skipped, 200);
  EXPECT_EQ(applied_nan, 0);
}

}  // namespace
}  // namespace nanwatch
