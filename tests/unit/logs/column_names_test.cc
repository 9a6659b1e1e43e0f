// What columns are called, and maps of columns.

#include "logs/column_names.h"

#include "logs/recogniser.h"
#include "logs/usual_names.h"
#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

std::string Mapped(const std::vector<std::string>& pairs,
                   std::string_view format, std::string_view line) {
  const Result<ColumnMap> map = ParseColumnMap(pairs);
  EXPECT_TRUE(map.ok());
  const auto reader = FindLogFormat(format)->make(*map);
  FactList facts;
  reader->Read(line, &facts);
  std::string text;
  for (const LogFact& fact : facts) text += FactText(fact) + "\n";
  return text;
}

TEST(ColumnMap, OverridesTheUsualNames) {
  EXPECT_EQ(Mapped({"loss=ce", "scale=amp/s"}, "json_lines",
                   R"({"ce": 2.5, "loss": 9, "amp": {"s": 8}, "scale": 4})"),
            "loss=2.5 loss_scale=8\n");
  EXPECT_EQ(Mapped({"log2_scale=bits"}, "key_value", "bits=4 scale=9 step=1"),
            "step=1 loss_scale=16\n");
  EXPECT_EQ(Mapped({"loss=objective"}, "key_value", "objective: 3.5"),
            "loss=3.5\n");
}

TEST(ColumnMap, SaysWhichFieldsThereAre) {
  for (const char* bad : {"loss", "=x", "loss=", "lose=x"}) {
    const Result<ColumnMap> map = ParseColumnMap({"step=it", bad});
    ASSERT_FALSE(map.ok()) << bad;
    EXPECT_NE(map.error().find(bad), std::string::npos) << map.error();
    EXPECT_NE(map.error().find("grad_norm"), std::string::npos);
  }
}

TEST(ColumnMap, LeavesOnlyGenericFormats) {
  const Result<ColumnMap> map = ParseColumnMap({"loss=lm loss"});
  ASSERT_TRUE(map.ok());
  Recogniser recogniser(nullptr, *map, [](const LogFact&, uint64_t) {});
  for (int i = 0; i < 20; ++i) {
    recogniser.ReadLine(
        " iteration       10/     200 | lm loss: 1.1E+01 | loss scale: 8.0 |");
  }
  recogniser.Finish();
  EXPECT_EQ(recogniser.Emitter(), "key_value");
  EXPECT_EQ(recogniser.certainty(), Recogniser::Certainty::kGuess);
}

TEST(ColumnNames, KnowTheTagsOfTheReference) {
  ColumnNames names{ColumnMap()};
  for (const char* scale :
       {"loss-scale", "loss-scale/loss-scale", "train_loss_scale",
        "Train/Samples/loss_scale", "amp/scale", "loss scale"}) {
    EXPECT_EQ(names.Of(scale), ColumnMeaning::kLossScale) << scale;
  }
  for (const char* loss : {"loss", "train/loss", "Train/Samples/train_loss",
                           "training_loss", "nll_loss"}) {
    EXPECT_EQ(names.Of(loss), ColumnMeaning::kLoss) << loss;
  }
  for (const char* classes :
       {"lm-loss-training/lm loss", "lm loss", "train/cross_entropy_loss",
        "loss_ce", "Train/Samples/mlm_loss"}) {
    EXPECT_EQ(names.Of(classes), ColumnMeaning::kCrossEntropy) << classes;
  }
  for (const char* mean :
       {"loss_metrics/global_avg_loss", "Average loss", "train/running_loss"}) {
    EXPECT_EQ(names.Of(mean), ColumnMeaning::kMeanLoss) << mean;
  }
  for (const char* norm : {"grad-norm", "grad-norm/grad-norm", "gnorm",
                           "train/grad_norm", "grad_2.0_norm_total"}) {
    EXPECT_EQ(names.Of(norm), ColumnMeaning::kGradNorm) << norm;
  }
  for (const char* other :
       {"", "eval/loss", "val_loss", "val_ce_loss", "lm loss vs samples",
        "train/loss_epoch", "test/grad_norm", "loss-scale vs samples", "train",
        "epoch"}) {
    EXPECT_EQ(names.Of(other), ColumnMeaning::kNothing) << other;
  }
}

// "batch 64" is its size: a step goes on, however many ranks print.
TEST(ColumnFact, ANumberThatIsTheSameInAllLinesIsNoStep) {
  const auto reader = FindLogFormat("key_value")->make({});
  const auto told = [&reader](int64_t step) {
    FactList facts;
    reader->Read("batch " + std::to_string(step) + " loss: 2.5", &facts);
    return facts.size() == 1 ? facts[0].step : std::optional<int64_t>(-1);
  };
  for (int i = 0; i < 32; ++i) EXPECT_EQ(told(64), 64) << i;
  for (int i = 0; i < 32; ++i) EXPECT_EQ(told(64), std::nullopt) << i;
  for (int i = 0; i < 64; ++i) EXPECT_EQ(told(65), 65) << i;
}

TEST(UsualMeaning, SeesPastWhatSaysHowANumberWasTaken) {
  for (const auto& [name, meaning] :
       {std::pair("trn_loss [nats]", ColumnMeaning::kLoss),
        std::pair("L_total (avg)", ColumnMeaning::kLoss),
        std::pair("total_loss_ema", ColumnMeaning::kMeanLoss),
        std::pair("return_mean_10", ColumnMeaning::kReward),
        std::pair("g_it", ColumnMeaning::kStep),
        std::pair("loss_1", ColumnMeaning::kNothing),
        std::pair("best_loss", ColumnMeaning::kNothing),
        std::pair("mean step time", ColumnMeaning::kNothing)}) {
    EXPECT_EQ(UsualMeaning(name), meaning) << name;
  }
}

}  // namespace
}  // namespace nanwatch
