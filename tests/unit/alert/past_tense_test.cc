#include "alert/past_tense.h"

#include <gtest/gtest.h>

namespace nanwatch {
namespace {

TEST(InPastTense, TellsWhatIsOverAsOver) {
  EXPECT_EQ(InPastTense("The training diverges since step 40: The loss jumped "
                        "to 8 from its usual 2 (9 robust deviations) and is "
                        "high for 30 records."),
            "The training left its way at step 40: The loss jumped to 8 from "
            "its usual 2 (9 robust deviations) and was high for 30 records.");
  EXPECT_EQ(InPastTense("Gradients outgrow the loss scale: 6 of 50."),
            "Gradients outgrew the loss scale: 6 of 50.");
  EXPECT_EQ(InPastTense("The loss scale is 1: in fp16 gradients below 5.96e-08 "
                        "are lost."),
            "The loss scale was 1: in fp16 gradients below 5.96e-08 were "
            "lost.");
  EXPECT_EQ(InPastTense("No update is applied since step 7: 12 attempts in a "
                        "row overflowed, though the loss scale fell from 4 to "
                        "1, where a lower one helps nobody."),
            "No update was applied from step 7: 12 attempts in a row "
            "overflowed, though the loss scale fell from 4 to 1, where a lower "
            "one helped nobody.");
  EXPECT_EQ(InPastTense("harmless"), "harmless");
  EXPECT_EQ(InPastTense(""), "");
}

}  // namespace
}  // namespace nanwatch
