// Trainers of vision models: InsightFace, MAE and BEiT, timm, the MetricLogger
// of DeiT and others, Swin, Detectron2. Sample lines in their texture.

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

constexpr SampleLines kSamples[] = {
    {"the scale, and none", "insightface",
     "Training: 2021-12-03 22:56:24,201-Speed 2744.89 samples/sec   Loss "
     "44.2500   LearningRate 0.099900   Epoch: 0   Global Step: 100   Fp16 "
     "Grad Scale: 65536   Required: 13 hours\n"
     "Training: 2021-12-03 22:57:24,201-Speed 2744.89 samples/sec   Loss nan   "
     "LearningRate 0.0999   Epoch: 0   Global Step: 150   Required: 13 hours",
     "step=100 loss=44.25 loss_scale=65536 learning_rate=0.0999\n"
     "step=150 loss=nan learning_rate=0.0999"},
    {"a scale rounded to 0", "insightface",
     "Training: 2021-12-03 22:56:24,201-Speed 2744.89 samples/sec   Loss "
     "44.2500   LearningRate 0.1000   Epoch: 3   Global Step: 9100   Fp16 Grad "
     "Scale:  0   Required: 13 hours",
     "step=9100 loss=44.25 loss_scale<=0.5 learning_rate=0.1"},
    {"torn", "insightface",
     "Training: 2021-12-03 22:56:24,201-Speed 2744.89 samples/sec   Loss "
     "44.2500   LearningRate 0.1000   Epoch: 3   Global Step: 91",
     ""},
    {"means of an epoch, and no JSON", "mae_beit",
     R"({"train_lr": 0.0001, "train_min_lr": 1e-06, "train_loss": 6.875, )"
     R"("train_loss_scale": 853.3333333333334, "train_weight_decay": 0.05, )"
     R"("train_grad_norm": Infinity, "test_loss": 5.1, "epoch": 3, )"
     R"("n_parameters": 86567656})"
     "\n"
     R"({"train_lr": 0.0001, "train_loss": NaN, "epoch": 4})"
     "\n"
     R"({"epoch": 2, "train_loss": "1.603", "train_num_updates": "104"})"
     "\n"
     R"({"train_lr": 0.0001, "train_loss": 6.5, "epoch": 5)",
     "step=3 loss=6.875 loss_scale=853.3333333 grad_norm=inf "
     "learning_rate=0.0001\n"
     "step=4 loss=nan learning_rate=0.0001"},
    {"epochs from 0, newer and older widths", "timm",
     "Train: 0 [   0/1251 (  0%)]  Loss: 6.93 (6.93)  Time: 9.575s,   13.37/s  "
     "(9.575s,   13.37/s)  LR: 1.000e-05  Data: 0.844 (0.844)\n"
     "Train: 2 [ 100/1251 (  8%)]  Loss:  6.875000 (6.9295)  Time: 24.915s,    "
     "5.14/s  (24.915s,    5.14/s)  LR: 1.000e-06  Data: 19.697 (19.697)\n"
     "Test: [   0/30]  Time: 6.593 (6.593)  Loss:   6.723 ( 6.723)",
     "step=0 loss=6.93 learning_rate=1e-05\n"
     "step=2602 loss=6.875 learning_rate=1e-06"},
    {"torn, glued", "timm",
     "Train: 2 [ 100/1251 (  8%)]  Loss:  6.87Train: 2 [ 150/1251 ( 12%)]  "
     "Loss: nan (nan)  Time: 0.3s",
     "step=2652 loss=nan"},
    {"DeiT and BEiT", "metric_logger",
     "Epoch: [1]  [  20/1251]  eta: 0:25:11  lr: 0.000010  min_lr: 0.000001  "
     "loss: 6.9375 (6.9400)  loss_scale: 65536.0000 (65536.0000)  "
     "weight_decay: 0.05  grad_norm: inf (nan)  time: 0.5  data: 0.01  max "
     "mem: 9845\n"
     "Epoch: [1] Total time: 0:10:11 (0.4888 s / it)\n"
     "Test:  [  0/53]  eta: 0:00:10  loss: 5.1 (5.1)  acc1: 10.0 (10.0)",
     "step=1271 loss=6.9375 loss_scale=65536 grad_norm=inf "
     "learning_rate=1e-05"},
    {"Swin", "metric_logger",
     "[2022-01-02 10:00:00 swin_tiny](main.py 222): INFO Train: [0/300][10/1251"
     "]\teta 0:25:12 lr 0.000001\t wd 0.0500\ttime 0.3000 (0.5000)\tloss "
     "6.9375 "
     "(6.9400)\tgrad_norm 1.2500 (1.3000)\tloss_scale 32768.0000 (65536.0000)\t"
     "mem 9000MB",
     "step=10 loss=6.9375 loss_scale=32768 grad_norm=1.25 "
     "learning_rate=1e-06"},
    {"torn", "metric_logger",
     "Epoch: [1]  [  20/1251]  eta: 0:25:11  lr: 0.000010  loss: 6.93", ""},
    {"ImageNet with Apex, PyTorch and torch_npu", "imagenet",
     "Epoch: [0][10/5004]\tTime 0.345 (0.401)\tSpeed 742.1 (638.4)\tLoss "
     "6.9375000000 (6.9500)\tPrec@1 0.391 (0.102)\tPrec@5 1.953 (0.611)\n"
     "Epoch: [1][   20/5004]\tTime  0.3 ( 0.3)\tData  0.0 ( 0.0)\tLoss "
     "7.0625e+00 (7.1e+00)\tAcc@1   0.00 (  0.10)\n"
     "[npu id: 0 ] Epoch: [1][  30/5004]\tTime  0.3 ( 0.3)\tLoss nan (nan)"
     "\tAcc@1 0.1 (0.1)",
     "step=10 loss=6.9375\nstep=5024 loss=7.0625\nstep=5034 loss=nan"},
    {"torn, an evaluation", "imagenet",
     "Epoch: [0][10/5004]\tTime 0.345 (0.401)\tLoss 6.93\n"
     "Test: [10/98]\tTime 0.3 (0.3)\tLoss 6.9 (6.9)\tPrec@1 0.4 (0.1)",
     ""},
    {"one loss is the total", "detectron2",
     "[09/02 02:37:00 d2.utils.events]:  eta: 0:10:00  iter: 19  total_loss: "
     "2.125  loss_cls: 0.9  loss_box_reg: 0.3  time: 0.3411  data_time: 0.0112 "
     " lr: 1.6e-05  max_mem: 2000M\n"
     "[09/02 02:37:09 d2.utils.events]:  eta: 0:09:50  iter: 39  total_loss: "
     "nan  loss_cls: nan  time: 0.3411  last_time: 0.3  lr: 3.2e-05  max_mem: "
     "2000M",
     "step=19 loss=2.125 learning_rate=1.6e-05\n"
     "step=39 loss=nan learning_rate=3.2e-05"},
    {"torn", "detectron2", "  eta: 0:10:00  iter: 19  total_loss: 2.1", ""},
};

TEST(VisionFormats, SampleLines) {
  for (const SampleLines& sample : kSamples) {
    ExpectFacts(sample);
    EXPECT_EQ(OthersThatRead(sample.format, sample.lines), "") << sample.what;
  }
}

}  // namespace
}  // namespace nanwatch
