#include "logs/evaluation_loss.h"

#include <gtest/gtest.h>

namespace nanwatch {
namespace {

TEST(EvaluationLossTest, IsFoundAsProgramsPrintIt) {
  for (const char* line : {
           "{'eval_loss': nan, 'eval_runtime': 12.1, 'epoch': 0.39}",
           "{'eval_loss': 'nan', 'epoch': '0.39'}",
           "      \"eval_loss\": NaN,",
           "1875/1875 - 2s - loss: 0.25 - accuracy: 0.9 - val_loss: nan",
           "step 250: train loss 1.9312, val loss nan",
           "validation loss: NaN",
           "{'train/loss': 1.5, 'eval/loss': nan}",
           "Epoch 1: 100%|###| 10/10 [00:01, v_num=1, train_loss=1.2, "
           "val_loss=inf]",
       }) {
    EvaluationLoss loss;
    loss.Look("{'loss': 2.5, 'eval_loss': 1.5}");
    loss.Look(line);
    loss.Look("eval_loss: nan");
    EXPECT_EQ(loss.line(), 2u) << line;
    EXPECT_TRUE(loss.name().ends_with("loss")) << loss.name();
  }
}

TEST(EvaluationLossTest, IsFoundInATablesColumn) {
  EvaluationLoss loss;
  loss.Look("epoch,train/box_loss,val/box_loss,val/cls_loss");
  loss.Look("1,nan,2.5,nan");
  EXPECT_EQ(loss.line(), 0u);
  loss.Look("2,2.5,nan,2.5");
  EXPECT_EQ(loss.line(), 3u);
  EXPECT_EQ(loss.name(), "val/box_loss");
}

TEST(EvaluationLossTest, OtherLossesAndWordsAreNone) {
  EvaluationLoss loss;
  for (const char* line : {
           "{'train_loss': nan}",
           "eval_loss: 1.25",
           "interval_loss: nan",
           "eval_loss_scaled: nan",
           "best eval_loss so far: nan",
           "eval_loss: nano",
           "eval_loss",
           "validity loss: nan",
           "val",
           "",
       }) {
    loss.Look(line);
  }
  EXPECT_EQ(loss.line(), 0u);
}

}  // namespace
}  // namespace nanwatch
