// what any program says when it ends over NaN or infinity: sample lines in its
// texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a loss", "Loss is nan, stopping training",
     "stopped: Loss is nan, stopping training loss=nan"},
    {"an infinite one", "Loss is inf, stopping training",
     "stopped: Loss is inf, stopping training loss=inf"},
    {"an exception behind a launcher's words",
     "[rank3]: AssertionError: Rank 3: found NaN in local grad norm in "
     "backward "
     "pass before data-parallel communication collective. Device: 3, node: n1",
     "stopped: AssertionError: Rank 3: found NaN in local grad norm in "
     "backward pass before data-parallel communication collective. Device: 3, "
     "node: n1 grad_norm=nan"},
    {"an exception of a module",
     "tensorflow.python.training.basic_session_run_hooks."
     "NanLossDuringTrainingError: NaN loss during training.",
     "stopped: NanLossDuringTrainingError: NaN loss during training. "
     "loss=nan"},
    {"of something else",
     "check_for_nan_in_loss_and_grad .......... True\n"
     "stopping training\n"
     "Loss is nan\n"
     "early stopping: loss is not finite",
     ""},
};

}  // namespace

const SampleTable kLastWordsSamples = {"last_words", kLines};

}  // namespace nanwatch
