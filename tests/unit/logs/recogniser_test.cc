#include "logs/recogniser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nanwatch {
namespace {

std::string Megatron(int step, double loss = 2.5) {
  return " iteration " + std::to_string(step) +
         "/     500 | consumed samples: 160 | lm loss: " +
         std::to_string(loss) +
         " | loss scale: 65536.0 | grad norm: 0.5 | number of skipped "
         "iterations:   0 | number of nan iterations:   0 |";
}
std::string KeyValue(int step) {
  return "step=" + std::to_string(step) + " loss=2.5 scale=8";
}

struct Told {
  std::vector<uint64_t> lines;
  std::vector<int64_t> steps;
};

class RecogniserTest : public testing::Test {
 protected:
  Recogniser Make(const LogFormat* only = nullptr) {
    return Recogniser(only, {}, [this](const LogFact& fact, uint64_t line) {
      told_.lines.push_back(line);
      told_.steps.push_back(fact.step.value_or(-1));
    });
  }
  Told told_;
};

TEST_F(RecogniserTest, BelievesAProgramFromItsFirstLineOn) {
  Recogniser recogniser = Make();
  recogniser.ReadLine("prose");
  for (int i = 1; i < Recogniser::kEnough; ++i) {
    recogniser.ReadLine(Megatron(i));
    EXPECT_TRUE(told_.lines.empty()) << i;
  }
  EXPECT_FALSE(recogniser.decided());
  recogniser.ReadLine(Megatron(Recogniser::kEnough));
  EXPECT_TRUE(recogniser.decided());
  ASSERT_EQ(told_.lines.size(), static_cast<size_t>(Recogniser::kEnough));
  EXPECT_EQ(told_.lines[0], 2u);
  EXPECT_EQ(told_.steps[0], 1);
  recogniser.ReadLine(Megatron(100));
  EXPECT_EQ(told_.steps.back(), 100);
  EXPECT_EQ(recogniser.Emitter(), "megatron");
  EXPECT_EQ(recogniser.certainty(), Recogniser::Certainty::kSure);
  EXPECT_EQ(recogniser.step_lines(), 9u);
}

TEST_F(RecogniserTest, TablesOfMinibatchesStandBetweenSteps) {
  Recogniser recogniser = Make();
  for (int i = 1; i < 20; ++i) {
    recogniser.ReadLine("  vf_loss |    kl |   ent");
    for (int batch = 0; batch < 5; ++batch) {
      recogniser.ReadLine("  337.4 | 0.003 | 2.8");
    }
    recogniser.ReadLine("| EpRewMean      | -9.8   |");
    recogniser.ReadLine("| TimestepsSoFar | " + std::to_string(i) + "024 |");
    recogniser.ReadLine("| loss_vf_loss   | 320.5  |");
    recogniser.ReadLine("---------------------------");
  }
  recogniser.Finish();
  EXPECT_EQ(recogniser.Emitter(), "key_value");
  ASSERT_FALSE(told_.steps.empty());
  EXPECT_EQ(told_.steps.back(), 19024);
}

TEST_F(RecogniserTest, AnEvaluationNamesNoLossOfTraining) {
  Recogniser recogniser = Make();
  for (int i = 1; i <= 12; ++i) {
    recogniser.ReadLine("epoch=" + std::to_string(i) + " train=" +
                        std::to_string(2.5 - 0.1 * i) + " valid=nan");
  }
  recogniser.Finish();
  EXPECT_EQ(recogniser.step_lines(), 12u);
  EXPECT_FALSE(told_.steps.empty());
}

TEST_F(RecogniserTest, AShortLogIsDecidedAtItsEnd) {
  Recogniser recogniser = Make();
  recogniser.ReadLine(Megatron(1));
  recogniser.ReadLine(Megatron(2));
  EXPECT_TRUE(told_.lines.empty());
  recogniser.Finish();
  EXPECT_EQ(told_.steps, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(recogniser.certainty(), Recogniser::Certainty::kLikely);
}

TEST_F(RecogniserTest, ASlowLogIsDecidedFromFewLines) {
  Recogniser recogniser = Make();
  recogniser.ReadLine(KeyValue(1));
  recogniser.ReadLine(Megatron(1));
  recogniser.DecideIfLikely();
  EXPECT_FALSE(recogniser.decided());
  recogniser.ReadLine(Megatron(2));
  recogniser.DecideIfLikely();
  EXPECT_TRUE(recogniser.decided());
  EXPECT_EQ(recogniser.Emitter(), "megatron");
  EXPECT_EQ(told_.steps, (std::vector<int64_t>{1, 2}));
}

TEST_F(RecogniserTest, AProgramComesBeforeGenericFormats) {
  Recogniser recogniser = Make();
  for (int i = 0; i < 60; ++i) recogniser.ReadLine(KeyValue(i));
  for (int i = 0; i < Recogniser::kEnough; ++i) {
    recogniser.ReadLine(Megatron(100 + i));
  }
  EXPECT_EQ(recogniser.Emitter(), "megatron");
  EXPECT_EQ(told_.steps.front(), 100);
}

// NCCL's lines and the like, before the training's own.
TEST_F(RecogniserTest, AHundredForeignLinesAreNotYetTheProgram) {
  Recogniser recogniser = Make();
  for (int i = 0; i < 100; ++i) {
    recogniser.ReadLine("NCCL INFO via P2P/IPC " + KeyValue(i));
  }
  for (int i = 1; i <= Recogniser::kEnough; ++i) {
    recogniser.ReadLine(Megatron(i));
  }
  EXPECT_EQ(recogniser.Emitter(), "megatron");
  EXPECT_EQ(told_.steps.front(), 1);
}

TEST_F(RecogniserTest, NamesOfNumbersAreAGuess) {
  Recogniser recogniser = Make();
  for (int i = 0; i < Recogniser::kEnoughGeneric; ++i) {
    recogniser.ReadLine(KeyValue(i));
  }
  EXPECT_TRUE(recogniser.decided());
  EXPECT_EQ(recogniser.Emitter(), "key_value");
  EXPECT_EQ(recogniser.certainty(), Recogniser::Certainty::kGuess);
  EXPECT_EQ(told_.steps.size(),
            static_cast<size_t>(Recogniser::kEnoughGeneric));
}

TEST_F(RecogniserTest, WhatTheCallerSaysIsNotSearched) {
  Recogniser recogniser = Make(FindLogFormat("key_value"));
  recogniser.ReadLine(Megatron(1));
  recogniser.ReadLine(KeyValue(7));
  EXPECT_TRUE(recogniser.decided());
  EXPECT_EQ(told_.steps.back(), 7);
  EXPECT_EQ(recogniser.certainty(), Recogniser::Certainty::kTold);
}

TEST_F(RecogniserTest, NothingIsRecognisedInProseAndBytes) {
  Recogniser recogniser = Make();
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes += static_cast<char>(i * 37);
  recogniser.ReadLine(bytes);
  recogniser.ReadLine(std::string(1 << 16, '\0'));
  recogniser.ReadLine("");
  recogniser.ReadLine("Loading weights: 10 of 20, it takes 3.5s");
  recogniser.Finish();
  EXPECT_EQ(recogniser.Emitter(), "");
  EXPECT_EQ(recogniser.certainty(), Recogniser::Certainty::kNone);
  EXPECT_EQ(recogniser.program(), nullptr);
  EXPECT_TRUE(told_.lines.empty());
  EXPECT_EQ(recogniser.lines(), 4u);
}

TEST(LogFormats, HaveNamesOfTheirOwnAndMarks) {
  std::vector<std::string_view> names;
  for (const LogFormat* format : AllLogFormats()) {
    EXPECT_EQ(FindLogFormat(format->name), format) << format->name;
    EXPECT_EQ(
        format->name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
        std::string_view::npos)
        << format->name;
    EXPECT_FALSE(format->title.empty()) << format->name;
    EXPECT_TRUE(!format->marks.empty() || format->last_resort) << format->name;
    // Lines that differ in digits alone are searched for marks once.
    for (const std::string_view mark : format->marks) {
      EXPECT_FALSE(mark.empty()) << format->name;
      const bool digits = mark.find_first_of("0123456789") != mark.npos;
      // Nobody returns another number.
      EXPECT_EQ(digits, mark == "eturning 0") << format->name;
    }
  }
  EXPECT_EQ(FindLogFormat("no such"), nullptr);
}

}  // namespace
}  // namespace nanwatch
