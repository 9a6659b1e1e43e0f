// TensorFlow estimators, also on Ascend: sample lines in its texture, and what
// they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"TensorFlow's logger",
     "INFO:tensorflow:loss = 7.125, step = 0\n"
     "INFO:tensorflow:global_step/sec: 1.9\n"
     "INFO:tensorflow:loss = 6.75, step = 100 (52.617 sec)\n"
     "INFO:tensorflow:Saving dict for global step 100: eval_loss = 1.0, "
     "global_step = 100, loss = 6.5",
     "step=0 loss=7.125\nstep=100 loss=6.75"},
    {"absl's, BERT's hook",
     "I0521 19:45:05.732480 281473752813584 basic_session_run_hooks.py:260] "
     "global_step = 1300, masked_lm_loss = 0.94164073, next_sentence_loss = "
     "0.023505606, total_loss = 0.96514636 (81.600 sec)\n"
     "I0521 19:46:27.001234 281473752813584 basic_session_run_hooks.py:262] "
     "loss = 0.875, step = 1400 (81.600 sec)",
     "step=1300 loss=0.96514636\nstep=1400 loss=0.875"},
    {"with tensors of its user",
     "INFO:tensorflow:loss = 0.00, ppl = 1.00, global_norm = nan, lr = 1e-05, "
     "loss_scale = 4096, step = 50 (3.2 sec)\n"
     "INFO:tensorflow:loss = 1.50, logit_scale = 14.5, step = 100 (3.2 sec)",
     "step=50 loss=0 loss_scale=4096 grad_norm=nan\nstep=100 loss=1.5"},
    {"torn",
     "INFO:tensorflow:loss = 6.75, step = 10\n"
     "I0521 basic_session_run_hooks.py:260] global_step = 1300, masked_lm_loss "
     "= 0.94164073, next_sentence_loss = 0.0235, total_loss = 0.9651",
     ""},
};

}  // namespace

const SampleTable kTfEstimatorSamples = {"tf_estimator", kLines};

}  // namespace nanwatch
