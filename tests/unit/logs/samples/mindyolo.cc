// mindyolo (MindSpore): sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"updates applied all the same",
     "2023-12-25 09:58:34,118 [WARNING] overflow, still update, loss scale "
     "adjust to 1024.0\n"
     "2023-12-25 09:59:12,001 [INFO] Epoch 2/300, Step 100/1848, imgsize (640, "
     "640), loss: 11.6707, lbox: 3.6262, lcls: 5.5689, dfl: 2.4756, cur_lr: "
     "0.09925\n"
     "2023-12-25 09:59:12,110 [INFO] Epoch 2/300, Step 100/1848, step time: "
     "812.33 ms",
     "overflow loss_scale=1024 applied\n"
     "step=1948 loss=11.6707 learning_rate=0.09925"},
    {"steps dropped, numpy's array, older words",
     "overflow, drop step, loss scale adjust to [512.]\n"
     "overflow, loss scale adjust to  256.0\n"
     "Epoch 1/300, Step 7/1848, accumulate: 4, this step grad overflow, drop. "
     "Loss scale adjust to 128.0\n"
     "Epoch 300/1, Step 1848/9, imgsize [640, 640], loss: nan, lbox: 1.0000, "
     "cur_lr: [0.1, 0.01, 0.01]",
     "overflow loss_scale=512 skipped\noverflow loss_scale=256\n"
     "overflow loss_scale=128 skipped\nstep=9 loss=nan learning_rate=0.1"},
    {"the next epoch's number with the last step of one",
     "Epoch 1/300, Step 1700/1800, imgsize (640, 640), loss: 4.5, cur_lr: 0.1\n"
     "Epoch 2/300, Step 1800/1800, imgsize (640, 640), loss: 4.25, cur_lr: "
     "0.1\n"
     "Epoch 2/300, Step 100/1800, imgsize (640, 640), loss: 4.0, cur_lr: 0.1\n"
     "Epoch 2/300, Step 1800/1800, imgsize (640, 640), loss: 3.5, cur_lr: 0.1",
     "step=1700 loss=4.5 learning_rate=0.1\n"
     "step=1800 loss=4.25 learning_rate=0.1\n"
     "step=1900 loss=4 learning_rate=0.1\n"
     "step=3600 loss=3.5 learning_rate=0.1"},
    {"value torn off, line torn off",
     "overflow, still update, loss scale adjust to \n"
     "Epoch 1/300, Step 100/1848, imgsize (640, 640), loss: 11.67",
     "overflow applied"},
};

}  // namespace

const SampleTable kMindYoloSamples = {"mindyolo", kLines};

}  // namespace nanwatch
