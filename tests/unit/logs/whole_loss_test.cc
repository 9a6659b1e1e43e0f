// Which of the losses that a line names is the whole.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

std::string Told(std::string_view lines) {
  return ToldFacts("key_value", lines);
}

TEST(WholeLoss, IsTheOneWhoseWordsAllOthersHave) {
  EXPECT_EQ(Told("Step 5, mean pose loss 2.5, mean mask loss nan, mean loss "
                 "nan, size: 8\n"
                 "Step 6, mean pose loss 2.5, mean mask loss 0.5, mean loss 3, "
                 "size: 8"),
            "step=5 loss=nan\nstep=6 loss=3\n");
  EXPECT_EQ(Told("step: 5 Pose Loss: 0.5 Mask Loss: 0.25 Loss: 0.75\n"
                 "step: 6 Pose Loss: 0.5 Mask Loss: 0.25 Loss: nan"),
            "step=5 loss=0.75\nstep=6 loss=nan\n");
}

TEST(WholeLoss, SaysThatItIsTheTotal) {
  for (const char* total : {"Tot Loss", "total loss", "Overall Loss"}) {
    const std::string name = total;
    EXPECT_EQ(Told("step: 5 Pose Loss: 0.5 Mask Loss: 0.25 " + name +
                   ": 0.75\nstep: 6 Pose Loss: 0.5 Mask Loss: 0.25 " + name +
                   ": nan"),
              "step=5 loss=0.75\nstep=6 loss=nan\n")
        << name;
  }
}

TEST(WholeLoss, IsNoTermBehindAUnit) {
  EXPECT_EQ(Told("step: 5 time: 0.5 s loss: 0.75 avg_loss: nan\n"
                 "step: 6 speed: 2 it/s loss: 0.5 avg_loss: nan"),
            "step=5 loss=0.75\nstep=6 loss=0.5\n");
}

TEST(WholeLoss, MayStandAloneOrFirst) {
  EXPECT_EQ(Told("step: 5 Pose Loss: 0.5\nstep: 6 Pose Loss: nan"),
            "step=5 loss=0.5\nstep=6 loss=nan\n");
  EXPECT_EQ(Told("step 5 loss 0.75 pose loss 0.5\n"
                 "step 6 loss 0.5 pose loss nan"),
            "step=5 loss=0.75\nstep=6 loss=0.5\n");
  EXPECT_EQ(Told("step: 5 Training loss: 0.75 Pose loss: 0.5"),
            "step=5 loss=0.75\n");
}

}  // namespace
}  // namespace nanwatch
