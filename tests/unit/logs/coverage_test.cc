#include "logs/coverage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

// Ten lines of `before` and the step, and three of what stands for the loss.
ReadLog ReadTurned(const std::string& before, const std::string& words,
                   const std::string& behind) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 13; ++i) {
    const std::string loss = i > 10 ? words : std::to_string(2.5 - 0.1 * i);
    lines.push_back("step: " + std::to_string(i) + before + loss + behind);
  }
  return ReadAll(lines);
}

TEST(Coverage, CountsStepLinesThatHoldWords) {
  for (const char* words : {"None", "null", "N/A", "<no data>", "--"}) {
    const ReadLog read = ReadTurned(", loss: ", words, ", lr: 0.1");
    EXPECT_EQ(read.records.size(), 10u) << words;
    EXPECT_EQ(read.coverage.step_lines, 13u) << words;
    EXPECT_EQ(read.coverage.read(), 10u) << words;
    EXPECT_FALSE(read.coverage.enough()) << words;
    ASSERT_EQ(read.coverage.examples.size(), 1u) << words;
    EXPECT_EQ(read.coverage.examples[0].line, 11u);
    EXPECT_EQ(read.coverage.examples[0].name, "loss");
    EXPECT_EQ(read.coverage.examples[0].text, words);
  }
}

// The first ones wait until five show what their numbers mean.
TEST(Coverage, CountsLinesThatWaited) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 9; ++i) {
    const std::string n = std::to_string(i);
    lines.push_back("Training loss at update " + n + " is 2." + n + ".");
  }
  const ReadLog read = ReadAll(lines);
  EXPECT_EQ(read.records.size(), 9u);
  EXPECT_EQ(read.coverage.step_lines, 9u);
}

// pandas writes NaN as nothing, and so do others.
TEST(Coverage, CountsStepLinesThatHoldNothing) {
  for (const auto& [before, behind] :
       {std::pair(", loss: ", ", lr: 0.1"), std::pair(" loss = ", "")}) {
    const ReadLog read = ReadTurned(before, "", behind);
    EXPECT_EQ(read.records.size(), 10u) << before;
    EXPECT_EQ(read.coverage.unread, 3u) << before;
    EXPECT_FALSE(read.coverage.enough()) << before;
    ASSERT_EQ(read.coverage.examples.size(), 1u) << before;
    EXPECT_EQ(read.coverage.examples[0].name, "loss");
    EXPECT_EQ(read.coverage.examples[0].text, "");
  }
}

std::vector<std::string> Table(const char* header, int rows,
                               const std::vector<std::string>& turns) {
  std::vector<std::string> lines{header};
  for (int i = 0; i < rows; ++i) {
    lines.push_back(std::to_string(i) +
                    turns[static_cast<size_t>(i) % turns.size()]);
  }
  return lines;
}

TEST(Coverage, CellsThatBecomeEmptyAreUnread) {
  std::vector<std::string> lines =
      Table("step,loss,grad_norm,lr", 40, {",2.5,0.5,0.1"});
  for (int i = 40; i < 60; ++i) {
    lines.push_back(std::to_string(i) + ",,,0.1");
  }
  const ReadLog read = ReadAll(lines);
  EXPECT_EQ(read.coverage.step_lines, 60u);
  EXPECT_EQ(read.coverage.unread, 20u);
  EXPECT_FALSE(read.coverage.enough());
}

// Rows of a validation, of a rate, of steps without a word on the loss.
TEST(Coverage, CellsThatAreEmptyByDesignAreFine) {
  for (const auto& turns : {std::vector<std::string>{",2.5,,0.1", ",,2.75,"},
                            {",2.5,,", ",,,0.1", ",,2.75,"},
                            {",2.5,,0.1", ",,,0.1", ",,,0.1"}}) {
    const ReadLog read =
        ReadAll(Table("step,train_loss,val_loss,lr", 90, turns));
    EXPECT_TRUE(read.coverage.enough()) << turns[0];
    EXPECT_EQ(read.coverage.unread, 0u) << turns[0];
  }
}

