#include "cli/cause_text.h"

#include <gtest/gtest.h>

namespace nanwatch {
namespace {

TEST(CauseText, ANameBecomesATitleAsTheFieldWritesIt) {
  EXPECT_EQ(Title("nan_from_forward"), "NaN from forward");
  EXPECT_EQ(Title("nan_from_backward"), "NaN from backward");
  EXPECT_EQ(Title("fp8_scaling"), "FP8 scaling");
  EXPECT_EQ(Title("scale_independent_op"), "Scale independent op");
  EXPECT_EQ(Title("na"), "Na");
  EXPECT_EQ(Title(""), "");
}

}  // namespace
}  // namespace nanwatch
