// Paddle's programs and TensorFlow's: sample lines in their texture.

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

constexpr SampleLines kSamples[] = {
    {"the old scale and a ratio", "paddle_amp",
     "Found inf or nan, current scale is: 4096.0, decrease to: 4096.0*0.5\n"
     "[2024-09-01 10:00:00,511] [ WARNING] - optimizer not run, scale_before: "
     "2048.0, scale_after: 1024.0",
     "overflow before=4096 loss_scale=2048\n"
     "overflow before=2048 loss_scale=1024"},
    {"glued", "paddle_amp",
     "Found inf or nan, current scale is: 64.0, decrease to: 64.0*0.5Found inf "
     "or nan, current scale is: 64.0, decrease to: 64.0*0.5",
     "overflow before=64\noverflow before=64 loss_scale=32"},
    {"torn", "paddle_amp",
     "optimizer not run, scale_before: 2048.0, scale_after: 102\n"
     "Found inf or nan, current scale is: 40",
     "overflow before=2048"},
    {"trainer", "paddlenlp",
     "[2022-08-31 16:19:16,008] [    INFO] - loss: 3.25806541, learning_rate: "
     "2.9992e-05, global_step: 10, interval_runtime: 2.2591, "
     "interval_samples_per_second: 3.541, interval_steps_per_second: 4.427, "
     "epoch: 0.0265\n"
     "[2022-08-31 16:19:17,556] [    INFO] - eval_loss: 2.5, learning_rate: "
     "1e-05, global_step: 10, epoch: 0.02\n"
     "[    INFO] - loss: nan, learning_rate: 2e-06, global_step: 11, "
     "global_norm: inf, ppl: nan, progress_or_epoch: 0.0",
     "step=10 loss=3.25806541 learning_rate=2.9992e-05\n"
     "step=11 loss=nan grad_norm=inf learning_rate=2e-06"},
    {"PaddleFleetX, older and newer", "paddlenlp",
     "[2022-07-27 08:53:11,036] [    INFO]  - global step 3, epoch: 0, batch: "
     "2, loss: 11.625000000, avg_reader_cost: 0.23430 sec, avg_batch_cost: "
     "11.67036 sec, speed: 0.09 step/s, learning rate: 6.25000e-09 \n"
     "[2023-02-01 08:00:00,000] [   TRAIN] - [train] epoch: [1/3], batch: "
     "[40/1000], loss: 10.250000000, avg_batch_cost: 0.25000 sec, speed: 4.00 "
     "step/s, learning rate: 5.00000e-05, found_inf: 1\n"
     "[2023-02-01 08:00:00,000] [    EVAL] - [eval] epoch: [1/3], batch: "
     "[40/1000], loss: 9.1, avg_eval_cost: 0.2 sec",
     "step=3 loss=11.625 learning_rate=6.25e-09\n"
     "step=1040 loss=10.25 learning_rate=5e-05 overflowed"},
    {"the examples", "paddlenlp",
     "global step 10, epoch: 0, batch: 9, rank_id: 0, loss: 0.693125, lr: "
     "0.0000200000, speed: 5.5000 step/s\n"
     "eval loss: 0.650000, acc: 0.7, eval done total : 1.1 s",
     "step=10 loss=0.693125 learning_rate=2e-05"},
    {"torn", "paddlenlp",
     "[    INFO] - loss: 3.25806541, learning_rate: 2.9992e-05, global_step: "
     "1\n"
     "[    INFO]  - global step 3, epoch: 0, batch: 2, loss: 11.6428",
     ""},
    {"TensorFlow's logger", "tf_estimator",
     "INFO:tensorflow:loss = 7.125, step = 0\n"
     "INFO:tensorflow:global_step/sec: 1.9\n"
     "INFO:tensorflow:loss = 6.75, step = 100 (52.617 sec)\n"
     "INFO:tensorflow:Saving dict for global step 100: eval_loss = 1.0, "
     "global_step = 100, loss = 6.5",
     "step=0 loss=7.125\nstep=100 loss=6.75"},
    {"absl's, BERT's hook", "tf_estimator",
     "I0521 19:45:05.732480 281473752813584 basic_session_run_hooks.py:260] "
     "global_step = 1300, masked_lm_loss = 0.94164073, next_sentence_loss = "
     "0.023505606, total_loss = 0.96514636 (81.600 sec)\n"
     "I0521 19:46:27.001234 281473752813584 basic_session_run_hooks.py:262] "
     "loss = 0.875, step = 1400 (81.600 sec)",
     "step=1300 loss=0.96514636\nstep=1400 loss=0.875"},
    {"torn", "tf_estimator",
     "INFO:tensorflow:loss = 6.75, step = 10\n"
     "I0521 basic_session_run_hooks.py:260] global_step = 1300, masked_lm_loss "
     "= 0.94164073, next_sentence_loss = 0.0235, total_loss = 0.9651",
     ""},
    {"ranks print into each other", "tf_npu",
     "loss_scale: loss_scale:[65536.0] \nloss_scale:[32768.0] loss_scale:[163",
     "scale loss_scale=65536\nscale loss_scale=32768"},
};

TEST(PaddleTensorFlowFormats, SampleLines) {
  for (const SampleLines& sample : kSamples) {
    ExpectFacts(sample);
    EXPECT_EQ(OthersThatRead(sample.format, sample.lines), "") << sample.what;
  }
}

TEST(PaddleTensorFlowFormats, ScalersStandBesideTheProgram) {
  EXPECT_EQ(RecognisedIn("loss_scale:[65536.0] \n"
                         "I0521 19:45:05.7 28 basic_session_run_hooks.py:260] "
                         "global_step = 1300, total_loss = 0.96 (81.6 sec)"),
            "tf_estimator+tf_npu");
  EXPECT_EQ(RecognisedIn("Found inf or nan, current scale is: 4.0, decrease "
                         "to: 4.0*0.5\n[    INFO] - loss: 3.2, learning_rate: "
                         "2e-05, global_step: 10, epoch: 0.02"),
            "paddlenlp+paddle_amp");
}

}  // namespace
}  // namespace nanwatch
