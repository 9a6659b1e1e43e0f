// Logs of no known program: names and numbers, JSON lines, tables, W&B's
// exports.

#include "logs/column_names.h"
#include "logs/recogniser.h"
#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

constexpr SampleLines kSamples[] = {
    {"equals signs", "key_value",
     "step=10 loss=1.25 scale=65536\n"
     "step=20 loss=nan scale=32768 grad_norm=inf lr=1e-4",
     "step=10 loss=1.25 loss_scale=65536\n"
     "step=20 loss=nan loss_scale=32768 grad_norm=inf learning_rate=0.0001"},
    {"colons, names of two words, a clock before them", "key_value",
     "[2024-03-01 12:01:07] INFO step: 10, loss: 1.25 | loss scale: 65536.0 | "
     "grad norm: 0.5 | learning rate: 3e-4",
     "step=10 loss=1.25 loss_scale=65536 grad_norm=0.5 learning_rate=0.0003"},
    {"mixed, brackets, a tensor", "key_value",
     "(iter: 40/1000) [loss=tensor(2.5, device='cuda:0')], 'lr': [0.001], "
     "overflow: True",
     "step=40 loss=2.5 learning_rate=0.001 overflowed"},
    {"a step without punctuation", "key_value",
     "Epoch 1, Step 30 | loss: 0.75\n[iter 40/200] train_loss=0.5",
     "step=30 loss=0.75\nstep=40 loss=0.5"},
    {"numbers before names, and what is no number", "key_value",
     "time=0.5 loss=1.5 -3 scale=8 7/200 step=4\n"
     "5 step=6 2.5 loss=1.25 nan scale=4 -x lr=0.5 1e+3 grad_norm=2\n"
     "5 step=6 2_5_loss=1.25 scale=4 - grad_norm=2",
     "step=4 loss=1.5 loss_scale=8\n"
     "step=6 loss=1.25 loss_scale=4 grad_norm=2 learning_rate=0.5\n"
     "step=6 loss_scale=4 grad_norm=2"},
    {"a rounded scale", "key_value", "step=10 loss=1.5 scale=0.0",
     "step=10 loss=1.5 loss_scale<=0.05"},
    {"a scale that is not known", "key_value", "step=10 loss=1.5 scale=-1.0",
     "step=10 loss=1.5"},
    {"a logarithm", "key_value", "step=1 loss=1.5 lg_loss_scale=20",
     "step=1 loss=1.5 loss_scale=1048576"},
    {"a count of skipped steps, and of each line", "key_value",
     "step=1 loss=2 skipped=3\nstep=2 loss=2 skipped=3\n"
     "step=3 loss=2 skipped=0\nstep=4 loss=2 skipped=1\n"
     "step=5 loss=2 skipped=true",
     "step=1 loss=2 skipped_total=3\nstep=2 loss=2 skipped_total=3\n"
     "step=3 loss=2 skipped_since=0\nstep=4 loss=2 skipped_since=1\n"
     "step=5 loss=2 overflowed"},
    {"cut within the scale; a scale that is told twice was not", "key_value",
     "step=1 loss=2.5 scale=4096.0\nstep=2 loss=2.5 scale=4\n"
     "step=3 loss=2.5 scale=40\nstep=4 loss=2.5 scale=81\n"
     "step=5 loss=2.5 scale=2048.0\nstep=6 loss=2.5 scale=16\n"
     "step=7 loss=2.5 scale=1\nstep=8 loss=2.5 scale=16\n"
     "step=9 loss=2.5 scale=1\nstep=10 loss=2.5 scale=1",
     "step=1 loss=2.5 loss_scale=4096\nstep=2 loss=2.5\nstep=3 loss=2.5\n"
     "step=4 loss=2.5\nstep=5 loss=2.5 loss_scale=2048\n"
     "step=6 loss=2.5 loss_scale=16\nstep=7 loss=2.5\n"
     "step=8 loss=2.5 loss_scale=16\nstep=9 loss=2.5\n"
     "step=10 loss=2.5 loss_scale=1"},
    {"a scale that is not at the line's end is whole", "key_value",
     "step=1 scale=4096.0 loss=2.5\nstep=2 scale=4 loss=2.5",
     "step=1 loss=2.5 loss_scale=4096\nstep=2 loss=2.5 loss_scale=4"},
    {"bars of steps, and shares that are no numbers of ours", "key_value",
     "Steps:   6%|6         | 180/3000 [00:10<01:30, 10.00it/s, lr=1.00e-04, "
     "step_loss=nan]\n"
     "Steps: 100%|##########| 3000/3000 [00:10<00:00, 10.00it/s, "
     "step_loss=0.5]\n"
     "step=7 loss=0.5 overflow=5%",
     "step=180 loss=nan learning_rate=0.0001\nstep=3000 loss=0.5\n"
     "step=7 loss=0.5"},
    {"a task's number before it", "json_lines",
     "3: {\"step\": 10, \"loss\": 2.5}", "step=10 loss=2.5"},
    {"no training step", "key_value",
     "Validation step=10 loss=1.5\n"
     "eval: step: 10, loss: 2.5\n"
     "val_loss=1.5 test_loss=2.5 step=10\n"
     "learning rate: 1e-4, step: 10\n"
     "best loss: 3\n"
     "url: http://host:80/step/loss=\n"
     "time: 10:11:12 elapsed: 3.5s throughput=12.5\n"
     "config: loss=mse step=warmup scale=auto\n"
     "=:=:=: : = :\n"
     "loss",
     ""},
    {"torn", "key_value", "step=10 loss=1.\nstep=1", "step=10 loss=1"},
    {"objects in one another", "json_lines",
     R"({"step": 10, "train": {"loss": 2.5, "grad_norm": NaN}, "amp": )"
     R"({"scale": "65536.0"}, "tags": ["a", {"loss": 9}], "note": null})",
     "step=10 loss=2.5 loss_scale=65536 grad_norm=nan"},
    {"numbers as strings, Infinity, a scale of zero", "json_lines",
     R"({"num_updates": "20", "loss": "Infinity", "loss_scale": 0})",
     "step=20 loss=inf loss_scale=0"},
    {"glued", "json_lines", R"({"step":1,"loss":2}{"step":2,"loss":3},)",
     "step=1 loss=2\nstep=2 loss=3"},
    {"torn, of an evaluation, of something else", "json_lines",
     R"({"step": 10, "loss": 2.5)"
     "\n"
     R"({"step": 10, "loss": 2.5, "split": "valid"})"
     "\n"
     R"({"step": 10, "eval_loss": 2.5, "eval/loss": 3})"
     "\n"
     R"({"event": "saved", "step": 10})"
     "\n"
     R"({"loss": 3})"
     "\n{\"\n{\"a\":{\"a\":{\"a\":[[[[[[[[[[[[[[[[[[[[[",
     ""},
    {"steps that begin anew in each epoch", "key_value",
     "Epoch [1/3], Step [1/2], Loss: 2.5\nEpoch [1/3], Step [2/2], Loss: 2.25\n"
     "Epoch [2/3], Step [1/2], Loss: 2\nEpoch [2/3], Step [2/2], Loss: 1.75\n"
     "Epoch [3/3], Step [1/2], Loss: nan",
     "step=1 loss=2.5\nstep=2 loss=2.25\nstep=3 loss=2\nstep=4 loss=1.75\n"
     "step=5 loss=nan"},
    {"a late rank's line, and a run that begins again in an epoch", "key_value",
     "epoch=0 step=100 loss=2.5\nepoch=0 step=200 loss=2\n"
     "epoch=1 step=100 loss=1.5\nepoch=0 step=200 loss=2\n"
     "epoch=1 step=200 loss=1.25\nepoch=1 step=100 loss=1.5\n"
     "epoch=2 step=100 loss=1\nepoch=1 step=150 loss=1.5\n"
     "epoch=0 step=100 loss=2.5\nstep=150 loss=2.5",
     "step=100 loss=2.5\nstep=200 loss=2\nstep=300 loss=1.5\n"
     "step=200 loss=2\nstep=400 loss=1.25\nstep=300 loss=1.5\n"
     "step=500 loss=1\nstep=350 loss=1.5\nstep=100 loss=2.5\n"
     "step=150 loss=2.5"},
    {"steps of the run beside epochs; it begins again, and no epoch rises",
     "key_value",
     "epoch: 2 max_epoch: 9 step: 30 loss: 2.5\n"
     "epoch: 3 max_epoch: 9 step: 40 loss: 2\n"
     "epoch: 3 max_epoch: 9 step: 31 loss: 2\n"
     "epoch: 4 max_epoch: 9 step: 35 loss: 1.5\n"
     "epoch: 2 max_epoch: 9 step: 20 loss: 2.5\n"
     "step: 10 loss: 2.5",
     "step=30 loss=2.5\nstep=40 loss=2\nstep=31 loss=2\nstep=35 loss=1.5\n"
     "step=20 loss=2.5\nstep=10 loss=2.5"},
    {"epochs in JSON, of which a part is over", "json_lines",
     R"({"train": {"epoch": 0.5, "iter": 10, "loss": 2.5}})"
     "\n"
     R"({"train": {"epoch": 1.0, "iter": 10, "loss": 2}})"
     "\n"
     R"({"train": {"epoch": 1.5, "iter": 15, "loss": 1.5}})"
     "\n"
     R"({"train": {"epoch": "x", "iter": 15, "loss": 1.5}})",
     "step=10 loss=2.5\nstep=20 loss=2\nstep=25 loss=1.5\nstep=25 loss=1.5"},
    {"epochs in a table, and steps that no epoch has", "csv",
     "epoch,step,loss\n0,10,2.5\n1,10,2\n2,5,1.5\n2,6,1\n"
     "999999,1000000000000000,1\n-1,7,1\nnan,8,1\n1e300,9,1",
     "step=10 loss=2.5\nstep=20 loss=2\nstep=25 loss=1.5\n"
     "step=26 loss=1\nstep=1e+15 loss=1\nstep=27 loss=1\n"
     "step=28 loss=1\nstep=29 loss=1"},
    {"CSV, quotes, absent cells", "csv",
     "epoch,step,\"train/loss\",loss scale,grad_norm,note\n"
     "0,10,2.5,65536,0.5,\"a, b\"\n"
     "0,20,,32768,,\n"
     "0,30,nan,32768,inf,x\n"
     "0,40,2.5,1",
     "step=10 loss=2.5 loss_scale=65536 grad_norm=0.5\n"
     "step=20 loss_scale=32768\n"
     "step=30 loss=nan loss_scale=32768 grad_norm=inf"},
    {"tabs, and a second table", "csv",
     "iteration\tloss\tlr\n1\t2.5\t0.1\nprose, with commas\n"
     "step;loss;gnorm\n2;1.5;0.25",
     "step=1 loss=2.5 learning_rate=0.1\nstep=2 loss=1.5 grad_norm=0.25"},
    {"not a table", "csv",
     "loss, they said, is what it is\n1,2,3\nname,loss\nx,3\na,b\n", ""},
    {"a panel of two runs", "wandb_history",
     "\"Step\",\"sun-7 - train/loss\",\"sun-7 - train/loss__MIN\",\"sun-7 - "
     "train/loss__MAX\",\"moon-8 - train/loss\"\n"
     "\"10\",\"2.5\",\"2.4\",\"2.6\",\"9.5\"\n"
     "\"20\",\"\",\"\",\"\",\"9.25\"\n"
     "\"30\",\"NaN\",\"NaN\",\"NaN\",\"9\"",
     "step=10 loss=2.5\nstep=30 loss=nan"},
    {"run.history() as CSV", "wandb_history",
     ",_step,_runtime,_timestamp,train/loss,train/global_step,eval/loss\n"
     "0,0,1.5,1700000000.5,2.5,10,\n"
     "1,1,2.5,1700000001.5,,20,2.25\n"
     "2,2,2.5,1700000001.5,2.25,20,",
     "step=10 loss=2.5\nstep=20 loss=2.25"},
    {"JSON lines", "wandb_history",
     R"({"_step": 5, "_timestamp": 1.7e9, "train/loss": 2.5, "lr": 0.1})"
     "\n"
     R"({"_step": 6, "train/global_step": 60, "train/loss": "NaN"})"
     "\n"
     R"({"_step": 7, "eval/loss": 2.5})",
     "step=5 loss=2.5 learning_rate=0.1\nstep=60 loss=nan"},
};

class GenericFormats : public testing::TestWithParam<SampleLines> {};

TEST_P(GenericFormats, SayWhatTheLinesSay) { ExpectFacts(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Samples, GenericFormats, testing::ValuesIn(kSamples));

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
  for (const char* loss : {"loss", "lm-loss-training/lm loss", "train/loss",
                           "lm loss", "Train/Samples/train_loss",
                           "loss_metrics/global_avg_loss", "training_loss"}) {
    EXPECT_EQ(names.Of(loss), ColumnMeaning::kLoss) << loss;
  }
  for (const char* norm : {"grad-norm", "grad-norm/grad-norm", "gnorm",
                           "train/grad_norm", "grad_2.0_norm_total"}) {
    EXPECT_EQ(names.Of(norm), ColumnMeaning::kGradNorm) << norm;
  }
  for (const char* other :
       {"", "eval/loss", "val_loss", "lm loss vs samples", "train/loss_epoch",
        "test/grad_norm", "loss-scale vs samples", "train", "epoch"}) {
    EXPECT_EQ(names.Of(other), ColumnMeaning::kNothing) << other;
  }
}

}  // namespace
}  // namespace nanwatch
