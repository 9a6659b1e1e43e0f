// verl (PPO, GRPO, SFT): sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"losses below zero",
     "(TaskRunner pid=4711) step:12 - actor/entropy:0.17 - actor/kl_loss:"
     "2.1e-05 - actor/pg_loss:-7.5e-05 - actor/grad_norm:0.625 - actor/lr:"
     "1e-06 - critic/score/mean:0.93 - training/global_step:12 - timing_s/"
     "step:225.1\n"
     "step:13 - actor/pg_loss:np.float64(0.5) - actor/grad_norm:nan - perf/"
     "mfu:0.4\n"
     "step:13 - val-core/gsm8k/acc/mean@1:0.4\n"
     "step:14 - train/loss:0.5 - train/lr(1e-3):0.01 - train/time(s):1.1",
     "step=12 loss=-7.5e-05 grad_norm=0.625 learning_rate=1e-06\n"
     "step=13 loss=0.5 grad_norm=nan\n"
     "step=14 loss=0.5 learning_rate=1e-05"},
    {"an optimizer each of actor and critic, which is trained first",
     "step:1 - critic/vf_loss:0.5 - critic/grad_norm:nan - critic/lr:0.25 - "
     "critic/score/mean:0.5\n"
     "step:2 - critic/vf_loss:0.5 - critic/grad_norm:nan - actor/pg_loss:"
     "0.125 - actor/grad_norm:0.5 - actor/lr:0.25 - critic/score/mean:0.5",
     "step=1 grad_norm=nan learning_rate=0.25 scaler=1\n"
     "step=2 loss=0.125 grad_norm=0.5 learning_rate=0.25 scaler=0\n"
     "step=2 grad_norm=nan scaler=1"},
    {"torn", "step:12 - actor/pg_loss:-7.5", ""},
};

}  // namespace

const SampleTable kVerlSamples = {"verl", kLines};

}  // namespace nanwatch
