#include "logs/record_joiner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nanwatch {
namespace {

using Lines = std::vector<std::string>;

Lines Joined(const Lines& lines) {
  Lines out;
  RecordJoiner joiner([&out](std::string_view l) { out.emplace_back(l); });
  for (const std::string& line : lines) joiner.Take(line);
  joiner.Flush();
  return out;
}

TEST(RecordJoiner, SectionsAreOfTheirStep) {
  EXPECT_EQ(Joined({"- iteration: 5", "  train:", "    loss: .nan",
                    "  optim:", "    lr: 0.1", ""}),
            (Lines{"- iteration: 5", "", "", "",
                   "- iteration: 5 | loss: .nan | lr: 0.1", ""}));
}

TEST(RecordJoiner, MakesOneLineOfAStepAndItsNumbers) {
  EXPECT_EQ(Joined({"10:00:11 INFO [step=10/900,epoch=0]", "    train/loss=2.5",
                    "    optim/norm=1,250", "next"}),
            (Lines{"10:00:11 INFO [step=10/900,epoch=0]", "",
                   "10:00:11 INFO [step=10/900,epoch=0] | train/loss=2.5 | "
                   "optim/norm=1,250",
                   "next"}));
  EXPECT_EQ(Joined({"[epoch=1][batch=10/625]:", "\t Train loss: nan",
                    "\t Train unit: hours", "\t Train left: 0:10:02"}),
            (Lines{"[epoch=1][batch=10/625]:", "", "",
                   "[epoch=1][batch=10/625]: | Train loss: nan | Train unit: "
                   "hours | Train left: 0:10:02"}));
  // What else the brackets hold is no matter.
  EXPECT_EQ(Joined({"INFO\t[step=6/90,epoch=1,eta=1 day, 3:07:11]",
                    "    optim/step skipped=1", "    train/CE loss=2.5"}),
            (Lines{"INFO\t[step=6/90,epoch=1,eta=1 day, 3:07:11]", "",
                   "INFO\t[step=6/90,epoch=1,eta=1 day, 3:07:11] | optim/step "
                   "skipped=1 | train/CE loss=2.5"}));
  EXPECT_EQ(Joined({"==== Step 3 of 60 ====", "  loss: 2.5 nats"}),
            (Lines{"==== Step 3 of 60 ====",
                   "==== Step 3 of 60 ==== | loss: 2.5 nats"}));
}

// As rich breaks a line that is too long for its console.
TEST(RecordJoiner, SeveralNumbersOfALineAreOfTheStepAbove) {
  EXPECT_EQ(Joined({"[10:01] INFO  step=10/40         loop.py:212",
                    "              loss=2.5 grad_norm=0.5",
                    "              lr=2.0e-05       loop.py:212", "next"}),
            (Lines{"[10:01] INFO  step=10/40         loop.py:212", "",
                   "[10:01] INFO  step=10/40         loop.py:212 | loss=2.5 "
                   "grad_norm=0.5 | lr=2.0e-05       loop.py:212",
                   "next"}));
  EXPECT_EQ(Joined({"INFO  step=10 epoch=0 lr=2e-05   loop.py:212",
                    "      loss=2.5 grad_norm=0.5    ",
                    "      tokens=9181               "}),
            (Lines{"INFO  step=10 epoch=0 lr=2e-05   loop.py:212", "",
                   "INFO  step=10 epoch=0 lr=2e-05   loop.py:212 | loss=2.5 "
                   "grad_norm=0.5 | tokens=9181"}));
}

TEST(RecordJoiner, ANumberThatComesAgainBeginsAnother) {
  EXPECT_EQ(
      Joined({"Epoch 3:", "  loss: 2.5", "  loss: 2.25"}),
      (Lines{"Epoch 3:", "Epoch 3: | loss: 2.5", "Epoch 3: | loss: 2.25"}));
}

TEST(RecordJoiner, LeavesOtherLinesAsTheyAre) {
  for (const Lines& lines :
       {Lines{"optimizer:", "  lr: 0.1"}, Lines{"step by step", "  lr: 0.1"},
        Lines{"Step 1: load the model", "  scale: 65536"},
        Lines{"Epoch 3:", "  batch 10: loss 2.5", "  batch 20: loss 2.25"},
        Lines{"Epoch 3:", "  step: 1 | loss: 2.5", "  step: 2, loss=2.25"},
        Lines{"Epoch 3:", "loss: 2.5"}, Lines{"  Step 3", "  loss: 2.5"},
        Lines{"Epoch 3:", "  'loss': 2.5,", "  {x: 3"},
        Lines{"step=10 loss=2.5  a.py:2", "       grad_norm=0.5"},
        Lines{"INFO lr=0.1 wd=0.1  a.py:2", "     loss=2.5"},
        Lines{"INFO step=10 lr=0.1", "     loss=2.5"},
        Lines{"Traceback, step 3", "  File \"a.py\", line 3"}}) {
    EXPECT_EQ(Joined(lines), lines);
  }
}

TEST(RecordJoiner, HoldsNoMoreThanARecord) {
  const std::string header(RecordJoiner::kHeaderMax, '-');
  const Lines lines = {header + " step 3", "  loss: 2.5"};
  EXPECT_EQ(Joined(lines), lines);
  Lines many = {"step 3"};
  for (int i = 0; i < 1000; ++i) {
    many.push_back("  number_" + std::to_string(i) + ": 1.25");
  }
  size_t records = 0;
  for (const std::string& line : Joined(many)) {
    EXPECT_LE(line.size(), RecordJoiner::kRecordMax + many[1].size());
    records += line.starts_with("step 3 | ") ? 1 : 0;
  }
  EXPECT_GT(records, 1u);
}

}  // namespace
}  // namespace nanwatch
