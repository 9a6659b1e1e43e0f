// mmcv and MMEngine, text and JSON: sample lines in their texture.

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

constexpr SampleLines kSamples[] = {
    {"epochs, one loss among many", "mmcv",
     "2021-02-03 11:00:46,566 - mmdet - INFO - Epoch [2][50/400]\tlr: "
     "4.575e-04, eta: 6:27:11, time: 0.355, data_time: 0.044, memory: 2883, "
     "loss_rpn_cls: 0.1894, s0.loss_cls: 0.5640, s0.acc: 86.2930, loss: "
     "1.5311, grad_norm: 10.7843",
     "step=450 loss=1.5311 grad_norm=10.7843 learning_rate=0.0004575"},
    {"NaN of the sum, norm of a skipped step", "mmcv",
     "mmdet - INFO - Epoch [1][100/400]\tlr: 1.000e-02, loss_cls: nan, loss: "
     "nan, grad_norm: inf",
     "step=100 loss=nan grad_norm=inf learning_rate=0.01"},
    {"iterations, no norm", "mmcv",
     "2022-03-04 10:00:00,000 - mmseg - INFO - Iter [50/40000]\tlr: 9.989e-03, "
     "eta: 5:11:00, time: 0.4, data_time: 0.01, memory: 9000, decode.loss_ce: "
     "1.1000, decode.acc_seg: 40.1000, loss: 1.5000",
     "step=50 loss=1.5 learning_rate=0.009989"},
    {"an evaluation", "mmcv",
     "mmdet - INFO - Epoch(val) [1][5000]\tbbox_mAP: 0.3010, bbox_mAP_50: 0.5",
     ""},
    {"torn within the norm, then within the loss", "mmcv",
     "mmdet - INFO - Epoch [1][100/400]\tlr: 1.000e-02, loss: 1.5311, "
     "grad_norm: 10.7\n"
     "mmdet - INFO - Epoch [1][150/400]\tlr: 1.000e-02, loss: 1.5",
     "step=100 loss=1.5311 learning_rate=0.01"},
    {"another line printed into it", "mmcv",
     "mmdet - INFO - Epoch [1][50/400]\tlr: 1.000e-02, loss: 1.52021-02-03 "
     "11:00:46,566 - mmdet - INFO - Epoch [1][100/400]\tlr: 1.000e-02, loss: "
     "1.2500, grad_norm: 3.5000",
     "step=100 loss=1.25 grad_norm=3.5 learning_rate=0.01"},
    {"JSON: iterations of each epoch", "mmcv",
     R"({"env_info": "sys.platform: linux", "seed": null, "exp_name": "a.py"})"
     "\n"
     R"({"mode": "train", "epoch": 1, "iter": 50, "lr": 0.01, "memory": 2883, )"
     R"("data_time": 0.04, "loss_cls": 0.5, "loss": 1.5, "grad_norm": 10.5, )"
     R"("time": 0.35})"
     "\n"
     R"({"mode": "train", "epoch": 1, "iter": 100, "lr": 0.01, "data_time": )"
     R"(0.04, "loss": NaN, "time": 0.35})"
     "\n"
     R"({"mode": "val", "epoch": 1, "iter": 500, "lr": 0.01, "mAP": 0.3})"
     "\n"
     R"({"mode": "train", "epoch": 2, "iter": 50, "lr": [0.01, 0.1], )"
     R"("data_time": 0.04, "loss": 1.25, "time": 0.35})"
     "\n"
     R"({"mode": "train", "epoch": 2, "iter": 100, "lr": 0.01, "data_time": 0)",
     "step=50 loss=1.5 grad_norm=10.5 learning_rate=0.01\n"
     "step=100 loss=nan learning_rate=0.01\nstep=150 loss=1.25"},
    {"as many blanks as a hundred epochs make", "mmengine",
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
    {"one blank before the bracket, and two", "mmengine",
     "2022/12/13 19:00:12 - mmengine - INFO - Epoch(train) [2][  50/3104]  "
     "base_lr: 2.0000e-02 lr: 1.0000e-02  eta: 0:26:28  time: 0.1285  "
     "data_time: 0.0040  memory: 2581  grad_norm: nan  loss: 0.7176  "
     "loss_rpn_cls: 0.1582\n"
     "08/18 11:56:35 - mmengine - INFO - Epoch(train)  [1][ 20/196]  lr: "
     "3.3333e-04  eta: 0:06:56  time: 0.1057  data_time: 0.0338  memory: 597  "
     "loss: 2.3797",
     "step=3154 loss=0.7176 grad_norm=nan learning_rate=0.01\n"
     "step=20 loss=2.3797 learning_rate=0.00033333"},
    {"iterations", "mmengine",
     "01/29 21:36:02 - mmengine - INFO - Iter(train) [ 20/720]  lr: 1.9000e-04 "
     " eta: 0:32:01  time: 2.8037  data_time: 0.0071  memory: 13969  loss: "
     "2.6049  grad_norm: 0.9361\n"
     "06/16 08:23:02 - mmengine - INFO - Iter(val) [17/17]    aAcc: 86.3900  "
     "data_time: 0.0052  time: 0.4238",
     "step=20 loss=2.6049 grad_norm=0.9361 learning_rate=0.00019"},
    {"JSON: the run's steps", "mmengine",
     R"({"lr": 0.001, "data_time": 0.008, "loss": 1.5, "grad_norm": 3.25, )"
     R"("time": 0.3, "epoch": 2, "iter": 150, "memory": 3312, "step": 150})"
     "\n"
     R"({"coco/bbox_mAP": 0.3, "data_time": 0.01, "time": 0.05, "step": 2})",
     "step=150 loss=1.5 grad_norm=3.25 learning_rate=0.001"},
};

TEST(OpenMmLabFormats, SampleLines) {
  for (const SampleLines& sample : kSamples) {
    ExpectFacts(sample);
    EXPECT_EQ(OthersThatRead(sample.format, sample.lines), "") << sample.what;
  }
}

}  // namespace
}  // namespace nanwatch