// Another key comes or goes with the number.
TEST(Coverage, WordsAreFoundByTheirNames) {
  for (const char* line : {R"({"step": 41, "loss": null, "lr": 0.1})",
                           R"({"lr": 0.1, "loss": "n/a", "step": 41})"}) {
    std::vector<std::string> lines;
    for (int i = 0; i < 30; ++i) {
      lines.push_back("{\"step\": " + std::to_string(i) +
                      ", \"loss\": 2.5, \"lr\": 0.1, \"time\": 7.5}");
    }
    lines.insert(lines.end(), 5, line);
    const ReadLog read = ReadAll(lines);
    EXPECT_EQ(read.coverage.unread, 5u) << line;
    EXPECT_FALSE(read.coverage.enough()) << line;
  }
  std::vector<std::string> lines(20, "step=3 loss=2.5 gn=0.5");
  lines.insert(lines.end(), 5, "step=4 loss=nanxxx grad=0.5");
  const ReadLog nan = ReadAll(lines);
  EXPECT_TRUE(std::isnan(nan.records.back().step[StepField::kLoss]));
}

TEST(Coverage, ReadsNanInEveryDress) {
  for (const char* words :
       {"nan", "NaN", "nanxxx", "nan%", "tensor(nan, device='cuda:0')",
        "np.float64(nan)", "DTensor(local_tensor=nan, placements=(R(),))",
        "Tensor(shape=[1], dtype=float32, [nan])", "1.#QNAN", "-1.#IND",
        "-nan(ind)", "<nan>", "-nan"}) {
    const ReadLog read = ReadTurned(", loss: ", words, ", lr: 0.1");
    ASSERT_EQ(read.records.size(), 13u) << words;
    EXPECT_TRUE(read.coverage.enough()) << words;
    for (size_t i = 0; i < 13; ++i) {
      EXPECT_EQ(std::isnan(read.records[i].step[StepField::kLoss]), i >= 10)
          << words;
    }
  }
}

// In lines of one number alone, those where it turned to words are unread, too.
TEST(Coverage, ALoneNumberDoesNotVanish) {
  const auto read_with = [](const std::string& words) {
    std::vector<std::string> lines;
    for (int i = 1; i <= 20; ++i) {
      lines.push_back("epoch = " + std::to_string(i));
      lines.push_back("train_loss = " + (i > 15 ? words : "0.5f0"));
    }
    return ReadAll(lines);
  };
  const ReadLog nan = read_with("NaN32");
  EXPECT_EQ(nan.records.size(), 20u);
  EXPECT_TRUE(std::isnan(nan.records.back().step[StepField::kLoss]));
  for (const char* words : {"missing", "n/a", "--"}) {
    const ReadLog read = read_with(words);
    EXPECT_EQ(read.records.size(), 15u) << words;
    EXPECT_EQ(read.coverage.unread, 5u) << words;
    EXPECT_FALSE(read.coverage.enough()) << words;
  }
  EXPECT_TRUE(read_with("focal").coverage.enough());
}

TEST(Coverage, ANormInWordsIsMissedThoughTheLossIsThere) {
  const auto norm = [](const char* words) {
    return ReadTurned(", loss: 2.5, lr: 0.1, grad_norm: ", words, ", end 1");
  };
  const ReadLog none = norm("None");
  EXPECT_EQ(none.records.size(), 13u);
  EXPECT_EQ(none.coverage.unread, 3u);
  EXPECT_TRUE(none.coverage.ends_unread);
  const ReadLog nan = norm("nan_skipped");
  EXPECT_EQ(nan.coverage.unread, 0u);
  EXPECT_TRUE(std::isnan(nan.records[12].step[StepField::kGradNorm]));
}

// Of a program's own lines.
TEST(Coverage, ReadsDressesOfKnownPrograms) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 12; ++i) {
    lines.push_back(std::string("{'loss': 2.5, 'grad_norm': ") +
                    (i > 9 ? "tensor(nan, device='cuda:0')" : "0.5") +
                    ", 'learning_rate': 1e-05, 'epoch': 0.1}");
  }
  const ReadLog read = ReadAll(lines);
  ASSERT_EQ(read.records.size(), 12u);
  EXPECT_FALSE(std::isnan(read.records[8].step[StepField::kGradNorm]));
  EXPECT_TRUE(std::isnan(read.records[9].step[StepField::kGradNorm]));
  EXPECT_EQ(read.coverage.step_lines, 12u);
}

