// DeiT, MAE, BEiT, DINO, torchvision references, Swin: sample lines in its
// texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"DeiT and BEiT",
     "Epoch: [1]  [  20/1251]  eta: 0:25:11  lr: 0.000010  min_lr: 0.000001  "
     "loss: 6.9375 (6.9400)  loss_scale: 65536.0000 (65536.0000)  "
     "weight_decay: 0.05  grad_norm: inf (nan)  time: 0.5  data: 0.01  max "
     "mem: 9845\n"
     "Epoch: [1] Total time: 0:10:11 (0.4888 s / it)\n"
     "Test:  [  0/53]  eta: 0:00:10  loss: 5.1 (5.1)  acc1: 10.0 (10.0)",
     "step=1271 loss=6.9375 loss_scale=65536 grad_norm=inf "
     "learning_rate=1e-05"},
    {"Swin",
     "[2022-01-02 10:00:00 swin_tiny](main.py 222): INFO Train: [0/300][10/1251"
     "]\teta 0:25:12 lr 0.000001\t wd 0.0500\ttime 0.3000 (0.5000)\tloss "
     "6.9375 "
     "(6.9400)\tgrad_norm 1.2500 (1.3000)\tloss_scale 32768.0000 (65536.0000)\t"
     "mem 9000MB",
     "step=10 loss=6.9375 loss_scale=32768 grad_norm=1.25 "
     "learning_rate=1e-06"},
    {"torn", "Epoch: [1]  [  20/1251]  eta: 0:25:11  lr: 0.000010  loss: 6.93",
     ""},
};

}  // namespace

const SampleTable kMetricLoggerSamples = {"metric_logger", kLines};

}  // namespace nanwatch
