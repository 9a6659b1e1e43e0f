// ESPnet 2: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"means of batches, over epochs",
     "[host] 2021-03-01 10:11:40,123 (trainer:672) INFO: "
     "1epoch:train:51-100batch: iter_time=1.2e-04, loss_ctc=119.942, "
     "loss_att=89.957, acc=0.51, loss=101.5, backward_time=0.2, grad_norm=inf, "
     "clip=100.0, loss_scale=4.915e+04, optim_step_time=0.04, "
     "optim0_lr0=2.5e-06, train_time=0.8\n"
     "[host] 2021-03-01 10:14:40,123 (trainer:672) INFO: "
     "2epoch:train:1-50batch: acc=0.51, loss=99.5, train_time=0.8",
     "step=100 loss=101.5 loss_scale=49150 grad_norm=inf "
     "learning_rate=2.5e-06\n"
     "step=150 loss=99.5"},
    {"torn, and an epoch's results",
     "1epoch:train:51-100batch: iter_time=1.2e-04, loss=10\n"
     "1epoch results: [train] iter_time=1.2e-04, loss=101.9, train_time=0.8",
     ""},
    {"an update that is left out over its gradients",
     "[host] 2021-03-01 10:11:40,123 (trainer:650) WARNING: The grad norm is "
     "nan. Skipping updating the model.",
     "overflow skipped"},
};

}  // namespace

const SampleTable kEspnetSamples = {"espnet", kLines, "funasr"};

}  // namespace nanwatch