TEST(Coverage, OtherLinesAreNoStepLines) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 40; ++i) {
    lines.push_back("step: " + std::to_string(i) + ", loss: 2.5, lr: 0.1");
    lines.push_back("saved step: " + std::to_string(i) + " to model.pt");
    lines.push_back("step: " + std::to_string(i) + ", accuracy: none, lr: 1");
  }
  const ReadLog read = ReadAll(lines);
  EXPECT_EQ(read.coverage.step_lines, 40u);
  EXPECT_EQ(read.coverage.unread, 0u);
}

// A torn line in a long log is not the end of all knowledge; one at the end is.
TEST(Coverage, OneOfManyIsEnoughUnlessItIsTheLast) {
  LogCoverage coverage;
  coverage.step_lines = 1000;
  coverage.unread = 1;
  EXPECT_TRUE(coverage.enough());
  coverage.ends_unread = true;
  EXPECT_FALSE(coverage.enough());
  coverage.ends_unread = false;
  coverage.unread = 10;
  EXPECT_FALSE(coverage.enough());
}

TEST(StepShape, FitsNumbersAndWordsInTheirPlaces) {
  StepShape shape;
  ASSERT_TRUE(shape.Learn("| step   10 | loss  2.31 | 1.2e-05", 1));
  std::vector<WordsForNumber> words;
  EXPECT_TRUE(shape.Match("| step 2000 | loss 12.31 | 3", &words));
  EXPECT_TRUE(words.empty());
  EXPECT_TRUE(shape.Match("| step 2000 | loss nan | 3", &words));
  EXPECT_TRUE(words.empty());
  ASSERT_TRUE(shape.Match("| step 2000 | loss not known | 3", &words));
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0].name, "loss");
  EXPECT_EQ(words[0].text, "not known");
  EXPECT_FALSE(shape.Match("| step 2000 | loss 2", &words));
  EXPECT_FALSE(shape.Match("| step 2000 | lost 2.3 | 3", &words));
  EXPECT_FALSE(shape.Match("| step 2000 | loss 2.3x | 3", &words));
  EXPECT_FALSE(shape.Match("", &words));
  StepShape row;
  ASSERT_TRUE(row.Learn("1,2,3,4", 1));
  EXPECT_TRUE(row.Match("2,None,3,4", &words));
  EXPECT_FALSE(row.Match("and, so, on, 4", &words));
}

// Each of a line that shows several losses, and the first of which waited.
TEST(Coverage, CountsLinesAndNoFacts) {
  LogReader reader(FindLogFormat("alike_lines"), {}, [](const LogRecord&) {});
  for (int i = 1; i <= 9; ++i) {
    reader.ReadLine("[" + std::to_string(i) +
                    "] one_loss 2.5 / two_loss 4.5 / three_loss -1.5");
  }
  reader.Finish();
  EXPECT_EQ(reader.recogniser().coverage().step_lines, 9u);
  std::vector<std::string> lines;
  for (int i = 0; i < 9; ++i) {
    lines.push_back(std::to_string(10 * i) +
                    ":\tlearn: 0.5\ttest: 0.5\ttotal: 3ms\tremaining: 3s");
  }
  EXPECT_EQ(ReadAll(lines).coverage.step_lines, 9u);
}

// An evaluation's, say. Where there are more of them, they may be the steps.
TEST(Coverage, ALineBesideEachStepMaySayWhatItWill) {
  const auto unread = [](int beside) {
    std::vector<std::string> lines;
    for (int i = 0; i < 20; ++i) {
      const std::string n = std::to_string(10 + i);
      for (int k = 0; k < beside; ++k) {
        lines.push_back("[Metrics] AUC: 0.7" + n + " - logloss: 0.39" + n);
      }
      if (i > 0) lines.push_back("Train loss: 0.5" + n);
    }
    return ReadAll(lines).coverage.unread;
  };
  EXPECT_EQ(unread(1), 0u);
  EXPECT_GT(unread(2), 20u);
}

}  // namespace
}  // namespace nanwatch
