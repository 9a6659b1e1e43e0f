// MindFormers (MindSpore), old and new: sample lines in its texture, and what
// they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"old line, float32 in 8 digits",
     "[INFO] 2023-05-02 09:12:44,310 [/home/ma/mindformers/core/callback/"
     "callback.py:269] print_output_info: Epoch:[  2/  5], step:[    4/  250], "
     "loss:[3.118/3.118], time:2204.102 ms, lr:[1.2e-06], overflow cond: True, "
     "loss_scale: 268435460.0",
     "step=254 loss=3.118 loss_scale=268435456 learning_rate=1.2e-06 "
     "overflowed"},
    {"zero learning rate of numpy, 2^32",
     "print_output_info: Epoch:[  1/  1], step:[    1/   80], loss:[nan/nan], "
     "time:9.101 ms, lr:[0.], overflow cond: True, loss_scale: 4294967300.0",
     "step=1 loss=nan loss_scale=4294967296 learning_rate=0 overflowed"},
    {"no learning rate given",
     "Epoch:[  1/  1], step:[   12/   80], loss:[2.001/2.340], time:9.101 ms, "
     "overflow cond: False, loss_scale: 65536.0",
     "step=12 loss=2.001 loss_scale=65536 clean"},
    {"new line",
     "2025-03-01 10:00:00,120 - mindformers./out/log[mindformers/core/callback/"
     "callback.py:529] - INFO - { Epoch:[  1/  2], step:[    7/   19], loss: "
     "10.649, per_step_time: 1752ms, lr: 1e-05, overflow cond: False, "
     "loss_scale: 1.0, global_norm: [1.310491], train_throughput_per_npu: "
     "170.738T",
     "step=7 loss=10.649 loss_scale=1 grad_norm=1.310491 learning_rate=1e-05 "
     "clean"},
    {"scale and norm not known",
     "{ Epoch:[  1/  2], step:[    7/   19], loss: 10.649, per_step_time: "
     "1752ms, lr: 1e-05, overflow cond: False, loss_scale: None, global_norm: "
     "None",
     "step=7 loss=10.649 learning_rate=1e-05 clean"},
    {"two ranks' lines glued",
     "{ Epoch:[  1/  2], step:[    7/   19], loss: 9.5, per_step_time: 17ms, "
     "lr: 1e-05, overflow cond: False, loss_scale: 512.0, glob2025-03-01 10:00:"
     "00,120 - INFO - { Epoch:[  1/  2], step:[    8/   19], loss: 9.25, "
     "per_step_time: 17ms, lr: 1e-05, overflow cond: True, loss_scale: 256.0,",
     "step=7 loss=9.5 loss_scale=512 learning_rate=1e-05 clean\n"
     "step=8 loss=9.25 loss_scale=256 learning_rate=1e-05 overflowed"},
    {"torn within the scale",
     "Epoch:[  1/  1], step:[   12/   80], loss:[2.001/2.340], time:9.101 ms, "
     "lr:[0.], overflow cond: True, loss_scale: 655",
     "step=12 loss=2.001 learning_rate=0 overflowed"},
    {"torn before the overflow",
     "Epoch:[  1/  1], step:[   12/   80], loss:[2.001/2.340], overflow co",
     ""},
};

}  // namespace

const SampleTable kMindFormersSamples = {"mindformers", kLines};

}  // namespace nanwatch
