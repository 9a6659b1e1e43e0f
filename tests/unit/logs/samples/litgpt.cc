// LitGPT, lit-gpt: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"the first line of a step",
     "Epoch 1 | iter 8 step 1 | loss train: 2.125, val: n/a | iter time: "
     "177.84 ms (step) remaining time: 1:02:03\n"
     "Epoch 1 | iter 9 step 1 | loss train: 2.130, val: n/a | iter time: 98 "
     "ms\n"
     "Epoch 1 | iter 16 step 2 | loss train: nan, val: 2.100 | iter time: 98 "
     "ms\n"
     "iter 24 step 3: loss 2.0000, iter time: 123.45ms (optimizer.step)",
     "step=1 loss=2.125\nstep=2 loss=nan\nstep=3 loss=2"},
    {"torn", "Epoch 1 | iter 8 step 1 | loss train: 2.1", ""},
};

}  // namespace

const SampleTable kLitGptSamples = {"litgpt", kLines};

}  // namespace nanwatch
