// Axolotl: sample lines in its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"its logger's name, and its keys",
     "[2024-05-01 10:00:00,123] [INFO] [axolotl.train.train:85] [PID:1] "
     "[RANK:0] Starting trainer...\n"
     "{'loss': 1.3125, 'grad_norm': 0.875, 'learning_rate': 2e-05, "
     "'memory/max_mem_active(gib)': 14.56, 'epoch': 0.01}\n"
     "{'loss': 1.25, 'learning_rate': 2e-05, 'epoch': 0.02}",
     "step=1 loss=1.3125 grad_norm=0.875 learning_rate=2e-05\n"
     "step=2 loss=1.25 learning_rate=2e-05"},
};

}  // namespace

const SampleTable kAxolotlSamples = {"axolotl", kLines, "hf_trainer"};

}  // namespace nanwatch
