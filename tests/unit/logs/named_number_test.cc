#include "logs/named_number.h"

#include <gtest/gtest.h>

#include <string>

#include "logs/epoch_steps.h"

namespace nanwatch {
namespace {

std::string Behind(std::string_view text, std::string_view name,
                   LastNumber last = LastNumber::kMayBeTorn) {
  const auto printed = NumberBehind(text, name, last);
  return printed ? std::string(printed->text) : "none";
}

TEST(NamedNumber, StandsBehindAWholeName) {
  EXPECT_EQ(Behind("box_loss: 1, s0.loss: 2, loss: 3.5 x", "loss: "), "3.5");
  EXPECT_EQ(Behind("box_loss: 1, s0.loss: 2,", "loss: "), "none");
  EXPECT_EQ(Behind("loss:   nan|", "loss:"), "nan");
}

TEST(NamedNumber, IsNotTorn) {
  EXPECT_EQ(Behind("loss: 3.5", "loss: "), "none");
  EXPECT_EQ(Behind("loss: 3.5", "loss: ", LastNumber::kIsWhole), "3.5");
  EXPECT_EQ(Behind("loss: 3.2024-01-01 10:00", "loss: "), "none");
  EXPECT_EQ(Behind("loss: 314:28:46", "loss: "), "none");
  EXPECT_EQ(Behind("loss: 3.5epoch", "loss: "), "none");
}

TEST(NamedNumber, Decimals) {
  EXPECT_EQ(Decimals("1.5311"), 4u);
  EXPECT_EQ(Decimals("1.5311e-05"), 4u);
  EXPECT_EQ(Decimals("-3"), 0u);
  EXPECT_EQ(Decimals("nan"), 0u);
}

TEST(NamedNumber, CountsCannotOverflow) {
  Scan ratio("  10/ 200]");
  const auto read = ReadRatio(&ratio);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->part, 10);
  EXPECT_EQ(read->whole, 200);
  Scan negative("-1"), huge("9223372036854775807"), most("1000000000");
  EXPECT_EQ(ReadCount(&negative), std::nullopt);
  EXPECT_EQ(ReadCount(&huge), std::nullopt);
  EXPECT_EQ(ReadCount(&most), kCountMax);
}

TEST(NamedNumber, MessagesOfALine) {
  std::string messages;
  ForEachMessage("x step: 1 step: 2",
                 "step: ", [&](std::string_view text, size_t at) {
                   messages.append(std::to_string(at)).append(text).append(";");
                 });
  EXPECT_EQ(messages, "21 ;102;");
}

TEST(EpochSteps, GoOnOverEpochs) {
  EpochSteps steps;
  EXPECT_EQ(steps.Step(1, 1), 1);
  EXPECT_EQ(steps.Step(1, 100), 100);
  EXPECT_EQ(steps.Step(2, 1), 101);
  EXPECT_EQ(steps.Step(1, 100), 100);  // another rank, late
  EXPECT_EQ(steps.Step(2, 100), 200);
  EXPECT_EQ(steps.Step(4, 1), 301);  // an epoch that printed nothing
}

TEST(EpochSteps, NoSumOverflows) {
  EpochSteps steps;
  for (int i = 0; i < 50; ++i) {
    EXPECT_GE(steps.Step(1, 1'000'000'000), 0) << i;
    EXPECT_GE(steps.Step(900'000'000, 1), 0) << i;
    EXPECT_GE(steps.Step(900'000'001, 1), 0) << i;
  }
}

TEST(EpochSteps, CountFromZeroWithoutAStepTwice) {
  EpochSteps steps;
  for (int64_t step = 0; step < 100; step += 10) steps.Step(0, step);
  EXPECT_EQ(steps.Step(1, 0), 100);
  EXPECT_EQ(steps.Step(0, 90), 90);  // late, or begun again
  EXPECT_EQ(steps.Step(1, 10), 110);
}

TEST(EpochSteps, ALogMayBeginInALaterEpoch) {
  SeenEpochSteps steps;
  EXPECT_EQ(steps.Step(126, 35, 400), 125 * 400 + 35);
  EXPECT_EQ(steps.Step(126, 385, 400), 125 * 400 + 385);
  EXPECT_EQ(steps.Step(127, 35, 400), 126 * 400 + 35);
  EXPECT_EQ(steps.Step(126, 35, 400), 125 * 400 + 35);
  SeenEpochSteps whole;  // 400 are the run's, as far as its first line shows
  EXPECT_EQ(whole.Step(3, 35, 400), 35);
  EXPECT_EQ(whole.Step(4, 45, 400), 45);
  SeenEpochSteps untold;
  EXPECT_EQ(untold.Step(126, 35), 35);
}

TEST(EpochSteps, OneThatEndsWhereTheNextBeginsGoesOn) {
  SeenEpochSteps steps;
  EXPECT_EQ(steps.Step(1, 100), 100);
  EXPECT_EQ(steps.Step(1, 200), 200);
  EXPECT_EQ(steps.Step(2, 200), 200);
  EXPECT_EQ(steps.Step(2, 300), 300);
  SeenEpochSteps lines;  // one an epoch, of its last step
  EXPECT_EQ(lines.Step(1, 100), 100);
  EXPECT_EQ(lines.Step(2, 100), 200);
}

TEST(EpochSteps, BeginAnew) {
  EpochSteps steps;
  EXPECT_EQ(steps.Step(1, 100), 100);
  EXPECT_EQ(steps.Step(2, 100), 200);
  EXPECT_EQ(steps.Step(3, 100), 300);
  EXPECT_EQ(steps.Step(2, 1), 101);  // from the checkpoint of epoch 1
  EXPECT_EQ(steps.Step(2, 100), 200);
  EXPECT_EQ(steps.Step(3, 1), 201);
  EXPECT_EQ(steps.Step(2, 60), 160);  // and from one within the second epoch
  EXPECT_EQ(steps.Step(2, 100), 200);
  EXPECT_EQ(steps.Step(3, 100), 300);
  EXPECT_EQ(steps.Step(4, 1), 301);
  EXPECT_EQ(steps.Step(1, 1), 1);
}

}  // namespace
}  // namespace nanwatch
