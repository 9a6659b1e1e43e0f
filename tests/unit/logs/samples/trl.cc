// TRL (DPO, KTO, GRPO, PPO, reward models): sample lines in its texture, and
// what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"DPO",
     "{'loss': 0.6931, 'grad_norm': 5.802131652832031, 'learning_rate': 0.0, "
     "'rewards/chosen': 0.0, 'rewards/rejected': -0.5, 'rewards/accuracies': "
     "0.0, 'logps/chosen': -268.03912353515625, 'epoch': 0.01}",
     "step=1 loss=0.6931 grad_norm=5.802131653 learning_rate=0"},
    {"GRPO below zero, PPO",
     "{'loss': -0.0125, 'grad_norm': 0.25, 'learning_rate': 1e-06, "
     "'num_tokens': 10813.0, 'completions/mean_length': 53.35, 'reward': 0.25, "
     "'reward_std': 0.5, 'kl': 0.0001, 'epoch': 0.0}\n"
     "{'eps': 1, 'objective/kl': 0.5, 'objective/entropy': 40.1, "
     "'loss/policy_avg': -0.03125, 'loss/value_avg': 0.5, 'lr': 3e-06, "
     "'episode': 512, 'epoch': 0.01}",
     "step=1 loss=-0.0125 grad_norm=0.25 learning_rate=1e-06\n"
     "step=2 loss=-0.03125 learning_rate=3e-06"},
};

}  // namespace

const SampleTable kTrlSamples = {"trl", kLines, "hf_trainer"};

}  // namespace nanwatch
