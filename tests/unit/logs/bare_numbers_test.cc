#include "logs/bare_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nanwatch {
namespace {

using testing::ElementsAre;

std::vector<std::string> Named(std::string_view file,
                               const std::vector<std::string>& lines) {
  BareNumbers numbers;
  numbers.SetFile(file);
  std::vector<std::string> named;
  for (const std::string& line : lines) named.emplace_back(numbers.Of(line));
  return named;
}

TEST(BareNumbers, HaveTheFilesName) {
  const std::vector<std::string> lines = {"2.5", "", " 2.25e-1", "nan"};
  EXPECT_THAT(Named("runs/1/train_loss.txt", lines),
              ElementsAre("loss 2.5", "", "loss 2.25e-1", "loss nan"));
  EXPECT_THAT(Named("valLoss.csv", {"2.5", "2.25"}),
              ElementsAre("epoch 1: val_loss=2.5", "epoch 2: val_loss=2.25"));
  EXPECT_THAT(Named("losses.csv", {"0,2.5", "1,2.25"}),
              ElementsAre("loss 0,2.5", "loss 1,2.25"));
  EXPECT_THAT(Named("episode_rewards.txt", {"9.5", "12"}),
              ElementsAre("episode 1 reward 9.5", "episode 2 reward 12"));
  EXPECT_THAT(Named("loss/numbers.txt", lines), testing::ContainerEq(lines));
}

TEST(BareNumbers, HaveTheNameAboveThem) {
  EXPECT_THAT(
      Named("out.txt", {"losses", "2.5", "2.25", "losses", "2.5"}),
      ElementsAre("losses", "loss 2.5", "loss 2.25", "losses", "loss 2.5"));
  EXPECT_THAT(Named("loss.txt", {"rewards", "2.5"}),
              ElementsAre("rewards", "episode 1 reward 2.5"));
}

TEST(BareNumbers, AreNoneWhereALineSaysMore) {
  EXPECT_THAT(Named("loss.csv", {"epoch,loss", "1,2.5"}),
              ElementsAre("epoch,loss", "1,2.5"));
  EXPECT_THAT(Named("loss.txt", {"epoch loss", "1 2.5", "2.25"}),
              ElementsAre("epoch loss", "1 2.5", "2.25"));
  for (const char* const file : {"sorted_loss.txt", "packet_loss.txt"}) {
    EXPECT_THAT(Named(file, {"2.5"}), ElementsAre("2.5"));
  }
  for (const char* const line : {"0.5 2.5", "1 0.25 2.5", "0.5,1"}) {
    EXPECT_THAT(Named("loss.txt", {line}), ElementsAre(line));
  }
  EXPECT_THAT(Named("loss.txt", {"Error: no loss", "2.25"}),
              ElementsAre("Error: no loss", "2.25"));
}

TEST(BareNumbers, GoOnBehindWhatElseIsSaid) {
  EXPECT_THAT(Named("loss.txt", {"2.5", "Epoch 2", "2.25", "2,**", "None"}),
              ElementsAre("loss 2.5", "Epoch 2", "loss 2.25", "loss 2,**",
                          "loss None"));
}

TEST(BareNumbers, WithoutANameAreSaidToBe) {
  BareNumbers numbers;
  numbers.SetFile("out.txt");
  EXPECT_FALSE(numbers.unnamed());
  numbers.Of("2.5");
  EXPECT_TRUE(numbers.unnamed());
  numbers.Of("loss 2.5");
  EXPECT_FALSE(numbers.unnamed());
}

}  // namespace
}  // namespace nanwatch
