// nanoGPT, build-nanogpt, modded-nanogpt: sample lines in its texture, and what
// they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"an iteration; an evaluation",
     "step 0: train loss 10.9, val loss 10.8\n"
     "iter 0: loss 10.9375, time 14021.20ms, mfu -100.00%\n"
     "iter 10: loss nan, time 135.20ms, mfu 30.12%",
     "step=0 loss=10.9375\nstep=10 loss=nan"},
    {"its offspring",
     "step    10 | loss: 9.125000 | lr 1.0000e-04 | norm: 1.2500 | dt: "
     "93.10ms | tok/sec: 5631288.10\n"
     "step:20/5100 train_loss:4.5000 train_time:12345ms step_avg:137.20ms\n"
     "step:25/5100 val_loss:4.4000 train_time:12345ms step_avg:137.20ms",
     "step=10 loss=9.125 grad_norm=1.25 learning_rate=0.0001\n"
     "step=20 loss=4.5"},
    {"torn, or by hand",
     "iter 10: loss 2.12\nstep    10 | loss: 9.1\nstep:20/5100 train_loss:4.5\n"
     "step 10 | loss: 9.1 | lr: 1e-4 | acc: 0.5\niter 10: loss 2.1, time: 12ms",
     ""},
};

}  // namespace

const SampleTable kNanoGptSamples = {"nanogpt", kLines};

}  // namespace nanwatch
