// NVIDIA tacotron2: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a step",
     "Train loss 16 49.316841 Grad Norm 10.800460 3.71s/it\n"
     "Train loss 17 nan Grad Norm nan 3.70s/it\n"
     "Train loss 18 0.52\nTrain loss 12: 0.5",
     "step=16 loss=49.316841 grad_norm=10.80046\n"
     "step=17 loss=nan grad_norm=nan"},
};

}  // namespace

const SampleTable kTacotron2Samples = {"tacotron2", kLines};

}  // namespace nanwatch
