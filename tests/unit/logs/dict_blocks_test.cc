// Dicts that come in blocks, and those that come one by one.

#include "logs/dict_blocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

std::string Bar(int step) {
  return "  5%|#   | " + std::to_string(step) + "/200 [00:10<00:20, 1.5s/it]";
}

std::string Dict(int i) {
  return "{'loss': '2." + std::to_string(100 + i) +
         "', 'grad_norm': '0.7', 'learning_rate': '2e-05', 'epoch': '0." +
         std::to_string(i) + "'}";
}

std::vector<int64_t> Steps(const std::vector<std::string>& lines) {
  std::vector<int64_t> steps;
  LogReader reader(nullptr, {}, [&steps](const LogRecord& record) {
    steps.push_back(record.step.step);
  });
  for (const std::string& line : lines) reader.ReadLine(line);
  reader.Finish();
  return steps;
}

// `dicts` in each block, behind the bar of its last dict's step or `late` steps
// before that.
std::vector<std::string> Blocks(int blocks, int dicts, int stride, int late) {
  std::vector<std::string> lines = {Bar(0), Bar(1)};
  int made = 0;
  for (int block = 0; block < blocks; ++block) {
    lines.push_back(Bar((made + dicts) * stride - late));
    for (int i = 0; i < dicts; ++i) lines.push_back(Dict(++made));
  }
  return lines;
}

TEST(DictBlocks, EachDictHasItsOwnStep) {
  for (const int late : {0, 1, 6}) {
    std::vector<int64_t> want;
    for (int step = 10; step <= 140; step += 10) want.push_back(step);
    EXPECT_EQ(Steps(Blocks(2, 7, 10, late)), want) << late;
  }
}

TEST(DictBlocks, EvaluationsStandAmongThem) {
  std::vector<std::string> lines = Blocks(2, 7, 10, 0);
  lines.insert(lines.begin() + 6, "{'eval_loss': '2.5', 'epoch': '0.3'}");
  const std::vector<int64_t> steps = Steps(lines);
  ASSERT_EQ(steps.size(), 14u);
  EXPECT_EQ(steps.front(), 10);
  EXPECT_EQ(steps.back(), 140);
}

TEST(DictBlocks, AllMayComeAtTheEnd) {
  EXPECT_EQ(Steps(Blocks(1, 6, 25, 0)),
            (std::vector<int64_t>{25, 50, 75, 100, 125, 150}));
}

TEST(DictBlocks, OnesThatComeAloneAreLeftAsTheyAre) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 9; ++i) {
    lines.push_back(Bar(12 * i));
    lines.push_back(Dict(i));
  }
  std::vector<std::string> out;
  DictBlocks blocks([&out](std::string_view line) { out.emplace_back(line); });
  for (const std::string& line : lines) blocks.Take(line);
  blocks.Flush();
  EXPECT_EQ(out, lines);
}

// Bars that are drawn now and then, and two ranks that print the same.
TEST(DictBlocks, DictsBetweenBarsAreNoBlocks) {
  const std::vector<std::string> thin = {Bar(0),  Dict(1), Dict(2), Bar(37),
                                         Dict(3), Dict(4), Dict(5)};
  const std::vector<std::string> twice = {Bar(0),  Bar(10), Dict(1), Dict(1),
                                          Bar(20), Dict(2), Dict(2)};
  for (const auto& lines : {thin, twice}) {
    std::vector<std::string> out;
    DictBlocks blocks([&](std::string_view line) { out.emplace_back(line); });
    for (const std::string& line : lines) blocks.Take(line);
    blocks.Flush();
    EXPECT_EQ(out, lines);
  }
}

TEST(DictBlocks, NothingIsKeptWhereThereAreNoBars) {
  std::vector<std::string> out;
  DictBlocks blocks([&out](std::string_view line) { out.emplace_back(line); });
  for (int i = 1; i <= 3; ++i) {
    blocks.Take(Dict(i));
    EXPECT_EQ(out.size(), static_cast<size_t>(i));
  }
}

}  // namespace
}  // namespace nanwatch
