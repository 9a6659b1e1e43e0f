// NVIDIA DLLogger (BERT, ResNet, FastPitch, ...), AWS' BERT: sample lines in
// its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"BERT, whose iterations go on",
     "DLL 2024-01-07 20:04:30.092791 - PARAMETER Config : "
     "[\"Namespace(loss_scale=0.0, steps=9)\"] \n"
     "DLL 2024-01-07 20:04:34.092791 - Training Epoch: 0 Training Iteration: "
     "10  step_loss : 10.75  average_loss : 10.5  learning_rate : 6e-06 \n"
     "DLL 2024-01-07 20:04:35 - Training Epoch: 1 Training Iteration: 20  "
     "average_loss : nan  step_loss : nan  learning_rate : 1.2e-05 \n"
     "DLL 2024-01-07 20:04:36.1 - Training Epoch: 1 Training Iteration: 20 "
     "Validation Iteration: 3  loss : 9.5 ",
     "step=10 loss=10.5 learning_rate=6e-06\n"
     "step=20 loss=nan learning_rate=1.2e-05"},
    {"TensorFlow's BERT",
     "DLL 2024-01-07 20:04:34.092791 - Iteration: 16  throughput_train : "
     "145.25 seq/s mlm_loss : 10.5  nsp_loss : 0.75  total_loss : 11.25  "
     "avg_loss_step : 11.5  learning_rate : 5.25e-06  loss_scaler : 65536.0 ",
     "step=16 loss=11.25 loss_scale=65536 learning_rate=5.25e-06"},
    {"pairs, whose iterations begin anew",
     "DLL 2024-01-07 03:32:54.425004 - (2, 129) train_loss : 0.25 \n"
     "DLL 2024-01-07 03:32:54.425004 - (2, 129) train_items_per_sec : 17340.5 "
     "\nDLL 2024-01-07 03:32:56.425004 - (2,) train_loss : 0.375 \n"
     "DLL 2024-01-07 03:32:57.425004 - (2, 130, 0) val_loss : 0.5 \n"
     "DLL 2024-01-07 03:32:58.425004 - (3, 1) train_loss : 0.5 ",
     "step=129 loss=0.25\nstep=130 loss=0.5"},
    {"FastPitch",
     "DLL 2024-01-07 10:41:12.562594 - epoch    2 | iter   3/19 | loss 36.99 | "
     "mel loss 35.25 |  142370.52 items/s | elapsed 2.50 s | lrate 1.00E-01 -> "
     "3.16E-06",
     "step=22 loss=36.99 learning_rate=0.1"},
    {"its file of JSON",
     R"(DLLL {"timestamp": "1.5e9", "datetime": "2024-01-07 20:04:34", )"
     R"("elapsedtime": "1", "type": "LOG", "step": "PARAMETER", "data": )"
     R"({"loss": 3}})"
     "\n"
     R"(DLLL {"timestamp": "1.5e9", "elapsedtime": "2", "type": "LOG", )"
     R"("step": [0, 10], "data": {"average_loss": 10.5, "step_loss": NaN, )"
     R"("learning_rate": 6e-06}})"
     "\n"
     R"(DLLL {"type": "LOG", "step": 11, "data": {"loss": "Infinity"}})"
     "\n"
     R"(DLLL {"type": "LOG", "step": [1], "data": {"loss": 3}})"
     "\n"
     R"(DLLL {"type": "LOG", "step": [0, 12], "data": {"loss": 3})",
     "step=10 loss=10.5 learning_rate=6e-06\nstep=11 loss=inf"},
    {"BERT's skipped updates, and options that are none",
     "DLL 2024-01-07 20:04:30.1 - PARAMETER loss_scale : 128.0 \n"
     "DLL 2024-01-07 20:04:34.1 - Training Epoch: 0 Training Iteration: 10  "
     "average_loss : 10.5  skipped_steps : 2 \n"
     "DLL 2024-01-07 20:04:35.1 - PARAMETER loss_scale : 32768.0 \n"
     "DLL 2024-01-07 20:04:35.1 - PARAMETER loss_scale : 32768.0  seed : 1 \n"
     "DLL 2024-01-07 20:04:35.1 - PARAMETER loss_scale : 327\n"
     R"(DLLL {"type": "LOG", "step": "PARAMETER", "data": {"loss_scale": 2}})"
     "\n"
     R"(DLLL {"step": "PARAMETER", "data": {"loss_scale": 2, "seed": 1}})"
     "\n"
     R"(DLLL {"step": "PARAMETER", "data": {"seed": 1, "loss_scale": 2}})",
     "step=10 loss=10.5 skipped_total=2\n"
     "overflow loss_scale=32768 skipped\n"
     "overflow loss_scale=2 skipped"},
    {"AWS' BERT",
     "[0]:LOG Wed Jan  7 00:12:27 2024 - (0, 14) step_loss : 11.2500 "
     "learning_rate : 2.80e-06 throughput : 6497.86 grad-norm : 2.5 ",
     "step=14 loss=11.25 grad_norm=2.5 learning_rate=2.8e-06"},
    {"torn, glued",
     "DLL 2024-01-07 20:04:34.092791 - Training Epoch: 0 Training Iteration: "
     "10  average_loss : 10.\n"
     "DLL 2024-01-07 20:04:34.092791 - Iteration: 15  total_loss : 10.2DLL "
     "2024-01-07 20:04:34.092791 - Iteration: 16  total_loss : 11.25  lr : 1 "
     "\nDLL 2024-01-07 20:04:34.092791 - (1, 2\nDLL 2\nDLLL {\nLOG ) "
     "step_loss : 3 ",
     "step=16 loss=11.25 learning_rate=1"},
};

}  // namespace

const SampleTable kDlLoggerSamples = {"dllogger", kLines};

}  // namespace nanwatch
