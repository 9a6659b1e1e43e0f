// ImageNet examples of PyTorch, Apex and torch_npu, MoCo, HRNet: sample lines
// in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"ImageNet with Apex, PyTorch and torch_npu",
     "Epoch: [0][10/5004]\tTime 0.345 (0.401)\tSpeed 742.1 (638.4)\tLoss "
     "6.9375000000 (6.9500)\tPrec@1 0.391 (0.102)\tPrec@5 1.953 (0.611)\n"
     "Epoch: [1][   20/5004]\tTime  0.3 ( 0.3)\tData  0.0 ( 0.0)\tLoss "
     "7.0625e+00 (7.1e+00)\tAcc@1   0.00 (  0.10)\n"
     "[npu id: 0 ] Epoch: [1][  30/5004]\tTime  0.3 ( 0.3)\tLoss nan (nan)"
     "\tAcc@1 0.1 (0.1)",
     "step=10 loss=6.9375\nstep=5024 loss=7.0625\nstep=5034 loss=nan"},
    {"SwAV: a logger's head, and no length of an epoch",
     "INFO - 05/30/20 10:12:11 - 0:12:01 - Epoch: [0][50]\tTime 0.4 (0.4)\t"
     "Data 0.0 (0.0)\tLoss 7.5 (7.6)\tLr: 0.3000\n"
     "INFO - 05/30/20 10:12:31 - 0:12:21 - Epoch: [0][100]\tTime 0.4 (0.4)\t"
     "Data 0.0 (0.0)\tLoss 7.25 (7.5)\tLr: 0.3000\n"
     "INFO - 05/30/20 10:13:11 - 0:13:01 - Epoch: [1][50]\tTime 0.4 (0.4)\t"
     "Data 0.0 (0.0)\tLoss 7.0 (7.1)\tLr: 0.3000",
     "step=50 loss=7.5\nstep=100 loss=7.25\nstep=150 loss=7"},
    {"torn, an evaluation",
     "Epoch: [0][10/5004]\tTime 0.345 (0.401)\tLoss 6.93\n"
     "Test: [10/98]\tTime 0.3 (0.3)\tLoss 6.9 (6.9)\tPrec@1 0.4 (0.1)",
     ""},
};

}  // namespace

const SampleTable kImageNetSamples = {"imagenet", kLines};

}  // namespace nanwatch
