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
    {"an exception of anybody's over a loss",
     "Traceback (most recent call last):\n"
     "  File \"/app/fit.py\", line 88, in <module>\n"
     "    raise ValueError(f\"loss is NaN at step {step}, stopping "
     "training\")\n"
     "ValueError: loss is NaN at step 88, stopping training",
     "stopped: ValueError: loss is NaN at step 88, stopping training step=88 "
     "loss=nan"},
    {"an assertion over gradients",
     "AssertionError: gradients are not finite at iteration=12",
     "stopped: AssertionError: gradients are not finite at iteration=12 "
     "step=12 grad_norm=nan"},
    {"a line of one's own", "NaN loss in step 7, aborting.",
     "stopped: NaN loss in step 7, aborting. step=7 loss=nan"},
    {"a loss that grew",
     "loss is exploding, aborting.\nStopping early, the loss has diverged\n"
     "RuntimeError: Loss diverged at step 40 (1e9)",
     "stopped: loss is exploding, aborting. loss=0\n"
     "stopped: RuntimeError: Loss diverged at step 40 (1e9) step=40 loss=0"},
    {"exceptions of C++",
     "terminate called after throwing an instance of 'std::runtime_error'\n"
     "  what():  Encountered NaN.\n  what():  no such file",
     "stopped: what():  Encountered NaN. loss=nan\n"
     "broke off: what():  no such file"},
    {"an exception over something else",
     "KeyError: 'labels'\n"
     "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried 2.00 GiB\n"
     "3: RuntimeError: CUDA error: device-side assert triggered\n"
     "KeyboardInterrupt",
     "broke off: KeyError: 'labels'\n"
     "broke off: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried 2.00 "
     "GiB\n"
     "broke off: RuntimeError: CUDA error: device-side assert triggered\n"
     "broke off: KeyboardInterrupt"},
    {"no exception at all",
     "run.sh: line 7:  4242 Killed                  python train.py\n"
     "[E ProcessGroupNCCL.cpp:1] [Rank 1] Watchdog caught collective operation "
     "timeout: WorkNCCL(SeqNum=7)",
     "broke off: run.sh: line 7:  4242 Killed                  python "
     "train.py\n"
     "broke off: Watchdog caught "
     "collective "
     "operation timeout: WorkNCCL(SeqNum=7)"},
    {"errors that end nothing",
     "WARNING: ConnectionError: the tracker is away\n"
     "Error rate: 0.12\n"
     "wandb: ERROR Error while calling\n"
     "# ValueErrors are counted\n"
     "relative_error: 0.1, L1Error=0.3\n"
     "Killed 3 workers",
     ""},
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
