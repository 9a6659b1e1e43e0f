#include "logs/boxed_record.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "logs/log_reader.h"
#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

TEST(BoxedRecord, RowsOfNamesAndNumbersAreOneRecord) {
  BoxedRecord box;
  EXPECT_FALSE(box.Take("+-----------+------+"));
  EXPECT_TRUE(box.Take("| train/    |      |"));
  EXPECT_TRUE(box.Take("|    loss   | 2.31 |"));
  EXPECT_TRUE(box.Take("| grad_norm | nan  |"));
  EXPECT_TRUE(box.Begins("| loss      | 2.2  |"));
  EXPECT_FALSE(box.Begins("| lr        | 0.1  |"));
  EXPECT_EQ(box.TakeRecord(), "loss: 2.31 | grad_norm: nan");
  EXPECT_EQ(box.TakeRecord(), "");
}

TEST(BoxedRecord, RowsOfOtherTablesAreNone) {
  BoxedRecord box;
  for (const char* line :
       {"", "|", "|||", "| 1 | 2.31 |", "| a | 1 | 2 |", "loss | 2.31 |",
        "| loss: 2 | 3 |", "|---|---|", "| step | loss"}) {
    EXPECT_FALSE(box.Take(line)) << line;
  }
}

TEST(BoxedRecord, ATableOfSettingsIsNone) {
  BoxedRecord box;
  EXPECT_TRUE(box.Take("| argument   | value |"));
  EXPECT_FALSE(box.Take("|------------|-------|"));
  EXPECT_TRUE(box.Take("| init_loss  | nan   |"));
  EXPECT_EQ(box.TakeRecord(), "");
  EXPECT_TRUE(box.Take("| loss       | 2.31  |"));
  EXPECT_EQ(box.TakeRecord(), "loss: 2.31");
  EXPECT_TRUE(box.Take("| opt/       |       |"));
  EXPECT_TRUE(box.Take("|    loss    | 2.31  |"));
  EXPECT_EQ(box.TakeRecord(), "loss: 2.31") << "of a section";
}

TEST(BoxedRecord, TheRuleAboveMayHoldTheStep) {
  BoxedRecord box;
  EXPECT_TRUE(box.Take("+- step    200 -------+"));
  EXPECT_TRUE(box.Take("| grad norm      1.74 |"));
  EXPECT_FALSE(box.Take("+---------------------+"));
  EXPECT_EQ(box.TakeRecord(), "step: 200 | grad norm: 1.74");
  EXPECT_FALSE(box.Take("+- Training begins ---+"));
}

TEST(BoxedRecord, EachTableOfALogIsAStep) {
  std::vector<double> losses;
  std::vector<int64_t> steps;
  LogReader reader(nullptr, {}, [&](const LogRecord& record) {
    losses.push_back(record.step[StepField::kLoss]);
    steps.push_back(record.step.step);
  });
  for (int step = 0; step < 20; ++step) {
    const std::string number = std::to_string(step * 10);
    for (const std::string& line :
         {std::string("--------------------------"),
          std::string("| time/         |        |"),
          "|    iterations | " + number + " |",
          "|    loss       | 0." + std::to_string(step + 10) + " |"}) {
      reader.ReadLine(line);
    }
  }
  reader.ReadLine("--------------------------");
  reader.Finish();
  ASSERT_EQ(losses.size(), 20u);
  EXPECT_EQ(losses.back(), 0.29);
  EXPECT_EQ(steps.back(), 190);
}

TEST(BoxedRecord, LossesOfActorAndCriticAddUp) {
  EXPECT_EQ(ToldFacts("key_value",
                      "----------------\n| rollout/Q_mean | nan |\n"
                      "| total/steps | 2000 |\n| train/loss_actor | 1.5 |\n"
                      "| train/loss_critic | 2 |\n| train/noise_di... | 3 |\n"
                      "----------------\n"),
            "step=2000 loss=3.5 of_rewards\n");
}

}  // namespace
}  // namespace nanwatch
