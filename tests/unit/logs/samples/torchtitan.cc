// torchtitan: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"behind torchrun's rank; an evaluation",
     "[rank3]:[titan] 2024-10-01 10:00:00,123 - root - INFO - step: 10  loss: "
     " 7.12500  grad_norm:  1.2500  memory: 36.22GiB(45.80%)  tps: 6,271  "
     "tflops: 151.10  mfu: 38.10%\n"
     "[titan] 2024-10-01 10:00:00,123 - root - INFO - validate step: 10  loss: "
     " 7.01000  memory: 36.22GiB(45.80%)  tps: 6,271\n"
     "2024-10-01 10:00:00,123 - root - INFO - step:  1  loss: nan  memory: "
     "36.22GiB(45.80%)  wps: 1,271  mfu: 38.10%",
     "step=10 loss=7.125 grad_norm=1.25\nstep=1 loss=nan"},
    {"torn, glued",
     "step: 10  loss:  7.125\n"
     "step: 10  loss:  7.1250  grad_nstep: 20  loss:  6.5000  grad_norm: inf  "
     "memory: 36.22GiB(45.80%)  tps: 6,271",
     "step=20 loss=6.5 grad_norm=inf"},
};

}  // namespace

const SampleTable kTorchTitanSamples = {"torchtitan", kLines};

}  // namespace nanwatch
