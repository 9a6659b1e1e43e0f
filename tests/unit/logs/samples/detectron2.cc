// Detectron2: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"one loss is the total",
     "[09/02 02:37:00 d2.utils.events]:  eta: 0:10:00  iter: 19  total_loss: "
     "2.125  loss_cls: 0.9  loss_box_reg: 0.3  time: 0.3411  data_time: 0.0112 "
     " lr: 1.6e-05  max_mem: 2000M\n"
     "[09/02 02:37:09 d2.utils.events]:  eta: 0:09:50  iter: 39  total_loss: "
     "nan  loss_cls: nan  time: 0.3411  last_time: 0.3  lr: 3.2e-05  max_mem: "
     "2000M",
     "step=19 loss=2.125 learning_rate=1.6e-05\n"
     "step=39 loss=nan learning_rate=3.2e-05"},
    {"another program's",
     "epoch: 1/300, iter: 10/1849, time: 0.3s, total_loss: 13.3, lr: 7.5e-06",
     ""},
    {"torn", "  eta: 0:10:00  iter: 19  total_loss: 2.1", ""},
};

}  // namespace

const SampleTable kDetectron2Samples = {"detectron2", kLines};

}  // namespace nanwatch
