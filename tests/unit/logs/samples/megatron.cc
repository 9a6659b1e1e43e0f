// Megatron-LM, Megatron-DeepSpeed, MindSpeed-LLM, gpt-neox: sample lines in its
// texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"Megatron-LM",
     " iteration      110/     200 | consumed samples:         1760 | elapsed "
     "time per iteration (ms): 211.8 | learning rate: 1.500E-04 | global batch "
     "size:    16 | lm loss: 8.500000E+00 | loss scale: 262144.0 | grad norm: "
     "2.500 | number of skipped iterations:   1 | number of nan iterations:   "
     "0 |",
     "step=110 loss=8.5 loss_scale=262144 grad_norm=2.5 learning_rate=0.00015 "
     "consumed_samples=1760 skipped_since=1 nan_since=0"},
    {"every update of the interval skipped: no loss",
     " iteration       10/     200 | consumed samples:          160 | learning "
     "rate: 0.000E+00 | loss scale: 4194304.0 | number of skipped iterations:  "
     "10 | number of nan iterations:   0 |",
     "step=10 loss_scale=4194304 learning_rate=0 consumed_samples=160 "
     "loss_left_out skipped_since=10 nan_since=0"},
    {"DeepSpeed's unknown scale",
     " iteration        4/    1000 | lm-loss: 4.25E+01 | loss scale: -1.0 | "
     "grad norm: 0.000 | num zeros: 0.0 | number of skipped iterations:   0 | "
     "number of nan iterations:   0 |",
     "step=4 loss=42.5 grad_norm=0 skipped_since=0 nan_since=0"},
    {"scale below what is printed, under a rank's prefix",
     "[default7]: iteration        4/    1000 | lm loss: 4.25E+01 | loss scale:"
     " 0.0 | number of skipped iterations:   0 |",
     "step=4 loss=42.5 loss_scale<=0.03125 skipped_since=0"},
    {"gpt-neox",
     "10.0.0.4:  samples/sec: 22.1 | iteration      120/  320000 | elapsed time"
     " per iteration (ms): 2896.5 | learning rate: 6.000E-06 | approx flops per"
     " GPU: 40.1TFLOPS | lm_loss: 7.500000E+00 | loss scale: 65536.0 | number "
     "of skipped iterations:   0 | number of nan iterations:   0 |",
     "step=120 loss=7.5 loss_scale=65536 learning_rate=6e-06 skipped_since=0 "
     "nan_since=0"},
    {"gpt-neox gives up; its source line in the traceback",
     "    f\"Skipped {self.n} iterations in a row due to Overflow - Exiting "
     "training.\"\n"
     "Exception: Skipped 50 iterations in a row due to Overflow - Exiting "
     "training.",
     "stopped: Skipped 50 iterations in a row due to Overflow - Exiting "
     "training."},
    {"torn: the loss may have stood behind",
     " iteration     7000/  159576 | consumed samples:       260912 | elapsed "
     "time per iteration (ms): 18706.1 | learning rate: 6.000E-05 | global ba",
     "step=7000 learning_rate=6e-05 consumed_samples=260912"},
    {"torn within the step", " iteration     7000/  1595", ""},
    {"cut, and the next line glued to it",
     " iteration        4/    1000 | consumed samples: 64 | learning rate: "
     "1.5E-05 | lm los iteration        5/    1000 | lm loss: 4.25E+00 | grad "
     "norm: 1.500 | number of skipped iterations:   0 |",
     "step=4 learning_rate=1.5e-05 consumed_samples=64\n"
     "step=5 loss=4.25 grad_norm=1.5 skipped_since=0"},
    {"another process's words within the loss, which is then not known",
     " iteration        6/    1000 | lm loss: 4.2WARNING:root:x 5E+00 | loss "
     "scale: 64.0 | number of skipped iterations:   0 |\n"
     " iteration        7/    1000 | lm loss: 4.2[rank3]: saved: a.pt | loss "
     "scale: 64.0 | number of skipped iterations:   0 |\n"
     " iteration        8/    1000 | speed: 40.1TFLOPS | loss scale: 64.0 | "
     "number of skipped iterations:   0 |",
     "step=6 loss_scale=64 skipped_since=0\n"
     "step=7 loss_scale=64 skipped_since=0\n"
     "step=8 loss_scale=64 loss_left_out skipped_since=0"},
    {"norms that may be multiplied by the scale: too few to know",
     " iteration 1/ 90 | lm loss: 4.0 | loss scale: 4096.0 | grad norm: "
     "2048.000 |\n"
     " iteration 2/ 90 | lm loss: 4.0 | loss scale: 1048576.0 | grad norm: "
     "262144.000 |\n"
     " iteration 3/ 90 | lm loss: 4.0 | loss scale: 64.0 | grad norm: 128.000 "
     "|\n"
     " iteration 4/ 90 | lm loss: 4.0 | loss scale: -1.0 | grad norm: 99.000 |",
     "step=1 loss=4 loss_scale=4096 grad_norm=2048\n"
     "step=2 loss=4 loss_scale=1048576\n"
     "step=3 loss=4 loss_scale=64 grad_norm=128\n"
     "step=4 loss=4 grad_norm=99"},
    {"the same norm, of a loss that is 0",
     " iteration 1/ 90 | lm loss: 4.0 | grad norm: 0.750 |\n"
     " iteration 2/ 90 | lm loss: 0.0 | grad norm: 1.500 |\n"
     " iteration 3/ 90 | lm loss: 0.0 | grad norm: 1.500 |",
     "step=1 loss=4 grad_norm=0.75\nstep=2 loss=0 grad_norm=1.5\n"
     "step=3 loss=0 grad_norm=1.5"},
    {"a spike of a norm that is not",
     " iteration 1/ 90 | lm loss: 4.0 | loss scale: 4096.0 | grad norm: 1.500 "
     "|\n"
     " iteration 2/ 90 | lm loss: 9.0 | loss scale: 4096.0 | grad norm: "
     "8192.000 |\n"
     " iteration 3/ 90 | lm loss: 4.0 | loss scale: 4096.0 | grad norm: 1.250 "
     "|",
     "step=1 loss=4 loss_scale=4096 grad_norm=1.5\n"
     "step=2 loss=9 loss_scale=4096 grad_norm=8192\n"
     "step=3 loss=4 loss_scale=4096 grad_norm=1.25"},
    {"DeepSpeed's skipped steps: the norm of before, or none",
     " iteration 1/ 90 | lm loss: 4.0 | loss scale: 4096.0 | grad norm: 1.500 "
     "|\n"
     " iteration 2/ 90 | lm loss: 9.0 | loss scale: 2048.0 | grad norm: 1.500 "
     "|\n"
     " iteration 3/ 90 | lm loss: 4.0 | loss scale: 2048.0 | grad norm: 0.000 "
     "|",
     "step=1 loss=4 loss_scale=4096 grad_norm=1.5\n"
     "step=2 loss=9 loss_scale=2048 norm_again\n"
     "step=3 loss=4 loss_scale=2048 norm_zero"},
    {"the norm of before in too many digits for chance",
     " iteration 1/ 90 | lm loss: 4.0 | loss scale: 1.0 | grad norm: 150.125 "
     "|\n"
     " iteration 2/ 90 | lm loss: 4.0 | loss scale: 1.0 | grad norm: 150.125 "
     "|",
     "step=1 loss=4 loss_scale=1 grad_norm=150.125\n"
     "step=2 loss=4 loss_scale=1 norm_old"},
    {"a small one of before, too often for chance",
     " iteration 1/ 90 | lm loss: 4.0 | grad norm: 1.500 |\n"
     " iteration 2/ 90 | lm loss: 4.0 | grad norm: 1.500 |\n"
     " iteration 3/ 90 | lm loss: 4.0 | grad norm: 1.500 |\n"
     " iteration 4/ 90 | lm loss: 4.0 | grad norm: 1.500 |\n"
     " iteration 5/ 90 | lm loss: 4.0 | grad norm: 1.500 |",
     "step=1 loss=4 grad_norm=1.5\nstep=2 loss=4 norm_again\n"
     "step=3 loss=4 norm_again\nstep=4 loss=4 norm_again\n"
     "step=5 loss=4 norm_old"},
    {"validation is no step",
     " validation loss at iteration 7000 | lm loss value: 7.174200E+00 | lm "
     "loss PPL: 1.305315E+03 |",
     ""},
};

}  // namespace

const SampleTable kMegatronSamples = {"megatron", kLines};

}  // namespace nanwatch
