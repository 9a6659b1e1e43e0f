// Keras 2 and 3 (progress bar): sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"Keras 2",
     "Epoch 1/10\n"
     "\n"
     "  1/120 [..............................] - ETA: 1:01 - loss: 2.3125\n"
     " 12/120 [==>...........................] - ETA: 0s - loss: 2.2500 - "
     "accuracy: 0.1000\n"
     "120/120 [==============================] - 1s 8ms/step - loss: 2.0000 - "
     "accuracy: 0.2 - val_loss: 1.9000 - val_accuracy: 0.3 - lr: 0.0010\n"
     "Epoch 2/10\n"
     " 60/120 [==============>...............] - ETA: 0s - loss: nan",
     "step=1 loss=2.3125\nstep=12 loss=2.25\n"
     "step=120 loss=2 learning_rate=0.001\nstep=180 loss=nan"},
    {"Keras 3",
     "Epoch 3/10\n"
     "\xe2\x94\x81\xe2\x94\x81\n"
     "120/120 \xe2\x94\x81\xe2\x94\x81\xe2\x94\x81\xe2\x94\x81 1s 5ms/step - "
     "accuracy: 0.5000 - loss: 1.2500 - val_loss: 1.5000 - learning_rate: "
     "0.0010\n",
     "step=360 loss=1.25 learning_rate=0.001"},
    {"drawn over with backspaces; torn",
     "Epoch 1/10\n"
     "\b\b\b\b 12/120 [==>...........................] - ETA: 0s - loss: "
     "2.2500 - accuracy: 0.1000\n"
     " 13/120 [==>...........................] - ETA: 0s - loss: 2.25",
     "step=12 loss=2.25"},
    {"a validation's head, and the next epoch's, glued to a bar",
     "Epoch 2/10\n"
     " 99/100 [============================>.] - ETA: 2s - loss: 0.2500"
     "Epoch 1/10\n"
     "100/100 [==============================] - 332s 3s/step - loss: 0.2500 - "
     "val_loss: 0.2380Epoch 3/10\n"
     "100/100 [==============================] - 332s 3s/step - loss: nan - "
     "val_loss: nan\n",
     "step=199 loss=0.25\nstep=200 loss=0.25\nstep=300 loss=nan"},
};

}  // namespace

const SampleTable kKerasSamples = {"keras", kLines};

}  // namespace nanwatch
