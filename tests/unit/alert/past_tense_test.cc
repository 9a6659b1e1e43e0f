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
  EXPECT_EQ(InPastTense("harmless"), "harmless");
  EXPECT_EQ(InPastTense(""), "");
}

}  // namespace
}  // namespace nanwatch
