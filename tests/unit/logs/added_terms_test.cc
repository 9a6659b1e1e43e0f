#include "logs/added_terms.h"

#include <gtest/gtest.h>

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
  EXPECT_TRUE(Adds("step 1 l1: 0.0 iou: 2.1 total: 4.7", 4.7,
                   "step 2 l1: 2.9 iou: 2.0 total: 7.6", 7.6))
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

}  // namespace
}  // namespace nanwatch
