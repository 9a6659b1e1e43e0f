// OpenMMLab with MMEngine, XTuner, text and JSON: sample lines in its texture,
// and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"as many blanks as a hundred epochs make",
     "2024/05/01 10:00:03 - mmengine - INFO - Epoch(train)   [1][  10/7330]  "
     "lr: 5.0000e-06  eta: 10:00:00  time: 0.5123  grad_norm: 5.0285  loss: "
     "10.5632  loss_cls: 0.1\n"
     "2024/05/01 10:00:06 - mmengine - INFO - Epoch(train)  [10][  20/7330]  "
     "lr: 5.0000e-06  eta: 10:00:00  time: 0.5123  loss: nan  loss_cls: nan\n"
     "2024/05/01 10:00:09 - mmengine - INFO - Iter(train)    [   30/160000]  "
     "lr: 1.0000e-02  eta: 1:00:00  time: 0.5  loss: 1.5000",
     "step=10 loss=10.5632 grad_norm=5.0285 learning_rate=5e-06\n"
     "step=65990 loss=nan learning_rate=5e-06\n"
     "step=30 loss=1.5 learning_rate=0.01"},
    {"one blank before the bracket, and two",
     "2022/12/13 19:00:12 - mmengine - INFO - Epoch(train) [2][  50/3104]  "
     "base_lr: 2.0000e-02 lr: 1.0000e-02  eta: 0:26:28  time: 0.1285  "
     "data_time: 0.0040  memory: 2581  grad_norm: nan  loss: 0.7176  "
     "loss_rpn_cls: 0.1582\n"
     "08/18 11:56:35 - mmengine - INFO - Epoch(train)  [1][ 20/196]  lr: "
     "3.3333e-04  eta: 0:06:56  time: 0.1057  data_time: 0.0338  memory: 597  "
     "loss: 2.3797",
     "step=3154 loss=0.7176 grad_norm=nan learning_rate=0.01\n"
     "step=20 loss=2.3797 learning_rate=0.00033333"},
    {"iterations",
     "01/29 21:36:02 - mmengine - INFO - Iter(train) [ 20/720]  lr: 1.9000e-04 "
     " eta: 0:32:01  time: 2.8037  data_time: 0.0071  memory: 13969  loss: "
     "2.6049  grad_norm: 0.9361\n"
     "06/16 08:23:02 - mmengine - INFO - Iter(val) [17/17]    aAcc: 86.3900  "
     "data_time: 0.0052  time: 0.4238",
     "step=20 loss=2.6049 grad_norm=0.9361 learning_rate=0.00019"},
    {"JSON: the run's steps",
     R"({"lr": 0.001, "data_time": 0.008, "loss": 1.5, "grad_norm": 3.25, )"
     R"("time": 0.3, "epoch": 2, "iter": 150, "memory": 3312, "step": 150})"
     "\n"
     R"({"coco/bbox_mAP": 0.3, "data_time": 0.01, "time": 0.05, "step": 2})",
     "step=150 loss=1.5 grad_norm=3.25 learning_rate=0.001"},
};

}  // namespace

const SampleTable kMmEngineSamples = {"mmengine", kLines};

}  // namespace nanwatch
