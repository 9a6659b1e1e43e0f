// MindFormers, MindSpore's own callbacks and mindyolo: sample lines in their
// texture, and what they say.

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

constexpr SampleLines kSamples[] = {
    {"old line, float32 in 8 digits", "mindformers",
     "[INFO] 2023-05-02 09:12:44,310 [/home/ma/mindformers/core/callback/"
     "callback.py:269] print_output_info: Epoch:[  2/  5], step:[    4/  250], "
     "loss:[3.118/3.118], time:2204.102 ms, lr:[1.2e-06], overflow cond: True, "
     "loss_scale: 268435460.0",
     "step=254 loss=3.118 loss_scale=268435456 learning_rate=1.2e-06 "
     "overflowed"},
    {"zero learning rate of numpy, 2^32", "mindformers",
     "print_output_info: Epoch:[  1/  1], step:[    1/   80], loss:[nan/nan], "
     "time:9.101 ms, lr:[0.], overflow cond: True, loss_scale: 4294967300.0",
     "step=1 loss=nan loss_scale=4294967296 learning_rate=0 overflowed"},
    {"no learning rate given", "mindformers",
     "Epoch:[  1/  1], step:[   12/   80], loss:[2.001/2.340], time:9.101 ms, "
     "overflow cond: False, loss_scale: 65536.0",
     "step=12 loss=2.001 loss_scale=65536 clean"},
    {"new line", "mindformers",
     "2025-03-01 10:00:00,120 - mindformers./out/log[mindformers/core/callback/"
     "callback.py:529] - INFO - { Epoch:[  1/  2], step:[    7/   19], loss: "
     "10.649, per_step_time: 1752ms, lr: 1e-05, overflow cond: False, "
     "loss_scale: 1.0, global_norm: [1.310491], train_throughput_per_npu: "
     "170.738T",
     "step=7 loss=10.649 loss_scale=1 grad_norm=1.310491 learning_rate=1e-05 "
     "clean"},
    {"scale and norm not known", "mindformers",
     "{ Epoch:[  1/  2], step:[    7/   19], loss: 10.649, per_step_time: "
     "1752ms, lr: 1e-05, overflow cond: False, loss_scale: None, global_norm: "
     "None",
     "step=7 loss=10.649 learning_rate=1e-05 clean"},
    {"two ranks' lines glued", "mindformers",
     "{ Epoch:[  1/  2], step:[    7/   19], loss: 9.5, per_step_time: 17ms, "
     "lr: 1e-05, overflow cond: False, loss_scale: 512.0, glob2025-03-01 10:00:"
     "00,120 - INFO - { Epoch:[  1/  2], step:[    8/   19], loss: 9.25, "
     "per_step_time: 17ms, lr: 1e-05, overflow cond: True, loss_scale: 256.0,",
     "step=7 loss=9.5 loss_scale=512 learning_rate=1e-05 clean\n"
     "step=8 loss=9.25 loss_scale=256 learning_rate=1e-05 overflowed"},
    {"torn within the scale", "mindformers",
     "Epoch:[  1/  1], step:[   12/   80], loss:[2.001/2.340], time:9.101 ms, "
     "lr:[0.], overflow cond: True, loss_scale: 655",
     "step=12 loss=2.001 learning_rate=0 overflowed"},
    {"torn before the overflow", "mindformers",
     "Epoch:[  1/  1], step:[   12/   80], loss:[2.001/2.340], overflow co",
     ""},
    {"steps go on over epochs", "mindspore",
     "epoch: 1 step: 1, loss is 2.3005836\n"
     "epoch: 1 step: 2, loss is 2.2978227\n"
     "epoch time: 143.3 ms, per step time: 47.9 ms\n"
     "epoch: 2 step: 1, loss is nan\n"
     "epoch: 2 step: 2, loss is 0.5\n"
     "epoch: 3 step: 1, loss is 0.25",
     "step=1 loss=2.3005836\nstep=2 loss=2.2978227\nstep=3 loss=nan\n"
     "step=4 loss=0.5\nstep=5 loss=0.25"},
    {"data sinking: a line an epoch", "mindspore",
     "epoch: 1 step: 21, loss is 0.75\nepoch: 2 step: 21, loss is 0.5\n"
     "epoch: 3 step: 21, loss is 0.25",
     "step=21 loss=0.75\nstep=42 loss=0.5\nstep=63 loss=0.25"},
    {"BERT: loss, overflow and scale", "mindspore",
     "epoch: 0.0, current epoch percent: 0.001, step: 12, outputs are (Tensor("
     "shape=[1], dtype=Float32, [ 1.0856101e+01]), Tensor(shape=[], dtype=Bool,"
     " False), Tensor(shape=[], dtype=Float32, 65536))\n"
     "epoch: 0.0, current epoch percent: 0.001, step: 13, outputs are (Tensor("
     "shape=[], dtype=Float32, value= 10.5), Tensor(shape=[], dtype=Bool, "
     "value= True), Tensor(shape=[], dtype=Float32, value= 32768))",
     "step=12 loss=10.856101 loss_scale=65536 clean\n"
     "step=13 loss=10.5 loss_scale=32768 overflowed"},
    {"GPT and PanGu: steps over all epochs", "mindspore",
     "time: Wed May  1 10:00:00 2024 local_rank: 0, epoch: 1, step: 180, "
     "output is 10.56320, overflow is True, scale is 32768.0\n"
     "time: Wed May  1 10:00:00 2024 local_rank: 0, epoch: 2, step: 181, "
     "output is nan, overflow is [False], scale is [65536.]",
     "step=180 loss=10.5632 loss_scale=32768 overflowed\n"
     "step=181 loss=nan loss_scale=65536 clean"},
    {"GPT, torn within the scale, the flag, the loss", "mindspore",
     "local_rank: 0, epoch: 0, step: 1, output is 2.5, overflow is False, "
     "scale is 327\n"
     "local_rank: 0, epoch: 0, step: 2, output is 2.5, overflow is Fal\n"
     "local_rank: 0, epoch: 0, step: 3, output is 2.5",
     "step=1 loss=2.5 clean\nstep=2 loss=2.5"},
    {"a loss with its scaler", "mindspore",
     "epoch: 1 step: 1, loss is 3.0, overflow is True, loss scale is 1.0\n"
     "epoch: 1 step: 2, loss is 3.0, overflow is False, loss scale is 1.0",
     "step=1 loss=3 loss_scale=1 overflowed\n"
     "step=2 loss=3 loss_scale=1 clean"},
    {"torn", "mindspore", "epoch: 1 step: 1, loss is ", ""},
    {"updates applied all the same", "mindyolo",
     "2023-12-25 09:58:34,118 [WARNING] overflow, still update, loss scale "
     "adjust to 1024.0\n"
     "2023-12-25 09:59:12,001 [INFO] Epoch 2/300, Step 100/1848, imgsize (640, "
     "640), loss: 11.6707, lbox: 3.6262, lcls: 5.5689, dfl: 2.4756, cur_lr: "
     "0.09925\n"
     "2023-12-25 09:59:12,110 [INFO] Epoch 2/300, Step 100/1848, step time: "
     "812.33 ms",
     "overflow loss_scale=1024 applied\n"
     "step=1948 loss=11.6707 learning_rate=0.09925"},
    {"steps dropped, numpy's array, older words", "mindyolo",
     "overflow, drop step, loss scale adjust to [512.]\n"
     "overflow, loss scale adjust to  256.0\n"
     "Epoch 1/300, Step 7/1848, accumulate: 4, this step grad overflow, drop. "
     "Loss scale adjust to 128.0\n"
     "Epoch 300/1, Step 1848/9, imgsize [640, 640], loss: nan, lbox: 1.0000, "
     "cur_lr: [0.1, 0.01, 0.01]",
     "overflow loss_scale=512 skipped\noverflow loss_scale=256\n"
     "overflow loss_scale=128 skipped\nstep=9 loss=nan learning_rate=0.1"},
    {"value torn off, line torn off", "mindyolo",
     "overflow, still update, loss scale adjust to \n"
     "Epoch 1/300, Step 100/1848, imgsize (640, 640), loss: 11.67",
     "overflow applied"},
};

TEST(MindSporeFormats, SampleLines) {
  for (const SampleLines& sample : kSamples) {
    ExpectFacts(sample);
    EXPECT_EQ(OthersThatRead(sample.format, sample.lines), "") << sample.what;
  }
}

}  // namespace
}  // namespace nanwatch
