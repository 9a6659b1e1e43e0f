// PyTorch Lightning (progress bar): sample lines in its texture, and what they
// say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"drawn twice; the second epoch goes on",
     "Epoch 0:   0%|          | 0/120 [00:00<?, ?it/s]\n"
     "Epoch 0:  10%|#         | 12/120 [00:01<00:10,  9.8it/s, v_num=0, "
     "train_loss=2.300]\n"
     "Epoch 0:  10%|#         | 12/120 [00:01<00:10,  9.8it/s, v_num=0, "
     "train_loss=2.300]\n"
     "Epoch 1:   1%|          | 1/120 [00:01<00:10,  9.8it/s, v_num=0, "
     "train_loss_step=nan, train_loss_epoch=2.100, train_loss=nan]",
     "step=12 loss=2.3\nstep=121 loss=nan"},
    {"older: the running loss first, the bar goes on in the validation",
     "Epoch 0:  83%|########3 | 100/120 [00:16<00:03,  6.2it/s, loss=0.33, "
     "v_num=3, train_loss=0.295, lr=0.001]\n"
     "Validating:  50%|#####     | 10/20 [00:01<00:01,  9.1it/s]\n"
     "Epoch 0:  91%|#########1| 110/120 [00:17<00:02,  6.2it/s, loss=0.33, "
     "v_num=3, train_loss=0.295, lr=0.001]\n"
     "Epoch 1:   1%|          | 1/120 [00:16<00:03,  6.2it/s, loss=0.32, "
     "v_num=3, lr=0.001]",
     "step=100 loss=0.33 learning_rate=0.001\n"
     "step=121 loss=0.32 learning_rate=0.001"},
    {"unknown length",
     "Epoch 0: : 1it [00:52, 52.00s/it, v_num=0, train_loss=9.190]\n"
     "Epoch 0: : 2it [01:52, 52.00s/it, v_num=0, train_loss=9.000]\n"
     "Epoch 1: : 1it [00:52, 52.00s/it, v_num=0, train_loss=8.500]",
     "step=1 loss=9.19\nstep=2 loss=9\nstep=3 loss=8.5"},
    {"another program's bar, whose first epoch is the first",
     "Epoch 1:   0%|          | 1/120 [00:01<00:10,  9.8it/s, loss=2.300]\n"
     "Epoch 2:   1%|          | 1/120 [00:01<00:10,  9.8it/s, loss=2.100]",
     "step=1 loss=2.3\nstep=121 loss=2.1"},
    {"a module that steps two optimizers itself, until one breaks",
     "Epoch 0:   1%|          | 1/120 [00:01<00:10,  9.8it/s, loss=nan, "
     "v_num=0, g_loss=1.312, d_loss=0.604]\n"
     "Epoch 0:   2%|          | 2/120 [00:01<00:10,  9.8it/s, loss=nan, "
     "v_num=0, g_loss=nan, d_loss=nan]",
     "step=1 loss=1.312 of_adversary\nstep=2 loss=nan"},
    {"a module that steps its optimizer itself, and shows its loss by name",
     "Epoch 0:   1%|          | 1/120 [00:01<00:10,  9.8it/s, loss=nan, "
     "v_num=0, train_loss=2.250]\n"
     "Epoch 0:   2%|          | 2/120 [00:01<00:10,  9.8it/s, loss=nan, "
     "v_num=0, train_loss=2.125]\n"
     "Epoch 0:   3%|          | 3/120 [00:01<00:10,  9.8it/s, loss=nan, "
     "v_num=0, train_loss=nan]",
     "step=1 loss=2.25\nstep=2 loss=2.125\nstep=3 loss=nan"},
    {"the bar's own was a number once",
     "Epoch 0:   1%|          | 1/120 [00:01<00:10,  9.8it/s, loss=2.250, "
     "v_num=0, train_loss=2.250]\n"
     "Epoch 0:   2%|          | 2/120 [00:01<00:10,  9.8it/s, loss=nan, "
     "v_num=0, train_loss=2.250]",
     "step=1 loss=2.25\nstep=2 loss=nan"},
    {"torn, glued",
     "Epoch 0:  10%|#         | 12/120 [00:01<00:10,  9.8it/s, v_num=0, "
     "train_loss=2.3Epoch 0:  11%|#         | 13/120 [00:01<00:10,  9.8it/s, "
     "v_num=0, train_loss=2.250]",
     "step=13 loss=2.25"},
};

}  // namespace

const SampleTable kLightningSamples = {"lightning", kLines};

}  // namespace nanwatch
