#include "logs/plain_line.h"

#include <gtest/gtest.h>

#include <string_view>

namespace nanwatch {
namespace {

TEST(PlainLine, HasNoColoursNorSignsOfALogger) {
  PlainLine plain;
  EXPECT_EQ(plain.Of("\x1b[32mloss\x1b[0m: 2.5\r"), "loss: 2.5");
  EXPECT_EQ(plain.Of("Batch [9]#011Speed: 2.5#011ce=nan"),
            "Batch [9]\tSpeed: 2.5\tce=nan");
  EXPECT_EQ(plain.Of("#011Step 1'500#011"), "\tStep 1500\t");
  const std::string_view line = "step #10 loss 2.5";
  EXPECT_EQ(plain.Of(line).data(), line.data());
}

}  // namespace
}  // namespace nanwatch
