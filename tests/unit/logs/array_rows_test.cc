#include "logs/array_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "logs/line_splitter.h"
#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

using Lines = std::vector<std::string>;

Lines Rows(const Lines& lines) {
  Lines told;
  ArrayRows rows({},
                 [&told](std::string_view line) { told.emplace_back(line); });
  for (const std::string& line : lines) rows.Take(line);
  rows.Finish();
  return told;
}

std::string LossesOf(const Lines& lines) {
  std::string text;
  for (const LogRecord& record : RecordsOf(lines)) {
    const double loss = record.step[StepField::kLoss];
    text += std::to_string(record.step.step) + ":" +
            std::to_string(loss).substr(0, 4) + " ";
  }
  return text;
}

TEST(ArrayRows, MakesATableOfAHistory) {
  EXPECT_EQ(
      Rows({R"({"loss": [2.5, NaN], "val_loss": [2.75, null], "lr": [1]})"}),
      (Lines{"", R"("","loss","val_loss")", "1,2.5,2.75", "2,NaN,"}));
  EXPECT_EQ(Rows({"{", R"(  "run": "a",)", R"(  "losses": [)", "    2.5,",
                  "    1.5", "  ],", R"(  "seed": 7)", "}"}),
            (Lines{"{", R"(  "run": "a",)", R"(  "losses": [)", "", "", "  ],",
                   R"(  "seed": 7)", "}", R"("","losses")", "1,2.5", "2,1.5"}));
}

TEST(ArrayRows, TakesTheArraysThatSayMost) {
  // Of equal lengths; an evaluation's keep what they are in.
  EXPECT_EQ(Rows({R"({"rewards": [1, 2, 3], "train": {"loss": [2.5, 1.5]},)",
                  R"("val": {"loss": [2.75, 2.25]}, "note": ["a", "b"]})"})
                .at(2),
            R"("","loss","val/loss")");
  EXPECT_EQ(LossesOf({R"({"time": [9, 8], "return": [-20.5, -3.5, -1.5]})"}),
            "1:20.5 2:3.50 3:1.50 ");
}

TEST(ArrayRows, LeavesOtherLogsAsTheyAre) {
  const Lines records = {R"({"step": 1, "loss": 2.5, "losses": [1.5, 1.0]})",
                         R"({"step": 2, "loss": 2.4, "losses": [1.4, 1.0]})"};
  EXPECT_EQ(Rows(records), records);
  const Lines settings = {"{", R"(  "betas": "0.9",)", "}", "step 1 loss 2.5"};
  EXPECT_EQ(Rows(settings), settings);
  const Lines words = {R"({"loss": ["mse", "mae"]})"};
  EXPECT_EQ(Rows(words), words);
  const Lines torn = {R"({"name": "run", "loss": )"};
  EXPECT_EQ(Rows(torn), torn);
}

TEST(ArrayRows, ReadsOneLongerThanALine) {
  constexpr int kValues = 20'000;
  std::string text = R"({"loss": [)";
  for (int i = 0; i < kValues; ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(3.0 - i * 1e-4);
  }
  text += "]}\n";
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  LineSplitter splitter(
      [&reader](std::string_view line) { reader.ReadLine(line); });
  splitter.Feed(text);
  splitter.Finish();
  reader.Finish();
  EXPECT_EQ(splitter.cut_lines(), 0u);
  EXPECT_EQ(reader.recogniser().step_lines(), uint64_t{kValues});
  EXPECT_LT(reader.lines(), 10u);
}

}  // namespace
}  // namespace nanwatch
