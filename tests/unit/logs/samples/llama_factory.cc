// LLaMA-Factory (trainer_log.jsonl, console): sample lines in its texture, and
// what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"trainer_log.jsonl",
     R"({"current_steps": 10, "total_steps": 93, "loss": 4.125, "lr": 2e-06,)"
     R"( "epoch": 0.33, "percentage": 10.75, "elapsed_time": "0:04:02", )"
     R"("remaining_time": "0:33:29"})"
     "\n"
     R"({"current_steps": 15, "total_steps": 93, "eval_loss": 3, "epoch": 1})"
     "\n"
     R"({"current_steps": 20, "total_steps": 93, "loss": NaN, "learning_rate":)"
     R"( 5e-05, "epoch": 0.66, "percentage": 21.5})"
     "\n"
     R"({"current_steps": 30, "total_steps": 93, "loss": 4.1)",
     "step=10 loss=4.125 learning_rate=2e-06\n"
     "step=20 loss=nan learning_rate=5e-05"},
    {"the console says it twice",
     "[INFO|2025-01-02 10:00:00] llamafactory.hparams.parser:401 >> Process "
     "rank: 0, world size: 8, device: npu:0\n"
     "{'loss': 1.25, 'grad_norm': 0.5, 'learning_rate': 4.9e-05, 'epoch': "
     "0.03}\n"
     "[INFO|2025-01-02 10:00:09] llamafactory.train.callbacks:143 >> {'loss': "
     "1.25, 'learning_rate': 4.9e-05, 'epoch': 0.03, 'throughput': 13061.0}\n"
     "{'loss': 1.125, 'grad_norm': 0.5, 'learning_rate': 4.8e-05, 'epoch': "
     "0.06}",
     "step=1 loss=1.25 grad_norm=0.5 learning_rate=4.9e-05\n"
     "step=2 loss=1.125 grad_norm=0.5 learning_rate=4.8e-05"},
};

}  // namespace

const SampleTable kLlamaFactorySamples = {"llama_factory", kLines,
                                          "hf_trainer"};

}  // namespace nanwatch
