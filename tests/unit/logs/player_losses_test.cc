// Losses of a GAN's two players, in lines of no known program.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

std::string Told(std::string_view line) { return ToldFacts("key_value", line); }

// `before`, a number that rises, and `behind`, twelve times.
std::vector<std::string> Lines(const std::string& before,
                               const std::string& behind) {
  std::vector<std::string> lines;
  for (int i = 0; i < 12; ++i) {
    lines.push_back(before + std::to_string(10 * i) + behind);
  }
  return lines;
}

struct Sums {
  double generator = 0;
  double discriminator = 0;
};

// The losses of the newest step, which must be two of rivals.
Sums NewestOf(const std::vector<std::string>& lines) {
  const std::vector<LogRecord> records = RecordsOf(lines);
  EXPECT_EQ(records.size(), 24u) << lines[0];
  Sums sums;
  if (records.size() < 2) return sums;
  sums.generator = records[records.size() - 2].step[StepField::kLoss];
  sums.discriminator = records.back().step[StepField::kLoss];
  EXPECT_EQ(records.back().step.step, 110) << lines[0];
  return sums;
}

TEST(PlayerLosses, AreKnownByTheirNamesWithoutASign) {
  for (const std::string_view behind :
       {" errD 0.5 errG 1.5 lr 0.0002", " | loss_D 0.5 | loss_G 1.5",
        " loss_d 0.5 loss_g 1.5 D(x) 0.75 D(G(z)) 0.25", " D 0.5 G 1.5",
        " loss_D tensor(0.5, grad_fn=<NllLossBackward0>) loss_G tensor(1.5, "
        "grad_fn=<NllLossBackward0>)",
        " | D_A 0.25 | G_A 0.5 | cycle_A 0.25 | idt_A 0.25 | D_B 0.25 | G_B "
        "0.5 | lr 1.00e-04"}) {
    const Sums sums = NewestOf(Lines("step ", std::string(behind)));
    EXPECT_EQ(sums.generator, 1.5) << behind;
    EXPECT_EQ(sums.discriminator, 0.5) << behind;
  }
}

TEST(PlayerLosses, ATableOfPartsNeedsNoOtherNames) {
  EXPECT_EQ(ToldFacts("csv", "box_loss\tcls_loss\n0.5\t1\n0.25\t1"),
            "loss=1.5\nloss=1.25\n");
  EXPECT_EQ(ToldFacts("csv", "pose_loss\tadv_loss\n0.5\t1\n0.25\t1"), "");
}

TEST(PlayerLosses, OneAloneIsReadWhereItSaysThatItIsALoss) {
  // Its first step is told twice, by a run that goes on.
  std::vector<std::string> lines = Lines("step ", " | loss_G 1.5 | sep 0.5");
  lines.insert(lines.begin(), lines.front());
  lines.emplace_back("step 120 | loss_G nan | sep 0.5");
  const std::vector<LogRecord> records = RecordsOf(lines);
  ASSERT_EQ(records.size(), 13u);
  EXPECT_EQ(records.back().step.step, 120);
  EXPECT_TRUE(std::isnan(records.back().step[StepField::kLoss]));
  EXPECT_TRUE(RecordsOf(Lines("step ", " | G 1.5 | sep 0.5")).empty());
}

// Neither is a part of a loss: they would add up to what neither player has.
TEST(PlayerLosses, AreNoPartsInWords) {
  const std::string told =
      "step=5 loss=1.5 of_adversary scaler=0\n"
      "step=5 loss=0.5 of_adversary scaler=1\n";
  EXPECT_EQ(Told("step 5: d_loss 0.5  g_loss 1.5  (1.5 ms)"), told);
  EXPECT_EQ(Told("step 5, D loss 0.5, G loss 1.5"), told);
  EXPECT_EQ(Told("step 5 d_loss tensor(0.5, device='cuda:0') g_loss 1.5"),
            told);
  // What is of the whole, or has no rival.
  EXPECT_EQ(Told("step 5 loss 2.5 d_loss 0.5 g_loss 1.5"), "step=5 loss=2.5\n");
  EXPECT_EQ(Told("step 5 kl_loss 0.5 g_loss 1.5"), "step=5 loss=2\n");
}

TEST(PlayerLosses, HaveCycleGansNamesWithSigns) {
  EXPECT_EQ(Told("step=5 D_A=0.5 G_A=0.25 cycle_A=0.5 D_B=nan G_B=0.25 lr=0.5"),
            "step=5 loss=1 learning_rate=0.5 of_adversary scaler=0\n"
            "step=5 loss=nan of_adversary scaler=1\n");
}

TEST(PlayerLosses, AreKnownByShortNamesInFrontOfABar) {
  EXPECT_EQ(Told("d: -2.5;gen: 1.5:   0%|          | 40/2000 [00:20<16:20, "
                 "2.00it/s]"),
            "step=40 loss=1.5 of_adversary scaler=0\n"
            "step=40 loss=-2.5 of_adversary scaler=1\n");
  EXPECT_EQ(Told("d: 2.5, k: 1.5:   0%|          | 40/2000 [00:20<16:20, "
                 "2.00it/s]"),
            "");
}

TEST(PlayerLosses, AreNoneOfLettersAlone) {
  EXPECT_TRUE(RecordsOf(Lines("at ", " D 0.5 H 1.5")).empty());
  EXPECT_TRUE(RecordsOf(Lines("at ", " D 5 G 15")).empty());
  EXPECT_TRUE(RecordsOf(Lines("at ", " D_lr 0.5 G_lr 0.25")).empty());
}

}  // namespace
}  // namespace nanwatch
