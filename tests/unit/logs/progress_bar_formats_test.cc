// Progress bars: Lightning, Keras, Ultralytics. Sample lines in their texture;
// a bar is drawn many times a step.

#include "tests/unit/logs/told_facts.h"

namespace nanwatch {
namespace {

constexpr SampleLines kSamples[] = {
    {"drawn twice; the second epoch goes on", "lightning",
     "Epoch 0:   0%|          | 0/120 [00:00<?, ?it/s]\n"
     "Epoch 0:  10%|#         | 12/120 [00:01<00:10,  9.8it/s, v_num=0, "
     "train_loss=2.300]\n"
     "Epoch 0:  10%|#         | 12/120 [00:01<00:10,  9.8it/s, v_num=0, "
     "train_loss=2.300]\n"
     "Epoch 1:   1%|          | 1/120 [00:01<00:10,  9.8it/s, v_num=0, "
     "train_loss_step=nan, train_loss_epoch=2.100, train_loss=nan]",
     "step=12 loss=2.3\nstep=121 loss=nan"},
    {"older: the running loss first, the bar goes on in the validation",
     "lightning",
     "Epoch 0:  83%|########3 | 100/120 [00:16<00:03,  6.2it/s, loss=0.33, "
     "v_num=3, train_loss=0.295, lr=0.001]\n"
     "Validating:  50%|#####     | 10/20 [00:01<00:01,  9.1it/s]\n"
     "Epoch 0:  91%|#########1| 110/120 [00:17<00:02,  6.2it/s, loss=0.33, "
     "v_num=3, train_loss=0.295, lr=0.001]\n"
     "Epoch 1:   1%|          | 1/120 [00:16<00:03,  6.2it/s, loss=0.32, "
     "v_num=3, lr=0.001]",
     "step=100 loss=0.33 learning_rate=0.001\n"
     "step=121 loss=0.32 learning_rate=0.001"},
    {"unknown length", "lightning",
     "Epoch 0: : 1it [00:52, 52.00s/it, v_num=0, train_loss=9.190]\n"
     "Epoch 0: : 2it [01:52, 52.00s/it, v_num=0, train_loss=9.000]\n"
     "Epoch 1: : 1it [00:52, 52.00s/it, v_num=0, train_loss=8.500]",
     "step=1 loss=9.19\nstep=2 loss=9\nstep=3 loss=8.5"},
    {"torn, glued", "lightning",
     "Epoch 0:  10%|#         | 12/120 [00:01<00:10,  9.8it/s, v_num=0, "
     "train_loss=2.3Epoch 0:  11%|#         | 13/120 [00:01<00:10,  9.8it/s, "
     "v_num=0, train_loss=2.250]",
     "step=13 loss=2.25"},
    {"Keras 2", "keras",
     "Epoch 1/10\n"
     "\n"
     "  1/120 [..............................] - ETA: 1:01 - loss: 2.3125\n"
     " 12/120 [==>...........................] - ETA: 0s - loss: 2.2500 - "
     "accuracy: 0.1000\n"
     "120/120 [==============================] - 1s 8ms/step - loss: 2.0000 - "
     "accuracy: 0.2 - val_loss: 1.9000 - val_accuracy: 0.3 - lr: 0.0010\n"
     "Epoch 2/10\n"
     " 60/120 [==============>...............] - ETA: 0s - loss: nan",
     "step=1 loss=2.3125\nstep=12 loss=2.25\nstep=120 loss=2\n"
     "step=180 loss=nan"},
    {"Keras 3", "keras",
     "Epoch 3/10\n"
     "\xe2\x94\x81\xe2\x94\x81\n"
     "120/120 \xe2\x94\x81\xe2\x94\x81\xe2\x94\x81\xe2\x94\x81 1s 5ms/step - "
     "accuracy: 0.5000 - loss: 1.2500 - val_loss: 1.5000 - learning_rate: "
     "0.0010\n",
     "step=360 loss=1.25"},
    {"drawn over with backspaces; torn", "keras",
     "Epoch 1/10\n"
     "\b\b\b\b 12/120 [==>...........................] - ETA: 0s - loss: "
     "2.2500 - accuracy: 0.1000\n"
     " 13/120 [==>...........................] - ETA: 0s - loss: 2.25",
     "step=12 loss=2.25"},
    {"a bar's end is the epoch", "ultralytics",
     "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       "
     "Size\n"
     "      1/100      2.51G       1.25        2.5       1.25         50       "
     " "
     "640:  50%|#####     | 6/12 [00:03<00:00,  3.41it/s]\n"
     "      1/100      2.51G       1.25        2.5       1.25         50       "
     " "
     "640: 100%|##########| 12/12 [00:03<00:00,  3.41it/s]\n"
     "      2/100      2.51G        nan        2.5       1.25         50       "
     " "
     "640: 100%|##########| 12/12 [00:03<00:00,  3.41it/s]\n"
     "                 Class     Images  Instances      Box(P          R: 100%"
     "|##########| 4/4 [00:00<00:00]",
     "step=1 loss=5\nstep=2 loss=nan"},
};

TEST(ProgressBarFormats, SampleLines) {
  for (const SampleLines& sample : kSamples) {
    ExpectFacts(sample);
    EXPECT_EQ(OthersThatRead(sample.format, sample.lines), "") << sample.what;
  }
}

}  // namespace
}  // namespace nanwatch
