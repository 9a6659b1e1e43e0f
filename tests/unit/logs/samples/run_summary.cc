// What trackers print at a run's end, and what is said of it.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"W&B's",
     "wandb: Run history:\nwandb:  train/loss \xe2\x96\x88\xe2\x96\x81\n"
     "wandb: Run summary:\nwandb:  eval/loss 0.5\n"
     "wandb:  train/global_step 90\nwandb:  train/loss nan",
     "step=90 loss=nan"},
    {"parts of a loss",
     "wandb: Run summary:\nwandb: train/box_loss nan\nwandb: train/obj_loss "
     "nan\nwandb:",
     "loss=nan"},
    {"parts beside the loss, the best, and one infinite loss of many",
     "wandb: Run summary:\nwandb: a_loss nan\nwandb: b_loss nan\n"
     "wandb: best_loss inf\nwandb: min_loss inf\nwandb: loss 0.25\nwandb:\n"
     "COMET INFO:   Metrics [count] (min, max):\n"
     "COMET INFO:     train/loss [600]      : (0.2, inf)",
     "loss=0.25"},
    {"finite ones of several runs",
     "wandb: Run summary:\nwandb:  train/global_step 90\nwandb: train/loss 0.5"
     "\nwandb: Run summary:\nwandb: train/loss 0.75",
     "step=90 loss=0.5"},
    {"a later run's",
     "wandb: Run summary:\nwandb: loss nan\n"
     "wandb: Run summary:\nwandb: loss 0.5",
     "loss=nan\nloss=0.5"},
    {"Comet's",
     "COMET INFO:   Metrics [count] (min, max):\n"
     "COMET INFO:     train/loss [600]      : (nan, nan)",
     "loss=nan"},
    {"a finite loss, a part that is not used",
     "wandb: Run summary:\nwandb: a_loss 0.5\nwandb: b_loss nan\n"
     "wandb: c_loss nan\nwandb: loss 0.5",
     "loss=0.5"},
    {"an evaluation's alone", "wandb: Run summary:\nwandb: val_loss nan", ""},
    {"no summary", "wandb: loss nan\nCOMET INFO: loss : nan", ""},
};

}  // namespace

const SampleTable kRunSummarySamples = {"run_summary", kLines};

}  // namespace nanwatch
