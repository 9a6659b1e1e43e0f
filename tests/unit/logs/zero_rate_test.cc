#include "logs/zero_rate.h"

#include <gtest/gtest.h>

#include <string>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

TEST(ZeroRate, IsOneWhereNoDigitsAreHidden) {
  for (const char* line :
       {"{'loss': 2.31, 'learning_rate': 0.0, 'epoch': 0.1}", "lr: 0.000e+00",
        "step 3 loss 2.3 lr=0", R"({"loss": 2, "lr": 0.0})", "lr: [0.0, 0.0]",
        "train/lr 0e+00"}) {
    EXPECT_TRUE(ShowsZeroRate(line)) << line;
  }
}

TEST(ZeroRate, OthersAreRounded) {
  for (const char* line :
       {"step 3 loss 2.3 lr 0.0000", "lr: 0.00", "'learning_rate': 1e-05",
        "color 0.0", "lr", "learning_rate: none", ""}) {
    EXPECT_FALSE(ShowsZeroRate(line)) << line;
  }
}

TEST(ZeroRate, TheRunIsSaidToTellIt) {
  for (const bool exact : {true, false}) {
    LogReader reader(nullptr, {}, [](const LogRecord&) {});
    for (int step = 0; step < 40; ++step) {
      reader.ReadLine("step " + std::to_string(step) + " loss 2.31 lr " +
                      (exact ? "0.0" : "0.00000"));
    }
    reader.Finish();
    EXPECT_EQ(reader.run().settings.contains("learning_rates"), exact);
  }
}

}  // namespace
}  // namespace nanwatch
