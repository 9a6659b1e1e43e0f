// NVIDIA NeMo: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"2: a line a step",
     "0: Training epoch 0, iteration 28/99 | lr: 5.6e-06 | global_batch_size: "
     "32 | global_step: 28 | reduced_train_loss: 2.75 | train_step_timing in s:"
     " 0.189 | consumed_samples: 928 | val_loss: 2.861 | val_ppl: 17.57\n"
     "Training epoch 0, iteration 29/99 | lr: 5.6e-06 | reduced_train_loss: "
     "2.5 | train_step_timing in s: 0.189 | grad_norm: 0.5",
     "step=28 loss=2.75 learning_rate=5.6e-06 consumed_samples=928\n"
     "step=29 loss=2.5 grad_norm=0.5 learning_rate=5.6e-06"},
    {"1: a bar that is drawn again",
     "Epoch 0:  12%|#2 | 12/100 [00:30<03:40, 2.50s/it, v_num=0, "
     "reduced_train_loss=10.50, global_step=11.00, consumed_samples=96.00]\n"
     "Epoch 0:  12%|#2 | 12/100 [00:31<03:41, 2.50s/it, v_num=0, "
     "reduced_train_loss=10.50, global_step=11.00, consumed_samples=96.00]\n"
     "Epoch 0:  13%|#3 | 13/100 [00:33<03:40, 2.50s/it, v_num=0, "
     "reduced_train_loss=nan.0, global_step=12.00, consumed_samples=104.0]\n"
     "Epoch 0:  14%|#4 | 14/100 [00:35<03:40, 2.50s/it, v_num=0, "
     "reduced_train_loss=nan, global_step=13.00, consumed_samples=112.0]",
     "step=11 loss=10.5 consumed_samples=96\n"
     "step=12 loss=nan consumed_samples=104\n"
     "step=13 loss=nan consumed_samples=112"},
    {"0.11: step and loss on two lines, NaN on every rank",
     "[NeMo I 2020-04-01 10:00:00 callbacks:193] Step: 25\n"
     "[NeMo I 2020-04-01 10:00:00 train:71] Train Loss: 6.25\n"
     "[NeMo I 2020-04-01 10:00:00 callbacks:204] Step time: 0.31 seconds\n"
     "[NeMo W 2020-04-01 10:00:01 actions:1270] Loss is NaN or inf\n"
     "[NeMo W 2020-04-01 10:00:01 actions:1270] Loss is NaN or inf",
     "step=25 loss=6.25\nloss=nan"},
    {"with its scaler",
     "Epoch 0:   0%| | 1/420 [00:00<00:41, reduced_train_loss=4.5, "
     "global_step=1.0, grad_scale=1024.0, overflow=1]",
     "step=1 loss=4.5 loss_scale=1024 overflowed"},
    {"torn",
     "Training epoch 0, iteration 28/99 | lr: 5.6e-06 | reduced_train_loss: 2\n"
     "the loss: Loss is NaN or inf, as someone else says",
     ""},
};

}  // namespace

const SampleTable kNemoSamples = {"nemo", kLines};

}  // namespace nanwatch
