// Tables whose headers say little.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

using Lines = std::vector<std::string>;

// "0:2.5 1:2.25": steps and losses.
std::string LossesOf(const Lines& lines) {
  std::string text;
  for (const LogRecord& record : RecordsOf(lines)) {
    const double loss = record.step[StepField::kLoss];
    if (!text.empty()) text += ' ';
    text += std::to_string(record.step.step) + ":" +
            std::to_string(loss).substr(0, 4);
  }
  return text;
}

TEST(TableHeader, TakesTheNumbersOfRowsForSteps) {
  EXPECT_EQ(LossesOf({",Loss,Rate", "0,2.50,0.1", "1,2.25,0.1"}),
            "0:2.50 1:2.25");
  EXPECT_EQ(LossesOf({"Unnamed: 0,train_losses", "0,2.50", "1,2.25"}),
            "0:2.50 1:2.25");
  // What has steps keeps them.
  EXPECT_EQ(LossesOf({",step,loss", "0,100,2.50", "1,200,2.25"}),
            "100:2.50 200:2.25");
  // A row's number and nothing else is no training's.
  EXPECT_EQ(LossesOf({",name,size", "0,7.5,2.50", "1,7.5,2.25"}), "");
}

TEST(TableHeader, TakesSetsOfDataForLossesThatFall) {
  const Lines falls = {",train,val",  "0,2.5,2.75", "1,2.25,2.5", "2,2.0,2.25",
                       "3,1.75,2.25", "4,1.5,2.0",  "5,1.25,2.0"};
  EXPECT_EQ(LossesOf(falls), "0:2.50 1:2.25 2:2.00 3:1.75 4:1.50 5:1.25");
  // Or it is an accuracy.
  const Lines rises = {"epoch,train,valid", "0,0.25,0.25", "1,0.5,0.25",
                       "2,0.5,0.5",         "3,0.75,0.5",  "4,0.75,0.5",
                       "5,0.5,0.25"};
  EXPECT_EQ(LossesOf(rises), "");
}

TEST(TableHeader, TakesRewardsWithoutAStep) {
  EXPECT_EQ(LossesOf({"epoch,avg_reward,skill", "0,1.50,9", "1,2.50,9"}),
            "0:-1.5 1:-2.5");
  EXPECT_EQ(LossesOf({"reward,frame,value", "1.50,640,9.5", "2.50,1280,9.5"}),
            "640:-1.5 1280:-2.5");
  // Rows of evaluations among those of a training are no records.
  EXPECT_EQ(LossesOf({"step,loss,eval/mean_reward", "1,0.50,", ",,2.5",
                      "2,0.25,", ",,3.5", "3,0.25,"}),
            "1:0.50 2:0.25 3:0.25");
}

TEST(TableHeader, ReadsARowANumberByTheNameInIt) {
  EXPECT_EQ(LossesOf({R"("Run","metric","step","value")",
                      R"("calm-fox","loss","10","2.50")",
                      R"("calm-fox","loss","20","2.25")",
                      R"("calm-fox","gpu_memory","10","9.5")"}),
            "10:2.50 20:2.25");
}

TEST(TableHeader, KnowsQuartilesFromCritics) {
  const auto rewarded = [](const std::string& header) {
    LogReader reader(nullptr, {}, [](const LogRecord&) {});
    reader.ReadLine(header);
    for (int i = 1; i <= 9; ++i) {
      reader.ReadLine(std::to_string(i) + ",0.5,0.25,0.25");
    }
    reader.Finish();
    return reader.run().settings.contains("trains_on");
  };
  EXPECT_FALSE(rewarded("step,loss,loss_q0,loss_q1"));
  EXPECT_TRUE(rewarded("step,loss,q1_loss,q2_loss"));
}

}  // namespace
}  // namespace nanwatch
