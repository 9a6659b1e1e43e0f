// Numbers under other names than most programs use, and what is said of them in
// words alone.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

std::string Told(std::string_view lines) {
  return ToldFacts("key_value", lines);
}

TEST(OtherNames, NaNInWordsStandsInPlaceOfALoss) {
  EXPECT_EQ(Told("12:01 - Starting epoch 3\n12:02 - Loss: 0.75\n"
                 "12:03 - Loss: 0.5\n12:04 - WARNING: Loss is NaN\n"
                 "12:05 - Loss: 0.25\n12:06 - stops if the loss is NaN\n"
                 "12:07 - Loss became NaN"),
            "step=3 loss=0.75\nstep=4 loss=0.5\nstep=5 loss=nan\n"
            "step=6 loss=0.25\nstep=7 loss=nan\n");
  EXPECT_EQ(Told("Loss: 0.75\nLoss: 0.5\nWARNING: Loss is NaN"),
            "loss=0.75\nloss=0.5\nloss=nan\n");
}

TEST(OtherNames, NaNInWordsBesideStepsIsOfAStepThatItNames) {
  EXPECT_EQ(Told("step: 10, loss: 2.5\nWARNING: loss is NaN\n"
                 "WARNING: step 11, loss is NaN\n"
                 "step 12: loss is NaN, skipped"),
            "step=10 loss=2.5\nstep=11 loss=nan\n");
}

}  // namespace
}  // namespace nanwatch
