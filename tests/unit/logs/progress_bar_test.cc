// Bars that are glued to each other, as a paste without its carriage returns
// shows them.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "logs/in_words.h"
#include "logs/line_splitter.h"
#include "logs/log_reader.h"

namespace nanwatch {
namespace {

std::string Bar(int step, const std::string& loss) {
  return "Steps:  10%|##    | " + std::to_string(step) +
         "/5000 [00:10<00:20, 1.5s/it, lr=[1e-4], loss=" + loss + "]";
}

TEST(GluedBars, OneEndsWithItsBracket) {
  const std::string bar = Bar(10, "0.31");
  EXPECT_EQ(EndOfGluedBar(bar), std::string::npos);
  EXPECT_EQ(EndOfGluedBar(bar + "Saved all to out/10"), std::string::npos);
  EXPECT_EQ(EndOfGluedBar(bar + Bar(11, "nan")), bar.size());
  EXPECT_EQ(EndOfGluedBar("99%| of 100%| is no bar"), std::string::npos);
}

TEST(GluedBars, EachIsAStepHoweverLongTheLineIs) {
  std::string line;
  for (int step = 1; step <= 3000; ++step) {
    line += Bar(step, step < 2990 ? "0.31" + std::to_string(step % 7) : "nan");
  }
  ASSERT_GT(line.size(), 2 * kLogLineMax);
  int64_t first_nan = -1;
  int64_t steps = 0;
  LogReader reader(nullptr, {}, [&](const LogRecord& record) {
    ++steps;
    const bool nan = std::isnan(record.step[StepField::kLoss]);
    if (nan && first_nan < 0) first_nan = record.step.step;
  });
  LineSplitter lines([&](std::string_view each) { reader.ReadLine(each); });
  lines.Feed(line);
  lines.Finish();
  reader.Finish();
  EXPECT_EQ(lines.cut_lines(), 0u);
  EXPECT_EQ(steps, 3000);
  EXPECT_EQ(first_nan, 2990);
}

// The place of a step, of a line without a bar.
int64_t StepOf(const char* line) {
  bool in_bar = false;
  const auto place = StepInWords(line, &in_bar);
  return place ? place->step : -1;
}

TEST(StepInWords, CountsMayBeInThousands) {
  EXPECT_EQ(StepOf("[train] step 24.5k/60k loss=2.3"), 24500);
  EXPECT_EQ(StepOf("on:train 10.40kit/20.0kit rate:4.7it/s loss=2.3"), 10400);
  EXPECT_EQ(StepOf("step 1_010_000 loss 8.25 lr 2.9e-4"), 1010000);
  EXPECT_EQ(StepOf("rate 4.7it/s loss=2.3"), -1);
}

TEST(StepInWords, ABatchMayBeOne) {
  const auto batch = [](const char* line) {
    const auto place = CountOfBatch(line);
    return place ? place->step : -1;
  };
  EXPECT_EQ(batch("Epoch: 1  Batch: 100  Loss: 2.3"), 100);
  EXPECT_EQ(batch("epoch: 0, batch_id: 10, loss is: 2.3"), 10);
  EXPECT_EQ(batch("batch: 10, loss is: 2.3"), 10);
  EXPECT_EQ(batch("epoch: 0, batch_size: 10"), -1);
}

}  // namespace
}  // namespace nanwatch
