// OpenMMLab with mmcv (mmdet 2 and relatives), text and JSON: sample lines in
// its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"epochs, one loss among many",
     "2021-02-03 11:00:46,566 - mmdet - INFO - Epoch [2][50/400]\tlr: "
     "4.575e-04, eta: 6:27:11, time: 0.355, data_time: 0.044, memory: 2883, "
     "loss_rpn_cls: 0.1894, s0.loss_cls: 0.5640, s0.acc: 86.2930, loss: "
     "1.5311, grad_norm: 10.7843",
     "step=450 loss=1.5311 grad_norm=10.7843 learning_rate=0.0004575"},
    {"NaN of the sum, norm of a skipped step",
     "mmdet - INFO - Epoch [1][100/400]\tlr: 1.000e-02, loss_cls: nan, loss: "
     "nan, grad_norm: inf",
     "step=100 loss=nan grad_norm=inf learning_rate=0.01"},
    {"iterations, no norm",
     "2022-03-04 10:00:00,000 - mmseg - INFO - Iter [50/40000]\tlr: 9.989e-03, "
     "eta: 5:11:00, time: 0.4, data_time: 0.01, memory: 9000, decode.loss_ce: "
     "1.1000, decode.acc_seg: 40.1000, loss: 1.5000",
     "step=50 loss=1.5 learning_rate=0.009989"},
    {"an evaluation",
     "mmdet - INFO - Epoch(val) [1][5000]\tbbox_mAP: 0.3010, bbox_mAP_50: 0.5",
     ""},
    {"torn within the norm, then within the loss",
     "mmdet - INFO - Epoch [1][100/400]\tlr: 1.000e-02, loss: 1.5311, "
     "grad_norm: 10.7\n"
     "mmdet - INFO - Epoch [1][150/400]\tlr: 1.000e-02, loss: 1.5",
     "step=100 loss=1.5311 learning_rate=0.01"},
    {"another line printed into it",
     "mmdet - INFO - Epoch [1][50/400]\tlr: 1.000e-02, loss: 1.52021-02-03 "
     "11:00:46,566 - mmdet - INFO - Epoch [1][100/400]\tlr: 1.000e-02, loss: "
     "1.2500, grad_norm: 3.5000",
     "step=100 loss=1.25 grad_norm=3.5 learning_rate=0.01"},
    {"JSON: iterations of each epoch",
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
};

}  // namespace

const SampleTable kMmcvSamples = {"mmcv", kLines};

}  // namespace nanwatch
