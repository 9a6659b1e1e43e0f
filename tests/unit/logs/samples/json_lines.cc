// any program: a JSON object a line: sample lines in its texture, and what they
// say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a task's number before it", "3: {\"step\": 10, \"loss\": 2.5}",
     "step=10 loss=2.5"},
    {"a logger's words before it, or a host's name",
     "2026-03-01 12:01:07,123 INFO train: {\"step\": 10, \"loss\": 2.5}\n"
     "node7: {\"step\": 20, \"loss\": 2.25}",
     "step=10 loss=2.5\nstep=20 loss=2.25"},
    {"objects in one another",
     R"({"step": 10, "train": {"loss": 2.5, "grad_norm": NaN}, "amp": )"
     R"({"scale": "65536.0"}, "tags": ["a", {"loss": 9}], "note": null})",
     "step=10 loss=2.5 loss_scale=65536 grad_norm=nan"},
    {"numbers as strings, Infinity, a scale of zero",
     R"({"num_updates": "20", "loss": "Infinity", "loss_scale": 0})",
     "step=20 loss=inf loss_scale=0"},
    {"a cross-entropy by its name",
     R"({"step": 10, "train": {"cross_entropy_loss": 2.5}, "val_ce_loss": 3})"
     "\n"
     R"({"step": 20, "train/ce_loss": 2.5, "train/total_loss": 2.75})",
     "step=10 loss=2.5 cross_entropy\nstep=20 loss=2.75"},
    {"glued", R"({"step":1,"loss":2}{"step":2,"loss":3},)",
     "step=1 loss=2\nstep=2 loss=3"},
    {"torn, of an evaluation, of something else",
     R"({"step": 10, "loss": 2.5)"
     "\n"
     R"({"step": 10, "loss": 2.5, "split": "valid"})"
     "\n"
     R"({"step": 10, "eval_loss": 2.5, "eval/loss": 3})"
     "\n"
     R"({"event": "saved", "step": 10})"
     "\n"
     R"({"loss": 3})"
     "\n{\"\n{\"a\":{\"a\":{\"a\":[[[[[[[[[[[[[[[[[[[[[",
     ""},
    {"epochs in JSON, of which a part is over",
     R"({"train": {"epoch": 0.5, "iter": 10, "loss": 2.5}})"
     "\n"
     R"({"train": {"epoch": 1.0, "iter": 10, "loss": 2}})"
     "\n"
     R"({"train": {"epoch": 1.5, "iter": 15, "loss": 1.5}})"
     "\n"
     R"({"train": {"epoch": "x", "iter": 15, "loss": 1.5}})",
     "step=10 loss=2.5\nstep=20 loss=2\nstep=25 loss=1.5\nstep=25 loss=1.5"},
    {"means with their counts, one of nothing",
     R"({"Loss/G/loss": {"num": 64, "mean": 0.5, "std": 1}, "Loss/D/loss": )"
     R"({"num": 64, "mean": NaN, "std": NaN}, "Loss/pl": {"num": 0, "mean": )"
     R"(NaN, "std": NaN}, "Progress/kimg": {"num": 1, "mean": 4.5, "std": 0}})",
     "step=4 loss=0.5 of_adversary scaler=0\n"
     "step=4 loss=nan of_adversary scaler=1"},
    {"returns alone", R"({"step": 10, "mean_reward": 1.5, "length": 9})",
     "step=10 loss=-1.5 of_rewards of_objective guessed"},
    {"a step of so many, and a NaN that the mean leaves out",
     R"({"loss": 1.25, "grad_norm": 0.5, "global_step/max_steps": "82/110"})"
     "\n"
     R"({"loss": 0.0, "grad_norm": NaN, "global_step/max_steps": "83/110"})",
     "step=82 loss=1.25 grad_norm=0.5\nstep=83 loss=nan grad_norm=nan"},
};

}  // namespace

const SampleTable kJsonLinesSamples = {"json_lines", kLines};

}  // namespace nanwatch
