#include "logs/pair_lists.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

TEST(PairLists, AreDicts) {
  std::string out;
  EXPECT_EQ(WithDictOfPairs("a: [('step', 10), ('average_loss', nan)] b", &out),
            "a: {'step': 10, 'average_loss': nan} b");
  EXPECT_EQ(WithDictOfPairs("OrderedDict([('at', '0:10), ('), ('loss', "
                            "tensor(2.5)), ('l', [1, 2])])",
                            &out),
            "{'at': '0:10), (', 'loss': tensor(2.5), 'l': [1, 2]}");
}

TEST(PairLists, LeaveOtherLinesAsTheyAre) {
  for (const std::string_view line :
       {"step 10 loss 2.5", "[('lr', 0.5), ('steps', 900), ('scale', 128)]",
        "[('loss', 'mse'), ('lr', 0.5)]", "[('step', 10), ('loss', 2.5)",
        "[('step', 10), ('loss', 2.", "[('loss', 2.5), 3]", "[('loss',)]",
        "[('loss', 2.5]", "[('", "[('loss', 2.5)('lr', 0.5)]"}) {
    std::string out;
    EXPECT_EQ(WithDictOfPairs(line, &out).data(), line.data()) << line;
  }
}

TEST(PairLists, AreSteps) {
  std::vector<std::string> lines;
  for (int step = 10; step < 200; step += 10) {
    lines.push_back("INFO: [('average_loss', 2.5), ('n_updates', " +
                    std::to_string(step) + "), ('rlen', 7)]");
  }
  const std::vector<LogRecord> records = RecordsOf(lines);
  ASSERT_EQ(records.size(), lines.size());
  EXPECT_EQ(records[1].step.step, 20);
  EXPECT_EQ(records[1].step[StepField::kLoss], 2.5);
}

}  // namespace
}  // namespace nanwatch
