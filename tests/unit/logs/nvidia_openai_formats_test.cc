// NVIDIA's BERT, tacotron2 and NeMo, Mask R-CNN, OpenAI's diffusion: sample
// lines in their texture, and what they say.

#include "told_facts.h"

namespace nanwatch {
namespace {

constexpr SampleLines kSamples[] = {
    // BERT.
    {"a skipped attempt, then a step", "nvidia_bert",
     "0: {'training_steps': 6, 'average_loss': 5.75, 'step_loss': 5.3828125, "
     "'learning_rate': 0.0004, 'seq/s': 110.86, 'global_steps': 0, "
     "'samples_trained': 0, 'skipped_steps': 1, 'timestamp': 1593.11}\n"
     "0: {'training_steps': 12, 'average_loss': nan, 'step_loss': nan, "
     "'learning_rate': 3.5e-05, 'seq/s': 110.86, 'global_steps': 1, "
     "'samples_trained': 288, 'skipped_steps': 1, 'timestamp': 1594.11}\n"
     "0: {'global_steps': 1, 'eval_loss': 1.5, 'eval_mlm_accuracy': 0.7}",
     "step=0 loss=5.75 learning_rate=0.0004 skipped_total=1\n"
     "step=1 loss=nan learning_rate=3.5e-05 skipped_total=1"},
    {"torn within the counter", "nvidia_bert",
     "0: {'training_steps': 6, 'average_loss': 5.75, 'step_loss': 5.3828125, "
     "'learning_rate': 0.0004, 'seq/s': 110.86, 'global_steps': 10, "
     "'samples_trained': 0, 'skipped_steps': 1",
     ""},
    // DLLogger.
    {"BERT, whose iterations go on", "dllogger",
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
    {"TensorFlow's BERT", "dllogger",
     "DLL 2024-01-07 20:04:34.092791 - Iteration: 16  throughput_train : "
     "145.25 seq/s mlm_loss : 10.5  nsp_loss : 0.75  total_loss : 11.25  "
     "avg_loss_step : 11.5  learning_rate : 5.25e-06  loss_scaler : 65536.0 ",
     "step=16 loss=11.25 loss_scale=65536 learning_rate=5.25e-06"},
    {"pairs, whose iterations begin anew", "dllogger",
     "DLL 2024-01-07 03:32:54.425004 - (2, 129) train_loss : 0.25 \n"
     "DLL 2024-01-07 03:32:54.425004 - (2, 129) train_items_per_sec : 17340.5 "
     "\nDLL 2024-01-07 03:32:56.425004 - (2,) train_loss : 0.375 \n"
     "DLL 2024-01-07 03:32:57.425004 - (2, 130, 0) val_loss : 0.5 \n"
     "DLL 2024-01-07 03:32:58.425004 - (3, 1) train_loss : 0.5 ",
     "step=129 loss=0.25\nstep=130 loss=0.5"},
    {"FastPitch", "dllogger",
     "DLL 2024-01-07 10:41:12.562594 - epoch    2 | iter   3/19 | loss 36.99 | "
     "mel loss 35.25 |  142370.52 items/s | elapsed 2.50 s | lrate 1.00E-01 -> "
     "3.16E-06",
     "step=22 loss=36.99 learning_rate=0.1"},
    {"its file of JSON", "dllogger",
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
    {"AWS' BERT", "dllogger",
     "[0]:LOG Wed Jan  7 00:12:27 2024 - (0, 14) step_loss : 11.2500 "
     "learning_rate : 2.80e-06 throughput : 6497.86 grad-norm : 2.5 ",
     "step=14 loss=11.25 grad_norm=2.5 learning_rate=2.8e-06"},
    {"torn, glued", "dllogger",
     "DLL 2024-01-07 20:04:34.092791 - Training Epoch: 0 Training Iteration: "
     "10  average_loss : 10.\n"
     "DLL 2024-01-07 20:04:34.092791 - Iteration: 15  total_loss : 10.2DLL "
     "2024-01-07 20:04:34.092791 - Iteration: 16  total_loss : 11.25  lr : 1 "
     "\nDLL 2024-01-07 20:04:34.092791 - (1, 2\nDLL 2\nDLLL {\nLOG ) "
     "step_loss : 3 ",
     "step=16 loss=11.25 learning_rate=1"},
    // tacotron2.
    {"a step", "tacotron2",
     "Train loss 16 49.316841 Grad Norm 10.800460 3.71s/it\n"
     "Train loss 17 nan Grad Norm nan 3.70s/it\n"
     "Train loss 18 0.52\nTrain loss 12: 0.5",
     "step=16 loss=49.316841 grad_norm=10.80046\n"
     "step=17 loss=nan grad_norm=nan"},
    // Mask R-CNN.
    {"a step, ranks' prefix", "maskrcnn",
     "0: 2020-06-01 10:00:00,129 maskrcnn_benchmark.trainer INFO: eta: 4:19:20 "
     " iter: 20  loss: 5.1036 (6.3051)  loss_classifier: 3.9201 (4.2)  "
     "loss_mask: 0.6992 (1.0)  time: 0.4 (0.6)  data: 0.0 (0.1)  lr: 0.002625 "
     " max mem: 5042",
     "step=20 loss=5.1036 learning_rate=0.002625"},
    {"torn", "maskrcnn",
     "INFO: eta: 4:19:20  iter: 20  loss: 5.1\nINFO: eta: 4:19:20  iter: 2",
     ""},
    // NeMo.
    {"2: a line a step", "nemo",
     "0: Training epoch 0, iteration 28/99 | lr: 5.6e-06 | global_batch_size: "
     "32 | global_step: 28 | reduced_train_loss: 2.75 | train_step_timing in s:"
     " 0.189 | consumed_samples: 928 | val_loss: 2.861 | val_ppl: 17.57\n"
     "Training epoch 0, iteration 29/99 | lr: 5.6e-06 | reduced_train_loss: "
     "2.5 | grad_norm: 0.5 | train_step_timing in s: 0.189",
     "step=28 loss=2.75 learning_rate=5.6e-06 consumed_samples=928\n"
     "step=29 loss=2.5 grad_norm=0.5 learning_rate=5.6e-06"},
    {"1: a bar that is drawn again", "nemo",
     "Epoch 0:  12%|#2 | 12/100 [00:30<03:40, 2.50s/it, v_num=0, "
     "reduced_train_loss=10.50, global_step=11.00, consumed_samples=96.00]\n"
     "Epoch 0:  12%|#2 | 12/100 [00:31<03:41, 2.50s/it, v_num=0, "
     "reduced_train_loss=10.50, global_step=11.00, consumed_samples=96.00]\n"
     "Epoch 0:  13%|#3 | 13/100 [00:33<03:40, 2.50s/it, v_num=0, "
     "reduced_train_loss=nan.0, global_step=12.00, consumed_samples=104.0]\n"
     "Epoch 0:  14%|#4 | 14/100 [00:35<03:40, 2.50s/it, v_num=0, "
     "reduced_train_loss=nan, global_step=13.00, consumed_samples=112.0]",
     "step=11 loss=10.5 consumed_samples=96\n"
     "step=13 loss=nan consumed_samples=112"},
    {"0.11: step and loss on two lines, NaN on every rank", "nemo",
     "[NeMo I 2020-04-01 10:00:00 callbacks:193] Step: 25\n"
     "[NeMo I 2020-04-01 10:00:00 train:71] Train Loss: 6.25\n"
     "[NeMo I 2020-04-01 10:00:00 callbacks:204] Step time: 0.31 seconds\n"
     "[NeMo W 2020-04-01 10:00:01 actions:1270] Loss is NaN or inf\n"
     "[NeMo W 2020-04-01 10:00:01 actions:1270] Loss is NaN or inf",
     "step=25 loss=6.25\nloss=nan"},
    {"torn", "nemo",
     "Training epoch 0, iteration 28/99 | lr: 5.6e-06 | reduced_train_loss: 2\n"
     "the loss: Loss is NaN or inf, as someone else says",
     ""},
    // OpenAI's diffusion.
    {"a table", "guided_diffusion",
     "----------------------------\n"
     "| grad_norm     | 0.342    |\n"
     "| lg_loss_scale | 20       |\n"
     "| loss          | 0.0123   |\n"
     "| loss_q0       | 0.0301   |\n"
     "| param_norm    | 303      |\n"
     "| samples       | 1.28e+04 |\n"
     "| step          | 100      |\n"
     "----------------------------",
     "step=100 loss=0.0123 loss_scale=1048576 grad_norm=0.342 param_norm=303 "
     "consumed_samples=12800"},
    {"an overflow, then a table whose scale is a mean", "guided_diffusion",
     "Found NaN, decreased lg_loss_scale to 3.0\n"
     "Found NaN, decreased lg_loss_scale to -2000.0\n"
     "--------------------------\n"
     "| lg_loss_scale | 20     |\n"
     "| loss          | nan    |\n"
     "| samples       | 8      |\n"
     "| step          | 1      |\n"
     "--------------------------",
     "overflow loss_scale=8\noverflow loss_scale=0\n"
     "step=1 loss=nan consumed_samples=8"},
    {"another program's table; torn", "guided_diffusion",
     "--------------------------\n"
     "| loss          | 0.5    |\n"
     "| time/fps      | 311    |\n"
     "--------------------------\n"
     "| loss          | 0.0123\n"
     "| samples       | 8      |\n"
     "| step          | 1      |\n"
     "--------------------------\n"
     "Found NaN, decreased lg_loss_scale to 1",
     ""},
};

TEST(NvidiaAndOpenAiFormats, SampleLines) {
  for (const SampleLines& sample : kSamples) ExpectFacts(sample);
}

}  // namespace
}  // namespace nanwatch
