#include "logs/glued_records.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

TEST(GluedRecords, OneEndsWhereItsFirstWordsStandAgain) {
  const std::string first = "epoch: 1/9, loss: 2.5, acc: 0.3";
  EXPECT_EQ(EndOfGluedRecord(first), std::string::npos);
  EXPECT_EQ(EndOfGluedRecord(first + "epoch: 2/9, loss: 2.25"), first.size());
  EXPECT_EQ(EndOfGluedRecord(first + " epoch: 2/9, loss: 2.25"),
            std::string::npos);
  EXPECT_EQ(EndOfGluedRecord(first + ", best epoch: 1"), std::string::npos);
  EXPECT_EQ(EndOfGluedRecord("loss: 2.5loss: 2.25"), std::string::npos);
}

TEST(GluedRecords, EachIsAStep) {
  std::string line;
  for (int epoch = 1; epoch <= 40; ++epoch) {
    line += "epoch: " + std::to_string(epoch) +
            "/40, train_loss: " + (epoch < 40 ? "2.5" : "nan") + ", acc: 0.5";
  }
  const std::vector<LogRecord> records = RecordsOf({line});
  ASSERT_EQ(records.size(), 40u);
  EXPECT_EQ(records[20].step.step, 21);
  EXPECT_TRUE(std::isnan(records.back().step[StepField::kLoss]));
}

}  // namespace
}  // namespace nanwatch
