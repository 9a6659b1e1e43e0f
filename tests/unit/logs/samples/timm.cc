// timm (pytorch-image-models): sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"epochs from 0, newer and older widths",
     "Train: 0 [   0/1251 (  0%)]  Loss: 6.93 (6.93)  Time: 9.575s,   13.37/s  "
     "(9.575s,   13.37/s)  LR: 1.000e-05  Data: 0.844 (0.844)\n"
     "Train: 2 [ 100/1251 (  8%)]  Loss:  6.875000 (6.9295)  Time: 24.915s,    "
     "5.14/s  (24.915s,    5.14/s)  LR: 1.000e-06  Data: 19.697 (19.697)\n"
     "Test: [   0/30]  Time: 6.593 (6.593)  Loss:   6.723 ( 6.723)",
     "step=0 loss=6.93 learning_rate=1e-05\n"
     "step=2602 loss=6.875 learning_rate=1e-06"},
    {"torn, glued",
     "Train: 2 [ 100/1251 (  8%)]  Loss:  6.87Train: 2 [ 150/1251 ( 12%)]  "
     "Loss: nan (nan)  Time: 0.3s",
     "step=2652 loss=nan"},
};

}  // namespace

const SampleTable kTimmSamples = {"timm", kLines};

}  // namespace nanwatch
