#include "logs/added_terms.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace nanwatch {
namespace {

constexpr std::string_view kBefore = "[one][0400] rec 0.025 kl 3.1 total 0.026";

bool Adds(std::string_view before, double loss, std::string_view line,
          double now) {
  AddedTerms terms;
  return !terms.Take(before, loss) && terms.Take(line, now);
}

TEST(AddedTerms, NewOnesMakeTheLossLeap) {
  EXPECT_TRUE(Adds(kBefore, 0.026,
                   "[two][0420] rec 0.026 kl 3.0 adv 0.9 fm 8.1 total 15.0",
                   15));
  EXPECT_TRUE(Adds("step 1 l1_loss: 0.0 iou_loss: 4.6 total: 4.7", 4.7,
                   "step 2 l1_loss: 2.9 iou_loss: 4.6 total: 7.6", 7.6))
      << "it was 0 before";
}

TEST(AddedTerms, ALossThatDivergesTakesItsPartsAlong) {
  EXPECT_FALSE(Adds(kBefore, 0.026,
                    "[two][0420] rec 6.9 kl 3.0 adv 0.9 total 8.1", 8.1));
  EXPECT_FALSE(
      Adds(kBefore, 0.026, "[one][0420] rec 0.026 kl 3.1 total 15.0", 15))
      << "nothing is new";
  EXPECT_FALSE(
      Adds("step 1 total 0.026", 0.026, "step 2 total 15.0 adv 0.9", 15))
      << "no part shows where it was";
  EXPECT_FALSE(Adds(kBefore, 0.026,
                    "[two][0420] rec 0.026 kl nan adv 0.9 total 15.0", 15));
  EXPECT_FALSE(Adds(kBefore, 0.026,
                    "[two][0420] rec 0.026 kl 3.0 adv 0.001 total 0.027",
                    0.027))
      << "no leap";
}

TEST(AddedTerms, OtherNumbersThatAreNewThereExplainNothing) {
  const auto adds = [](std::string_view before, std::string_view now) {
    return Adds(
        std::string("step 1 ce 0.81 aux 0.030 loss 0.84").append(before), 0.84,
        std::string("step 2 ce 0.83 aux 0.031 loss 3.20").append(now), 3.2);
  };
  EXPECT_TRUE(adds("", " kd 2.30"));
  EXPECT_FALSE(adds("", " val_loss 2.30"));
  EXPECT_FALSE(adds("", " acc 0.10"));
  EXPECT_FALSE(adds("", " WARNING loss above threshold 2.50"));
  EXPECT_FALSE(adds(" clipped 0.00", " clipped 1.00"));
  EXPECT_FALSE(adds(" kl 0.000", " kl 5000.0")) << "it exploded";
  EXPECT_FALSE(adds("", " kd 230.0")) << "that is more than it leaps by";
  EXPECT_FALSE(adds("", " kd nan"));
  EXPECT_FALSE(Adds("step 1 loss 0.84 mfu 0.41", 0.84,
                    "step 2 loss 3.20 mfu 0.41 jump 2.36", 3.2))
      << "no term that it was made of";
}

}  // namespace
}  // namespace nanwatch
