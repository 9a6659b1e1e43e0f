// DeepSpeed-Chat's PPO, actor and critic: sample lines in its texture, and what
// they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"two models' losses",
     "epoch: 0|step: 8|ppo_ep: 1|act_loss: -0.5|cri_loss: 0.25|unsuper_loss: "
     "0.0\n"
     "Epoch: 0 | Step: 9 | PPO Epoch: 1 | Actor Loss: 0.125 | Critic Loss: nan "
     "| Unsupervised Loss: 0.0\n"
     "Epoch: 1 | Step: 0 | Total Steps: 10 | PPO Epoch: 2 | Actor Loss: 0.125 "
     "| Critic Loss: 2e-05 | Unsupervised Loss: 0.0 | Advantage: 0.5\n"
     "|E2E latency=2.87s |Gather latency=0.00s (0.00%) |Generate time=1.76s "
     "(61.42%) |Training time=0.95s (32.99%) |AvgSamplesPerSec=1.06",
     "step=9 loss=0.25 scaler=1\nstep=9 loss=-0.5 scaler=0\n"
     "step=10 loss=nan scaler=1\nstep=10 loss=0.125 scaler=0\n"
     "step=11 loss=2e-05 scaler=1\nstep=11 loss=0.125 scaler=0"},
    {"a step in two batches; torn, glued",
     "[INFO] [config.py:983:print]   gradient_accumulation_steps .. 2\n"
     "epoch: 0|step: 0|ppo_ep: 1|act_loss: 1.5|cri_loss: 2.5|unsuper_loss: 0\n"
     "epoch: 0|step: 1|ppo_ep: 1|act_loss: 2.5|cri_loss: 3.5|unsuper_loss: 0\n"
     "epoch: 0|step: 3|ppo_ep: 1|act_loss: 2.5|cri_loss: 3.\n"
     "epoch: 0|step: 5|ppo_ep: 1|act_loss: epoch: 0|step: 7|ppo_ep: 1|act_loss:"
     " 0.5|cri_loss: 0.75|unsuper_loss: 0",
     "step=1 loss=3.5 scaler=1\nstep=1 loss=2.5 scaler=0\n"
     "step=4 loss=0.75 scaler=1\nstep=4 loss=0.5 scaler=0"},
};

}  // namespace

const SampleTable kDeepSpeedChatSamples = {"deepspeed_chat", kLines};

}  // namespace nanwatch
