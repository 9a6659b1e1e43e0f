#include "logs/step_sign.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

std::string Overflow(int scale) {
  return "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale "
         "to " +
         std::to_string(scale) + ".0";
}

TEST(StepSigns, AreBarsOfTrainingsAndGlobalSteps) {
  StepSigns signs;
  EXPECT_EQ(signs.Find(" 1%|#  | 22/900 [00:10<12:00,  2.30it/s]"), 22);
  EXPECT_EQ(signs.Find("Epoch 3: 1%|#  | 23/900 [00:10<12:00,  2it/s]"), 23);
  EXPECT_EQ(signs.Find("Map: 1%|#  | 24/900 [00:10<12:00,  2it/s]"),
            std::nullopt);
  EXPECT_EQ(signs.Find("Validation: 1%|#  | 24/900 [00:10<12:00,  2it/s]"),
            std::nullopt);
  EXPECT_EQ(signs.Find(" 1%|#  | 24/50 [00:10<12:00,  2it/s]"), std::nullopt);
  EXPECT_EQ(signs.Find("{'global_steps': 20, 'eval_loss': 4.25}"), 20);
  EXPECT_EQ(signs.Find("prose of 20 steps"), std::nullopt);
  StepSigns fresh;
  EXPECT_EQ(fresh.Find("100%|###| 7/7 [00:01<00:00,  5.1it/s]"), std::nullopt);
}

// A bar between overflows shows that others did not overflow.
TEST(StepSigns, PlaceALibrarysOverflows) {
  const std::vector<LogRecord> records =
      RecordsOf({Overflow(32768), " 1%|#  | 10/900 [00:10<12:00,  2.30it/s]",
                 Overflow(16384), Overflow(8192)});
  int good = 0;
  int64_t last = 0;
  for (const LogRecord& record : records) {
    good += record.step.is_not(StepFlag::kOverflow) ? 1 : 0;
    last = record.step.step;
  }
  EXPECT_EQ(records.size(), 12u);
  EXPECT_EQ(good, 9);
  EXPECT_EQ(last, 12);
}

// Where each update overflows, the bar goes on all the same.
TEST(StepSigns, MakeNoGoodStepOfABarThatCountsOverflows) {
  std::vector<std::string> lines;
  for (int i = 0; i < 10; ++i) {
    lines.push_back(" 1%|#  | " + std::to_string(i) +
                    "/900 [00:10<12:00,  2.30it/s]" + Overflow(65536 >> i));
  }
  for (const LogRecord& record : RecordsOf(lines)) {
    EXPECT_TRUE(record.step.is(StepFlag::kOverflow)) << record.line;
  }
}

// Between two step lines a bar places each overflow.
TEST(StepSigns, PlaceOverflowsBetweenStepLines) {
  std::vector<std::string> lines;
  for (int step = 0; step < 40; ++step) {
    if (step > 0 && step % 10 == 0) {
      lines.push_back("{'loss': 2.5, 'learning_rate': 1e-05, 'epoch': 0.1}");
    }
    lines.push_back(" 1%|#  | " + std::to_string(step) +
                    "/900 [00:10<12:00,  2.30it/s]");
    if (step < 25) continue;
    lines.back() +=
        "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: " +
        std::to_string(1 << (40 - step)) + ", reducing to " +
        std::to_string(1 << (39 - step));
  }
  int64_t good = 0;
  int64_t overflows = 0;
  for (const LogRecord& record : RecordsOf(lines)) {
    if (record.step.is(StepFlag::kOverflow)) {
      ++overflows;
    } else {
      good = record.step.step;
    }
  }
  EXPECT_EQ(overflows, 15);
  EXPECT_EQ(good, 25);
}

// A log that begins with a bar that has come far is cut out of one: nothing
// shows the steps before.
TEST(StepSigns, MakeNoGoodStepBeforeTheFirstLine) {
  std::vector<std::string> lines;
  for (int i = 0; i < 10; ++i) {
    lines.push_back(" 1%|#  | " + std::to_string(i + 7) +
                    "/900 [00:10<12:00,  2.30it/s]" + Overflow(65536 >> i));
    lines.push_back("rate 12.5/s");
  }
  const std::vector<LogRecord> records = RecordsOf(lines);
  EXPECT_EQ(records.size(), 10u);
  for (const LogRecord& record : records) {
    EXPECT_TRUE(record.step.is(StepFlag::kOverflow)) << record.line;
  }
}

// A program's own step lines say more than a bar.
TEST(StepSigns, SayNothingBesideStepLines) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 9; ++i) {
    lines.push_back(" 1%|#  | " + std::to_string(i) +
                    "00/900 [00:10<12:00,  2.30it/s]");
    lines.push_back("step " + std::to_string(i) + " loss: 2.5");
    lines.push_back(Overflow(65536 >> i));
  }
  for (const LogRecord& record : RecordsOf(lines)) {
    EXPECT_LE(record.step.step, 10);
  }
}

}  // namespace
}  // namespace nanwatch
