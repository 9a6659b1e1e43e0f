// MindSpore (LossMonitor, BERT, GPT and PanGu examples): sample lines in its
// texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"steps go on over epochs",
     "epoch: 1 step: 1, loss is 2.3005836\n"
     "epoch: 1 step: 2, loss is 2.2978227\n"
     "epoch time: 143.3 ms, per step time: 47.9 ms\n"
     "epoch: 2 step: 1, loss is nan\n"
     "epoch: 2 step: 2, loss is 0.5\n"
     "epoch: 3 step: 1, loss is 0.25",
     "step=1 loss=2.3005836\nstep=2 loss=2.2978227\nstep=3 loss=nan\n"
     "step=4 loss=0.5\nstep=5 loss=0.25"},
    {"data sinking: a line an epoch",
     "epoch: 1 step: 21, loss is 0.75\nepoch: 2 step: 21, loss is 0.5\n"
     "epoch: 3 step: 21, loss is 0.25",
     "step=21 loss=0.75\nstep=42 loss=0.5\nstep=63 loss=0.25"},
    {"BERT: loss, overflow and scale",
     "epoch: 0.0, current epoch percent: 0.001, step: 12, outputs are (Tensor("
     "shape=[1], dtype=Float32, [ 1.0856101e+01]), Tensor(shape=[], dtype=Bool,"
     " False), Tensor(shape=[], dtype=Float32, 65536))\n"
     "epoch: 0.0, current epoch percent: 0.001, step: 13, outputs are (Tensor("
     "shape=[], dtype=Float32, value= 10.5), Tensor(shape=[], dtype=Bool, "
     "value= True), Tensor(shape=[], dtype=Float32, value= 32768))",
     "step=12 loss=10.856101 loss_scale=65536 clean\n"
     "step=13 loss=10.5 loss_scale=32768 overflowed"},
    {"GPT and PanGu: steps over all epochs",
     "time: Wed May  1 10:00:00 2024 local_rank: 0, epoch: 1, step: 180, "
     "output is 10.56320, overflow is True, scale is 32768.0\n"
     "time: Wed May  1 10:00:00 2024 local_rank: 0, epoch: 2, step: 181, "
     "output is nan, overflow is [False], scale is [65536.]",
     "step=180 loss=10.5632 loss_scale=32768 overflowed\n"
     "step=181 loss=nan loss_scale=65536 clean"},
    {"GPT, torn within the scale, the flag, the loss",
     "local_rank: 0, epoch: 0, step: 1, output is 2.5, overflow is False, "
     "scale is 327\n"
     "local_rank: 0, epoch: 0, step: 2, output is 2.5, overflow is Fal\n"
     "local_rank: 0, epoch: 0, step: 3, output is 2.5",
     "step=1 loss=2.5 clean\nstep=2 loss=2.5"},
    {"a loss with its scaler",
     "epoch: 1 step: 1, loss is 3.0, overflow is True, loss scale is 1.0\n"
     "epoch: 1 step: 2, loss is 3.0, overflow is False, loss scale is 1.0",
     "step=1 loss=3 loss_scale=1 overflowed\n"
     "step=2 loss=3 loss_scale=1 clean"},
    {"torn", "epoch: 1 step: 1, loss is ", ""},
};

}  // namespace

const SampleTable kMindSporeSamples = {"mindspore", kLines};

}  // namespace nanwatch
