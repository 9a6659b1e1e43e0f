// PaddleNLP, PaddleFormers, PaddleFleetX: sample lines in its texture, and what
// they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"trainer",
     "[2022-08-31 16:19:16,008] [    INFO] - loss: 3.25806541, learning_rate: "
     "2.9992e-05, global_step: 10, interval_runtime: 2.2591, "
     "interval_samples_per_second: 3.541, interval_steps_per_second: 4.427, "
     "epoch: 0.0265\n"
     "[2022-08-31 16:19:17,556] [    INFO] - eval_loss: 2.5, learning_rate: "
     "1e-05, global_step: 10, epoch: 0.02\n"
     "[    INFO] - loss: nan, learning_rate: 2e-06, global_step: 11, "
     "global_norm: inf, ppl: nan, progress_or_epoch: 0.0",
     "step=10 loss=3.25806541 learning_rate=2.9992e-05\n"
     "step=11 loss=nan grad_norm=inf learning_rate=2e-06"},
    {"PaddleFleetX, older and newer",
     "[2022-07-27 08:53:11,036] [    INFO]  - global step 3, epoch: 0, batch: "
     "2, loss: 11.625000000, avg_reader_cost: 0.23430 sec, avg_batch_cost: "
     "11.67036 sec, speed: 0.09 step/s, learning rate: 6.25000e-09 \n"
     "[2023-02-01 08:00:00,000] [   TRAIN] - [train] epoch: [1/3], batch: "
     "[40/1000], loss: 10.250000000, avg_batch_cost: 0.25000 sec, speed: 4.00 "
     "step/s, learning rate: 5.00000e-05, found_inf: 1\n"
     "[2023-02-01 08:00:00,000] [    EVAL] - [eval] epoch: [1/3], batch: "
     "[40/1000], loss: 9.1, avg_eval_cost: 0.2 sec",
     "step=3 loss=11.625 learning_rate=6.25e-09\n"
     "step=1040 loss=10.25 learning_rate=5e-05 overflowed"},
    {"another program, which counts epochs from 1",
     "Train [2023-07-27 11:50:39.6] epoch: [1/50], batch: [100/8832], learning "
     "rate: 0.0005, train loss: 121.5, eta: 1 day",
     ""},
    {"the examples",
     "global step 10, epoch: 0, batch: 9, rank_id: 0, loss: 0.693125, lr: "
     "0.0000200000, speed: 5.5000 step/s\n"
     "eval loss: 0.650000, acc: 0.7, eval done total : 1.1 s",
     "step=10 loss=0.693125 learning_rate=2e-05"},
    {"torn",
     "[    INFO] - loss: 3.25806541, learning_rate: 2.9992e-05, global_step: "
     "1\n"
     "[    INFO]  - global step 3, epoch: 0, batch: 2, loss: 11.6428",
     ""},
};

}  // namespace

const SampleTable kPaddleNlpSamples = {"paddlenlp", kLines};

}  // namespace nanwatch
