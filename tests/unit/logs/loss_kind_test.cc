// What a log says of its loss by the name that it gives it.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "logs/log_reader.h"

namespace nanwatch {
namespace {

// What the run says of its loss after 40 lines "step=N NAME=2.5", of which the
// 30th is of `other`.
std::string Said(std::string_view name, std::string_view other) {
  LogReader reader(nullptr, {}, [](const LogRecord&) {});
  for (int step = 1; step <= 40; ++step) {
    reader.ReadLine("step=" + std::to_string(step) + " " +
                    std::string(step == 30 ? other : name) + "=2.5 lr=0.1");
  }
  reader.Finish();
  const auto& settings = reader.run().settings;
  const auto said = settings.find("loss");
  return said == settings.end() ? "nothing" : said->second;
}

TEST(LossKind, ALogWhoseEveryLossIsNamedSoHasACrossEntropy) {
  for (const char* name :
       {"cross_entropy_loss", "cross_entropy", "ce_loss", "loss_ce", "mlm_loss",
        "lm_loss", "train/ce_loss", "xent"}) {
    EXPECT_EQ(Said(name, name), "cross_entropy") << name;
  }
}

TEST(LossKind, AnotherNameSaysNothing) {
  for (const char* name :
       {"loss", "nll", "nll_loss", "entropy_loss", "train_loss"}) {
    EXPECT_EQ(Said(name, name), "nothing") << name;
  }
  EXPECT_EQ(Said("val_loss", "val_loss"), "evaluation");
  EXPECT_EQ(Said("ce_loss", "loss"), "") << "it is taken back";
  EXPECT_EQ(Said("loss", "ce_loss"), "nothing");
  EXPECT_EQ(Said("ce_loss", "val_ce_loss"), "cross_entropy");
}

TEST(LossKind, AContrastiveOneIsKnownByItsName) {
  for (const char* name : {"contrastive_loss", "info_nce_loss", "moco_loss"}) {
    EXPECT_EQ(Said(name, name), "contrastive") << name;
  }
}

TEST(LossKind, ARewardAloneIsNoLoss) {
  EXPECT_EQ(Said("mean_reward", "mean_reward"), "reward");
  EXPECT_EQ(Said("mean_reward", "loss"), "nothing");
  EXPECT_EQ(Said("elbo", "elbo"), "negative");
}

TEST(LossKind, ATermBesideItMakesItASum) {
  EXPECT_EQ(Said("kl_loss=-0.5 ce_loss", "kl_loss=-0.5 ce_loss"), "nothing");
  EXPECT_EQ(Said("loss=0.5 ce_loss", "loss=0.5 ce_loss"), "nothing");
}

}  // namespace
}  // namespace nanwatch
